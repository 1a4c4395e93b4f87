package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client is connected to the server of a folder.
type client struct {
	t       *testing.T
	session *mcp.ClientSession
	dir     string // the folder
	log     string // the file with the calls
}

func newClient(t *testing.T) *client {
	t.Helper()
	c := &client{t: t, dir: filepath.Join(t.TempDir(), "folder"), log: filepath.Join(t.TempDir(), "calls")}
	f, err := open(c.dir, c.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := f.server().Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	c.session, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.session.Close() })
	return c
}

// call calls a tool, and returns the text of its result.
func (c *client) call(tool string, input any) (text string, isError bool) {
	c.t.Helper()
	r, err := c.session.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, part := range r.Content {
		text += part.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

// want calls a tool, and checks its result.
func (c *client) want(tool string, input any, want string) {
	c.t.Helper()
	if got, isError := c.call(tool, input); got != want || isError {
		c.t.Errorf("%s %v: got %q, error %v, want %q", tool, input, got, isError, want)
	}
}

func TestFilesAreWrittenReadListedAndDeleted(t *testing.T) {
	c := newClient(t)
	c.want("list", nil, "The folder is empty.")
	c.want("write", content{"poem/haiku.md", "Old pond."}, "Wrote 9 bytes to poem/haiku.md.")
	c.want("write", content{"a.txt", "a"}, "Wrote 1 bytes to a.txt.")
	c.want("write", content{"a.txt", "b"}, "Wrote 1 bytes to a.txt.")
	c.want("read", name{"a.txt"}, "b")
	c.want("list", nil, "a.txt\npoem/haiku.md")
	c.want("delete", name{"a.txt"}, "Deleted a.txt.")
	c.want("list", nil, "poem/haiku.md")
	if got, err := os.ReadFile(filepath.Join(c.dir, "poem", "haiku.md")); err != nil || string(got) != "Old pond." {
		t.Errorf("got %q, %v", got, err)
	}
	log, err := os.ReadFile(c.log)
	if err != nil || strings.Count(string(log), "\n") != 4 ||
		!strings.Contains(string(log), `{"path":"a.txt","text":"","tool":"delete"}`) {
		t.Errorf("the log of the calls that change files is\n%s%v", log, err)
	}
}

// No path leads out of the folder, neither directly nor through a link.
func TestNoPathLeadsOutOfTheFolder(t *testing.T) {
	c := newClient(t)
	outside := filepath.Join(filepath.Dir(c.dir), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"file": outside, "up": ".."} {
		if err := os.Symlink(target, filepath.Join(c.dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, path := range []string{
		"../secret", outside, "file", "up/secret", "a/../../secret", "./../secret", "..", "", "../folder/../secret",
	} {
		for tool, input := range map[string]any{"read": name{path}, "write": content{path, "changed"}} {
			if got, isError := c.call(tool, input); !isError {
				t.Errorf("%s %q: got %q, want an error", tool, path, got)
			}
		}
		if path == "file" {
			continue // the link itself is in the folder
		}
		if got, isError := c.call("delete", name{path}); !isError {
			t.Errorf("delete %q: got %q, want an error", path, got)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
}

// Content that is not text, or is too long for a model, is rejected.
func TestOnlyTextsAreRead(t *testing.T) {
	c := newClient(t)
	for file, b := range map[string]string{
		"image": "\x89PNG\r\n", "zero": "a\x00b", "large": strings.Repeat("a", maxSize+1),
	} {
		if err := os.WriteFile(filepath.Join(c.dir, file), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, isError := c.call("read", name{file}); !isError {
			t.Errorf("%s: got %d bytes, want an error", file, len(got))
		}
	}
}

// The tools declare their effects, so that a person must approve the tools that change something.
func TestToolsDeclareWhetherTheyAreReadOnly(t *testing.T) {
	c := newClient(t)
	tools, err := c.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, tool := range tools.Tools {
		got[tool.Name] = tool.Annotations.ReadOnlyHint
		if d := tool.Annotations.DestructiveHint; !tool.Annotations.ReadOnlyHint && (d == nil || !*d) {
			t.Errorf("%s does not declare that it is destructive", tool.Name)
		}
	}
	for tool, readOnly := range map[string]bool{"list": true, "read": true, "write": false, "delete": false} {
		if is, ok := got[tool]; !ok || is != readOnly {
			t.Errorf("%s: declares read only: %v, exists: %v", tool, is, ok)
		}
	}
}
