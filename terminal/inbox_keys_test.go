package terminal_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sharedKeys are the letters and signs that are keys in the inbox of the browser and in the inbox of the
// terminal. Each has its descriptions in both lists of keys, and its action in the script of the page.
var sharedKeys = []struct{ keys, page, terminal, script string }{
	{"j k", "Next or previous ask", "select another ask", `move\(`},
	{"o", "Answer in your own words", "writes your own words", "-other"},
	{
		"a", "Approve, unless the call is dangerous; if calls are selected, review them first",
		"approve or deny the call",
		"approve",
	},
	{
		"d", "Deny; if calls are selected, review them first",
		"approve or deny the call, or the selected calls after a look", "deny",
	},
	{"A", "Also approve later calls", "also approve the same call later", "standing-approval"},
	{"e", "Edit the arguments", "change the arguments", `"input"`},
	{"n c", "Write a note or a reason, or a comment", "write a note or a reason, a comment, decline", "notes|comment"},
	{"D", "Decline to answer", "decline to answer", `\.decline`},
	{"r", "Reassign", "reassign it", "reassign"},
	{"x", "Select the ask", "select the call", "select"},
	{"s", "Snooze", "snooze the ask", "snooze"},
	{"u", "Undo an answer that is not sent yet; otherwise go back to the list", "undo what you answered", "held.*back"},
	{"/", "Search", "search the list", "search"},
}

// Keys that only one of the two inboxes has.
const (
	pageKeys     = "g ? i h" // g i and g h open pages; the terminal shows ? in its last line
	terminalKeys = "p q v y ?"
)

// A key means the same in the browser and in the terminal, both lists have it, and no other letter is a key.
func TestKeysAreTheSameInBrowserAndTerminal(t *testing.T) {
	read := func(path, from, to string) string {
		t.Helper()
		raw, err := os.ReadFile(path)
		_, text, found := strings.Cut(string(raw), from)
		text, _, ended := strings.Cut(text, to)
		if err != nil || !found || !ended {
			t.Fatalf("%s has no %q: %v", path, from, err)
		}
		return text
	}
	scripts := map[string]string{} // scripts of the page
	var key string
	for line := range strings.Lines(read("../web/assets/inbox.js", "const keys = {\n", "\n};") + "\n") {
		if m := keyOfScript.FindStringSubmatch(line); m != nil {
			key = m[1]
		}
		scripts[key] += line
	}
	scripts["x"] = read("../web/assets/select.js", "Object.assign(keys, {\n  x:", "  },")
	page := map[string]string{}
	for _, m := range keysOfPage.FindAllStringSubmatch(
		read("../internal/pages/inbox.go", "var keyBindings = []keyBinding{", "\n}"), -1,
	) {
		for _, name := range oneLetter.FindAllString(m[1], -1) {
			page[strings.Trim(name, `"`)] = m[2]
		}
	}
	listed := linesOfHelp.FindAllString(read("inbox_screen.go", "func (i *inbox) helpRows", "\n}"), -1)
	handled := oneLetter.FindAllString(strings.Join(
		casesOfKeys.FindAllString(read("inbox_keys.go", "func (i *inbox) pressForAsk", "// goBack"), -1), "\n",
	), -1)
	var known []string
	for _, row := range sharedKeys {
		for _, key := range strings.Fields(row.keys) {
			known = append(known, key)
			if page[key] != row.page {
				t.Errorf("the page calls %s %q, want %q", key, page[key], row.page)
			}
			if !regexp.MustCompile(row.script).MatchString(scripts[key]) {
				t.Errorf("the page handles %s by %q, want %q", key, scripts[key], row.script)
			}
			if !slices.ContainsFunc(listed,
				func(line string) bool { return lists(line, key) && strings.Contains(line, row.terminal) }) {
				t.Errorf("the terminal does not list %s with %q", key, row.terminal)
			}
			if !slices.Contains(handled, `"`+key+`"`) {
				t.Errorf("the terminal does not handle %s: %q", key, handled)
			}
		}
	}
	for key := range page {
		if !slices.Contains(known, key) && !slices.Contains(strings.Fields(pageKeys), key) &&
			oneLetter.MatchString(`"`+key+`"`) {
			t.Errorf("the page has the key %s, and the table does not", key)
		}
	}
	for key := range scripts {
		if !slices.Contains(known, key) && !slices.Contains(strings.Fields(pageKeys), key) {
			t.Errorf("the script has the key %s, and the table does not", key)
		}
	}
	for _, key := range handled {
		if key = strings.Trim(key, `"`); !slices.Contains(known, key) &&
			!slices.Contains(strings.Fields(terminalKeys), key) {
			t.Errorf("the terminal has the key %s, and the table does not", key)
		}
	}
}

// lists reports whether a line in the terminal's list of keys describes a key.
func lists(line, key string) bool {
	const column = 11 // where the sentence begins, after a quotation mark
	return slices.Contains(strings.Fields(line[1:min(len(line), 1+column)]), key) ||
		strings.Contains(line, "; "+key+" ")
}

var (
	linesOfHelp = regexp.MustCompile(`"[^"\n]{20,}"`)
	keyOfScript = regexp.MustCompile(`^  "?([A-Za-z/?])"?: `)
	keysOfPage  = regexp.MustCompile(`\{\[\]string\{(.*?)\}, "(.*?)"\}`)
	oneLetter   = regexp.MustCompile(`"[A-Za-z/?]"`)
	casesOfKeys = regexp.MustCompile(`(?m)^\tcase "[^\n]*:$`)
)
