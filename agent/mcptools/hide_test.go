package mcptools_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/agent/mcptools"
)

// leaked are parts of the secret hunter2hunter2 that no other text of a test contains.
var leaked = []string{"hunt", "ter2"}

func hasNoSecret(t *testing.T, what, text string) {
	t.Helper()
	for _, part := range leaked {
		if strings.Contains(text, part) {
			t.Errorf("%s has a part of the secret: %s", what, text)
			return
		}
	}
}

// The path, the query and the credentials of a URL may be secrets. If one secret is part of another, no part
// of either remains.
func TestSecretsInURLsAndHeadersAreHidden(t *testing.T) {
	for _, o := range []mcptools.Options{
		{URL: "http://127.0.0.1:1/s/hunter2hunter2/mcp"},
		{URL: "http://hunter2hunter2:hunter2hunter2@127.0.0.1:1/mcp?x=1&key=hunter2hunter2"},
		{URL: "http://127.0.0.1:1/x/hunter2hunter2", Headers: map[string]string{
			"A": "hunter", "B": "unter2", "C": "er2hunter2", "D": "hunter2hunter2",
		}},
	} {
		s, log := newServer(t, o)
		_, err := s.Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Fatalf("%s: got %v", o.URL, err)
		}
		hasNoSecret(t, "the error", err.Error())
		s.Close()
		hasNoSecret(t, "the log", log.String())
	}
}

// Arguments of a command and lines of its environment may be secrets. They are hidden before a line
// is cut.
func TestSecretsOfCommandsAreHidden(t *testing.T) {
	for _, key := range []string{"hunter2hunter2", "first line\nhunter2hunter2\nlast"} {
		s, log := newCommand(t, "leaks", func(o *mcptools.Options) {
			o.Command = append(o.Command, "hunter2hunter2", "--key=hunter2hunter2")
			o.Env["KEY"] = key
		})
		_, err := s.Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), "exit status 3") {
			t.Fatalf("got %v", err)
		}
		hasNoSecret(t, "the error", err.Error())
		s.Close()
		hasNoSecret(t, "the log", log.String())
	}
}

// A secret is hidden in the log at every place of a long line, and for every way in which the line is
// written.
func TestSecretsOfLongLinesAreHidden(t *testing.T) {
	s, log := newCommand(t, "tools", func(o *mcptools.Options) { o.Env["KEY"] = "hunter2hunter2" })
	for _, end := range []string{"", "hunter2hun"} { // the client may read a part first
		for n := 1985; n < 2000; n++ {
			call(t, s, "log", `{"text": "`+strings.Repeat("y", n)+end+`"}`)
			rest := "hunter2hunter2"[len(end):]
			call(t, s, "log", `{"text": "`+rest+strings.Repeat("y", 20)+`\n"}`)
		}
	}
	call(t, s, "log", `{"text": "`+strings.Repeat("y", 1990)+`hunter2hunter2"}`) // the line has no line feed
	s.Close()
	hasNoSecret(t, "the log", log.String())
	if n := strings.Count(log.String(), "…"); n < 31 {
		t.Errorf("the log hides %d secrets, want 31", n)
	}
}
