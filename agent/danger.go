package agent

import (
	"slices"
	"strings"
	"unicode"
)

// dangerousWords are the words in the names of tools whose effect is hard to undo (docs/hosted.md).
var dangerousWords = strings.Fields(`
	delete remove rm unlink drop truncate destroy purge wipe erase uninstall terminate kill shred revoke
	shutdown reboot overwrite deprovision decommission`)

// dangerousNouns are words that name an action or a thing. They count unless the name begins with a word of
// readingWords: transfer_funds is dangerous, and list_transfer is not.
var dangerousNouns = strings.Fields(`pay payment payout refund transfer charge purchase buy withdraw withdrawal wire`)

// dangerousPairs are dangerous only together, in this order.
var dangerousPairs = [][2]string{
	{"force", "push"},
	{"hard", "reset"},
	{"factory", "reset"},
	{"reset", "hard"},
	{"push", "force"},
	{"send", "money"},
	{"send", "funds"},
	{"close", "account"},
	{"shut", "down"},
	{"tear", "down"},
}

var readingWords = strings.Fields(`get list read search find show describe count check view fetch query preview estimate`)

// DangerousName reports whether the name of a tool has a word for an effect that is hard to undo, such as
// delete or pay. Words are compared as a whole, in any letter case, in names as in drop_table, dropTable,
// drop-table and db.dropTable. docs/hosted.md lists the words.
func DangerousName(tool string) bool {
	words := wordsOf(tool)
	reads := len(words) > 0 && slices.Contains(readingWords, words[0])
	for i, word := range words {
		if slices.Contains(dangerousWords, word) || !reads && slices.Contains(dangerousNouns, word) {
			return true
		}
		if i > 0 && slices.Contains(dangerousPairs, [2]string{words[i-1], word}) {
			return true
		}
	}
	return false
}

// wordsOf splits a name into words in lower case. A word ends at a character that is no letter, and before an
// upper-case letter that follows a lower-case letter or precedes one, as in deleteFile and HTTPDelete.
func wordsOf(name string) (words []string) {
	letters := []rune(name)
	begin := 0
	add := func(end int) {
		if end > begin {
			words = append(words, strings.ToLower(string(letters[begin:end])))
		}
		begin = end
	}
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r):
			add(i)
			begin = i + 1
		case i > begin && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) ||
			i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			add(i)
		}
	}
	add(len(letters))
	return words
}

// IsDangerous reports whether people read that a call of a tool of a server may destroy something. They then
// approve it with a typed word, or on its page.
func (d *Definition) IsDangerous(server string, t ToolInfo) bool {
	return t.Destructive ||
		slices.ContainsFunc(d.Dangerous, func(pattern string) bool { return matches(pattern, server, t.Name) })
}
