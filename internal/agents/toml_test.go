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

// Askback is not added to a file that is not TOML, because Codex would not start with it. The error names the
// line.
func TestInvalidTOMLIsRejected(t *testing.T) {
	for text, want := range map[string]string{
		"model = ":                        "line 1: expected value, not end of input",
		"model =\nx = 1":                  "line 1: unexpected character U+000A at start of value",
		"model = # none":                  "line 1: unexpected character U+0023 '#' at start of value",
		"a = 1\nmodel\n":                  "line 2: expected '=' after key",
		"model = gpt-5":                   "line 1: unexpected character U+0067 'g' at start of value",
		"model = 5 x":                     "line 1: expected newline but got U+0078 'x'",
		"= 3":                             "line 1: invalid character at start of key: U+003D '='",
		"<<<<<<< HEAD":                    "line 1: invalid character at start of key: U+003C '<'",
		"[a]\nx = [1 2]":                  "line 2: expected ',' or ']' after array value",
		"x = {a = 1, b}":                  "line 1: expected '=' after key",
		"x = [\n1,\n# no end":             "line 3: array is incomplete",
		"a = 1\n\na = 2":                  "line 3: key a is already defined",
		"[a]\n[b]\n[a]":                   "line 3: table a already exists",
		"p = \"C:\\path\"":                "line 1: invalid escape character U+0070 'p'",
		"p = \"no end\nq = 1":             "line 1: basic strings cannot have new lines",
		"p = \"\"\"no end\nq = 1":         "multiline basic string not terminated",
		"[a\nb = 1":                       "line 1: expected ']' to close table name",
		"\ufeffx = 01":                    "line 1: ",
		"day = 2026-06-31":                "line 1: ",
		"x = " + strings.Repeat("[", 300): "line 1: array is incomplete",
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

// Each kind of TOML value is accepted.
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
