package config

import (
	"regexp"
	"slices"
	"strings"
)

// flagsPattern returns a pattern for the command of a hook in JSON or TOML, from " hook NAME" to the end of
// the flags. Its first group is the flags, each with a space before it.
func flagsPattern(name string) *regexp.Regexp {
	return regexp.MustCompile(` hook ` + name + `((?: (?:[^"\\|]|\\.)*?)?)(?:"| \|\|)`)
}

// queryPattern returns a pattern for the URL of a hook. Its first group is the query.
func queryPattern(name string) *regexp.Regexp {
	return regexp.MustCompile(`/` + name + `((?:\?[^"]*)?)"`)
}

// WithFlags returns hook with the flags, or the query, of an earlier hook with this name, because a person
// may have added some. It keeps the flags that only hook has. If earlier is not such a hook, WithFlags
// returns hook.
func WithFlags(hook, earlier, name string) string {
	pattern := queryPattern(name)
	if was, now := pattern.FindStringSubmatch(earlier), pattern.FindStringSubmatchIndex(hook); was != nil &&
		now != nil {
		return hook[:now[2]] + was[1] + hook[now[3]:]
	}
	pattern = flagsPattern(name)
	was, now := pattern.FindStringSubmatchIndex(earlier), pattern.FindStringSubmatchIndex(hook)
	if was == nil || now == nil {
		return hook
	}
	kept, added := strings.Fields(earlier[was[2]:was[3]]), strings.Fields(hook[now[2]:now[3]])
	for i := 0; i < len(added); {
		next := i + 1
		for next < len(added) && !strings.HasPrefix(added[next], "--") {
			next++
		}
		if !hasFlag(kept, added[i]) {
			kept = append(kept, added[i:next]...)
		}
		i = next
	}
	flags := strings.Join(kept, " ")
	if flags != "" {
		flags = " " + flags
	}
	return hook[:now[2]] + flags + hook[now[3]:]
}

func hasFlag(flags []string, name string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == name || strings.HasPrefix(f, name+"=") })
}
