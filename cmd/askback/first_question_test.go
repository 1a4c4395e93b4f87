package main

import (
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/leftout"
)

// pageReader is a logged-in browser without scripts.
type pageReader struct {
	t    *testing.T
	http *http.Client
	base string
}

// newPageReader logs in with the link that askback login prints.
func newPageReader(t *testing.T, env []string, base string) pageReader {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := pageReader{t, &http.Client{Jar: jar}, base}
	link, err := url.Parse(regexp.MustCompile(`http://\S+`).FindString(mustRun(t, env, "login")))
	if err != nil {
		t.Fatal(err)
	}
	p.post("/login", link.Query(), http.StatusOK)
	return p
}

func (p pageReader) read(r *http.Response, err error, status int) string {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	var b strings.Builder
	if err := r.Write(&b); err != nil || r.StatusCode != status {
		p.t.Fatalf("got %s, %v", b.String(), err)
	}
	return b.String()
}

func (p pageReader) open(path string) string {
	p.t.Helper()
	r, err := p.http.Get(p.base + path)
	return p.read(r, err, http.StatusOK)
}

func (p pageReader) post(path string, form url.Values, status int) string {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodPost, p.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	reply, err := p.http.Do(r)
	return p.read(reply, err, status)
}

// commandsOf returns the commands that a page offers for copying.
func commandsOf(page string) (all []string) {
	for _, m := range regexp.MustCompile(`(?s)<pre class="command">(.*?)</pre>`).FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// findCommand returns the only command that contains a text.
func findCommand(t *testing.T, page, text string) string {
	t.Helper()
	found := slices.DeleteFunc(commandsOf(page), func(c string) bool { return !strings.Contains(c, text) })
	if len(found) != 1 {
		t.Fatalf("the page has %d commands with %s, want 1:\n%s", len(found), text, page)
	}
	return found[0]
}

// The commands of the empty inbox and of a new token work as they are copied. Each creates an ask, which
// appears in the inbox and can be answered.
func TestCommandsShownOnPagesWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		leftout.Skip(t, "the commands of the pages (curl is not installed)")
	}
	env, database := sandbox(t)
	server := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	server.start()
	p := newPageReader(t, env, server.url())
	empty := p.open("/")
	made := p.post("/tokens", url.Values{"kind": {"agent"}, "name": {"builder"}, "lasts": {"30d"}}, http.StatusCreated)
	setup := strings.Fields(findCommand(t, empty, "askback init"))
	if _, err := (&commands{}).parser().Parse(setup[1:]); err != nil {
		t.Errorf("%q: %v", setup, err)
	}
	known := map[string]bool{}
	for _, c := range []struct {
		command, asker string
		waits          bool
	}{
		{findCommand(t, empty, "askback ask"), "", true},
		{findCommand(t, empty, "curl"), "my-agent", false},
		{findCommand(t, made, "curl"), "builder", false},
	} {
		shell := &process{env: env, dir: t.TempDir()}
		if err := shell.start("sh", "-c", c.command); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = shell.cmd.Process.Kill(); <-shell.ended })
		id := ""
		eventually(func() bool {
			ended := shell.hasEnded()
			for _, found := range regexp.MustCompile(`id="row-(ask_\w{26})"`).FindAllStringSubmatch(p.open("/"), -1) {
				if !known[found[1]] {
					id = found[1]
				}
			}
			return id != "" || ended
		})
		if id == "" {
			t.Fatalf("%s\nmade no ask:\n%s%s", c.command, shell.out.String(), shell.err.String())
		}
		known[id] = true
		page := p.open("/asks/" + id)
		for _, want := range []string{"Which database should we use?", "PostgreSQL", "SQLite", c.asker} {
			if !strings.Contains(page, want) {
				t.Errorf("%s\nmade an ask whose page does not have %q", c.command, want)
			}
		}
		mustRun(t, env, "answer", id, "SQLite")
		if !shell.wait() || exitCode(shell.result) != 0 {
			t.Errorf("%s\nended with %v:\n%s%s", c.command, shell.result, shell.out.String(), shell.err.String())
		}
		if out := shell.out.String(); c.waits && out != "SQLite\n" || !c.waits && !strings.Contains(out, id) {
			t.Errorf("%s\nprinted %q", c.command, out)
		}
	}
}
