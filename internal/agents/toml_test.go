package agents_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/config"
)

func codexFile(t *testing.T, o config.Options) config.File {
	t.Helper()
	files, err := filesOf("codex", config.User, o)
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

// Askback is not added to a file that is not TOML, because Codex would not start with it either way.
// The error names the line.
func TestBrokenTOMLIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"model = ":                        "line 1: model has no value",
		"model =\nx = 1":                  "line 1: model has no value",
		"model = # none":                  "line 1: model has no value",
		"a = 1\nmodel\n":                  "line 2: model has no value",
		"model = gpt-5":                   "line 1: this is not a TOML value; a text needs quotation marks",
		"model = 5 x":                     "line 1: unexpected text after a value",
		"a = \"x\" b = 2":                 "line 1: unexpected text after a value",
		"= 3":                             "line 1: this is no key with a value",
		"<<<<<<< HEAD":                    "line 1: this is no key with a value",
		"[a]\nx = [1 2]":                  "line 2: a comma or ] is missing",
		"x = {a = 1, b}":                  "line 1: b has no value",
		"x = [\n1,\n# no end":             "line 3: a comma or ] is missing",
		"a = 1\n\na = 2":                  "line 3: the key a is repeated",
		"p = \"C:\\path\"":                "line 1: a string has a backslash",
		"p = \"no end\nq = 1":             "line 1: a string has no end",
		"p = \"\"\"no end\nq = 1":         "a string has no end",
		"[a\nb = 1":                       "line 1: the name of a table is not valid",
		"\ufeffx = 01":                    "line 1: this is not a TOML value",
		"x = " + strings.Repeat("[", 300): "line 1: this is nested too deeply",
	} {
		_, err := codexFile(t, config.Options{}).Edit([]byte(text))
		refused, ok := errors.AsType[*config.EditError](err)
		if !ok || !strings.Contains(refused.Reason, want) || !strings.Contains(refused.Paste, "[mcp_servers.askback]") {
			t.Errorf("%q: got %v, want %s", text, err, want)
			continue
		}
		if _, err := codexFile(t, config.Options{Remove: true}).Edit([]byte("model = \n" + refused.Paste)); err != nil {
			t.Errorf("removed from a broken file: %v", err)
		}
	}
}

// Each kind of value that TOML has is accepted.
func TestTOMLIsAccepted(t *testing.T) {
	const text = `# mine
model = "gpt-5" # the best
"quoted key" = 'C:\path'
a . b.c = 1_000
int = [+1, -2, 0, 0xdead_BEEF, 0o755, 0b1010,]
float = [1.5, -0.0, 6.02e23, 1e-3, inf, -nan]
date = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00.5+02:00, 1979-05-27, 07:32:00]
yes = true
point = { x = 1, "y" = [{}, {z.a = false}] } # inline
text = """
one "two" \\ \u00e9 \
   three""""
raw = '''
it's \ raw'''
empty = [
  # nothing
]

[table."a.b"]
x = 1
[[list]]
x = 1
[[list]]
x = 2
`
	for _, newline := range []string{"\n", "\r\n"} {
		before := strings.ReplaceAll(text, "\n", newline)
		after, err := codexFile(t, config.Options{}).Edit([]byte(before))
		if err != nil || !strings.HasPrefix(string(after), before) {
			t.Errorf("got %v, %s", err, after)
		}
	}
}
