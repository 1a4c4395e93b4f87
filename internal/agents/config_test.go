package agents_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/test/kit/golden"
)

// Each archive in testdata describes the edit of one file: client, scope, path and options. It
// contains the file before and after, and the diff that a person sees (F9).
func TestEditsMatchArchives(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { checkArchive(t, path) })
	}
}

func checkArchive(t *testing.T, path string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := newCase(t, archive)
	after, err := c.file(t, false).Edit(c.before)
	if err != nil {
		checkEditError(t, archive, path, err)
		return
	}
	diff := config.Diff(c.path, c.before, after)
	if golden.Updating() {
		set(archive, "after", string(after))
		set(archive, "diff", diff)
		golden.Write(t, path, string(txtar.Format(archive)))
		return
	}
	same(t, "after", c.golden("after"), string(after))
	same(t, "diff", c.golden("diff"), diff)
	c.checkSecondEdit(t, after)
	c.checkRemoval(t, after)
}

// A testCase is the content of an archive.
type testCase struct {
	client  string
	scope   config.Scope
	path    string
	options config.Options
	before  []byte
	files   map[string]string
}

func newCase(t *testing.T, archive *txtar.Archive) testCase {
	t.Helper()
	words := strings.Fields(string(archive.Comment))
	c := testCase{client: words[0], scope: config.Scope(words[1]), path: words[2], files: map[string]string{}}
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "url":
			c.options.URL = value
		case "hooks":
			c.options.HookURL = value
		case "gate":
			on := value != "no"
			c.options.Gate = &on
		case "shared":
			c.options.Shared = true
		case "command":
			c.options.Command = value
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	for _, f := range archive.Files {
		c.files[f.Name] = string(f.Data)
	}
	if text, ok := c.files["before"]; ok {
		c.before = []byte(text)
	}
	return c
}

func (c testCase) golden(name string) string { return c.files[name] }

func (c testCase) file(t *testing.T, remove bool) config.File {
	t.Helper()
	o := c.options
	o.Remove = remove
	files, err := filesOf(c.client, c.scope, o)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(files, func(f config.File) bool { return f.Path == c.path })
	if i < 0 {
		t.Fatalf("%s is not in %v", c.path, files)
	}
	return files[i]
}

// checkSecondEdit requires that a second edit changes nothing.
func (c testCase) checkSecondEdit(t *testing.T, after []byte) {
	t.Helper()
	twice, err := c.file(t, false).Edit(after)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "second edit", string(after), string(twice))
	if config.Diff(c.path, after, twice) != "" {
		t.Error("the second edit has a diff")
	}
}

// checkRemoval requires that removing Askback restores the original content, or produces the file "removed"
// of the archive. If a JSON file did not exist before the edit, the result is {}.
func (c testCase) checkRemoval(t *testing.T, after []byte) {
	t.Helper()
	out, err := c.file(t, true).Edit(after)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := c.files["removed"]
	if !ok {
		want = string(c.before)
	}
	if c.before == nil && strings.HasSuffix(c.path, ".json") {
		want = "{}\n" // it is not known whether init created the file
	}
	same(t, "removed", want, string(out))
	twice, err := c.file(t, true).Edit(out)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "removed twice", string(out), string(twice))
}

func checkEditError(t *testing.T, archive *txtar.Archive, path string, err error) {
	t.Helper()
	r, ok := errors.AsType[*config.EditError](err)
	if !ok {
		t.Fatal(err)
	}
	text := r.Error() + "; " + r.Fix + "\n" + r.Paste
	if golden.Updating() {
		set(archive, "error", text)
		golden.Write(t, path, string(txtar.Format(archive)))
		return
	}
	for _, f := range archive.Files {
		if f.Name == "error" {
			same(t, "error", string(f.Data), text)
			return
		}
	}
	t.Error(err)
}

func set(archive *txtar.Archive, name, text string) {
	for i, f := range archive.Files {
		if f.Name == name {
			archive.Files[i].Data = []byte(text)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

// allFiles returns every file of every client, with and without a server.
func allFiles(t testing.TB) (out []config.File) {
	t.Helper()
	for _, client := range allNames() {
		for _, scope := range []config.Scope{config.Project, config.User} {
			for _, o := range []config.Options{
				{}, {URL: "https://ask.example.com/", HookURL: "https://ask.example.com/hooks/claude-code"},
			} {
				files, err := filesOf(client, scope, o)
				if client == "vscode" && scope == config.User {
					if !errors.Is(err, config.ErrUnsupported) {
						t.Errorf("got %v, want ErrUnsupported", err)
					}
					continue
				}
				if err != nil || len(files) == 0 {
					t.Errorf("%s, %s: %v, %v", client, scope, files, err)
				}
				out = append(out, files...)
			}
		}
	}
	return out
}

// A new JSON file is strict JSON, and no file is outside the folder of its scope.
func TestNewFilesAreStrictJSON(t *testing.T) {
	for _, f := range allFiles(t) {
		if f.Removes() {
			continue
		}
		after, err := f.Edit(nil)
		if err != nil || len(after) == 0 {
			t.Errorf("%s: %q, %v", f.Path, after, err)
		}
		if strings.HasSuffix(f.Path, ".json") && !json.Valid(after) {
			t.Errorf("%s: %s", f.Path, after)
		}
		if filepath.IsAbs(f.Path) || strings.Contains(f.Path, "..") {
			t.Errorf("%s is not a path inside a folder", f.Path)
		}
	}
}

// Removing Askback from a file that does not exist does not create the file.
func TestRemoveCreatesNoFile(t *testing.T) {
	for _, client := range allNames() {
		files, err := filesOf(client, config.Project, config.Options{Remove: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if after, err := f.Edit(nil); after != nil || err != nil {
				t.Errorf("%s: %s, %v", f.Path, after, err)
			}
		}
	}
}

// The text to paste instead of an edit is a whole JSON object, as in a new file.
func TestPastedTextIsAWholeFile(t *testing.T) {
	for _, f := range allFiles(t) {
		if f.Removes() || !strings.HasSuffix(f.Path, ".json") {
			continue
		}
		want, err := f.Edit(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Edit([]byte("{\n"))
		if refused, ok := errors.AsType[*config.EditError](err); !ok || refused.Paste != string(want) ||
			refused.Fix != "correct the file" {
			t.Errorf("%s: got %v, %+v, want\n%s", f.Path, err, refused, want)
		}
	}
}

// A second askback init with different options replaces the entries of the first, and keeps the entries of a
// person.
func TestSecondInitReplacesEntries(t *testing.T) {
	local, err := filesOf("claude-code", config.Project, config.Options{Command: "/opt/my tools/askback"})
	if err != nil {
		t.Fatal(err)
	}
	remote, err := filesOf("claude-code", config.Project,
		config.Options{URL: "https://x.example", HookURL: "https://x.example/hooks/claude-code"})
	if err != nil {
		t.Fatal(err)
	}
	remove, err := filesOf("claude-code", config.Project, config.Options{Remove: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range local {
		first, err := local[i].Edit([]byte("{\"mine\": 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := remote[i].Edit(first)
		if remote[i].Removes() {
			continue
		}
		if err != nil || strings.Contains(string(second), "my tools") ||
			!strings.Contains(string(second), "x.example") {
			t.Errorf("%s: %v", second, err)
		}
		out, err := remove[i].Edit(second)
		if got := strings.Join(strings.Fields(string(out)), ""); got != `{"mine":1}` || err != nil {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

func TestUnknownAgentOrScopeIsRejected(t *testing.T) {
	if a, ok := agents.Named("emacs"); ok {
		t.Errorf("got %v", a)
	}
	if files, err := filesOf("claude-code", "world", config.Options{}); !errors.Is(err, config.ErrUnsupported) {
		t.Errorf("got %v, %v", files, err)
	}
}

// Every content is either rejected or edited. Strict JSON stays valid, and a second edit does not change the
// result (T5).
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		`{}`, "{\n\t// mine\n\t\"mcpServers\": {\"a\": {},}, /* x */\n}",
		`{"hooks":{"Stop":[{"hooks":[]}]},"permissions":{"allow":["a"]}}`, "\ufeff{\"a\":[1,2,]}\r\n", "[",
		`{"servers":[]}`, "[mcp_servers]\nx = 1",
	} {
		f.Add(s)
	}
	files := allFiles(f)
	f.Fuzz(func(t *testing.T, before string) {
		for _, file := range files {
			after, err := file.Edit([]byte(before))
			if err != nil {
				continue
			}
			if json.Valid([]byte(before)) && strings.HasSuffix(file.Path, ".json") && !json.Valid(after) {
				t.Errorf("%s: %q became %q", file.Path, before, after)
			}
			twice, err := file.Edit(after)
			if err != nil || string(twice) != string(after) {
				t.Errorf("%s: %q, then %q: %v", file.Path, after, twice, err)
			}
		}
	})
}

// clientOf returns the configuration of an agent.
func clientOf(name string) *config.Client {
	a, ok := agents.Named(name)
	if !ok {
		panic("unknown agent " + name)
	}
	return a.Config
}

func filesOf(name string, scope config.Scope, o config.Options) ([]config.File, error) {
	return clientOf(name).FilesFor(scope, o)
}

func allNames() []string { return agents.Names(func(agents.Agent) bool { return true }) }
