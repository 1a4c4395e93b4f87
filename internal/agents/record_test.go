package agents_test

import (
	"testing"

	"github.com/askback/askback/internal/agents/config"
)

// A record restores the exact original content of an edited file, whatever its format. If the file was
// changed after the edit, nothing is restored (F9).
func TestRecordRestoresTheFile(t *testing.T) {
	for _, original := range []string{
		"", "{}", "{ }\n", "{\n}\n", "\n\n", "{\"mcpServers\":{ }}", "[", "\ufeff{\"a\": [ 1,2, ]}\r\n",
		"{\n\t// mine\n\t\"mcpServers\" : { \"a\" : {}, }, /* x */\n\n  \"hooks\": {\"Stop\": [ ] } }",
		"a = 1", "a = 1\n\n\n",
	} {
		for _, f := range allFiles(t) {
			after, err := f.Edit([]byte(original))
			if err != nil || f.Removes() {
				continue
			}
			r := config.NewRecord([]byte(original), after)
			if got, ok := r.Restore(after); !ok || string(got) != original {
				t.Errorf("%s: restored %q, %v; want %q", f.Path, got, ok, original)
			}
			if got, ok := r.Restore(append(after, ' ')); ok {
				t.Errorf("%s: a changed file was restored to %q", f.Path, got)
			}
		}
	}
	missing := config.NewRecord(nil, []byte("{}\n"))
	if got, ok := missing.Restore([]byte("{}\n")); !ok || got != nil {
		t.Errorf("got %q, %v, want no file", got, ok)
	}
}

// SameExceptSpace ignores only white space, commas before a closing bracket, and empty objects.
func TestOptionalSpaceAndCommasAreIgnored(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"{\n}\n", "", true},
		{`{"a": [1, 2,], }`, "{\"a\":[\n1,2]}", true},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, false},
		{"a = 1\n\n", "a = 1\n", true},
		{`{"b": 1, "mcp": {"a": [ ],}}`, `{"b": 1}`, true},
		{`{"b": {"c": 1}}`, `{"b": {}}`, false},
		{"{}", "{} // mine", false},
	} {
		if got := config.SameExceptSpace([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("%q and %q: got %v", c.a, c.b, got)
		}
	}
}

// Each client has traces, and one of its programs or folders shows that it is installed.
func TestEachClientHasTraces(t *testing.T) {
	for _, client := range allNames() {
		if tr := clientOf(client).Traces; len(tr.Programs) == 0 || len(tr.Home) == 0 {
			t.Errorf("%s: %+v", client, tr)
		}
	}
}
