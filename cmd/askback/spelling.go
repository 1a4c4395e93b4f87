package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// oldSpellings lists the commands that were renamed: the old and the new spelling. An old spelling still
// runs, with a note. No help, completion or document shows it. If one spelling is the beginning of another
// spelling, the longer spelling comes first.
var oldSpellings = [][2]string{
	{"agent new", "agent add"},
	{"contact list", "channel list"},
	{"contact remove", "channel remove"},
	{"contact", "channel"},
	{"grant revoke", "grant remove"},
	{"group set", "group add"},
	{"link telegram", "channel link telegram"},
	{"link", "channel link"},
	{"notify test", "channel test"},
	{"notify", "channel"},
	{"token create", "token add"},
	{"token revoke", "token remove"},
}

// respell replaces an old spelling at the beginning of a command line with the new spelling. It also returns the note
// for the user, which is "" if the line has no old spelling. The flags are the flags of the program.
func respell(flags []*kong.Flag, args []string) (current []string, note string) {
	at := commandWords(flags, args)
	for _, s := range oldSpellings {
		old := strings.Fields(s[0])
		if len(at) < len(old) {
			continue
		}
		if !slices.EqualFunc(at[:len(old)], old, func(i int, word string) bool { return args[i] == word }) {
			continue
		}
		for i, arg := range args {
			switch {
			case i == at[0]:
				current = append(current, strings.Fields(s[1])...)
			case !slices.Contains(at[:len(old)], i):
				current = append(current, arg)
			}
		}
		return current, fmt.Sprintf("%q is now %q", s[0], s[1])
	}
	return args, ""
}

// commandWords returns the positions of the arguments that are neither flags of the program nor their values.
func commandWords(flags []*kong.Flag, args []string) (at []int) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return at
		case !strings.HasPrefix(arg, "-"):
			at = append(at, i)
		case slices.ContainsFunc(flags, func(f *kong.Flag) bool { return arg == "--"+f.Name && !f.IsBool() }):
			i++ // its value
		}
	}
	return at
}
