// Files-server is an MCP server for the files of one folder. Agents list, read, write and delete
// them, and cannot leave the folder, whatever path they send.
//
// Usage:
//
//	files-server [-log FILE] FOLDER
//
// The tools declare what they do: list and read only read; write and delete are destructive.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "files-server: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("files-server", flag.ContinueOnError)
	log := flags.String("log", "", "`file` to which each call of write and delete is appended")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name the folder to serve")
	}
	f, err := open(flags.Arg(0), *log)
	if err != nil {
		return err
	}
	defer f.close()
	return f.server().Run(ctx, &mcp.StdioTransport{})
}

// The limits of the tools. A model reads each result in full.
const (
	maxSize  = 256 << 10
	maxFiles = 1000
)

// A folder is the folder that the server gives access to.
type folder struct {
	root *os.Root // rejects each path that leads out of the folder, also through links

	mu  sync.Mutex // held by calls that change the folder
	log *os.File   // nil without the flag -log
}

// open opens a folder, and creates it if it does not exist.
func open(name, log string) (*folder, error) {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root}
	if log != "" {
		if f.log, err = os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return f, nil
}

func (f *folder) close() {
	_ = f.root.Close()
	if f.log != nil {
		_ = f.log.Close()
	}
}

// server returns the server with its tools.
func (f *folder) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Title: "Files of one folder", Version: "1"}, nil)
	reads, changes := &mcp.ToolAnnotations{ReadOnlyHint: true}, &mcp.ToolAnnotations{DestructiveHint: new(true)}
	add(s, &mcp.Tool{Name: "list", Description: "List all files of the folder, one path a line.", Annotations: reads},
		f.list)
	add(s, &mcp.Tool{Name: "read", Description: "Read a text file.", Annotations: reads}, f.read)
	add(s, &mcp.Tool{Name: "write", Description: "Write a text file. It replaces a file that exists, and " +
		"creates folders.", Annotations: changes}, f.write)
	add(s, &mcp.Tool{Name: "delete", Description: "Delete a file.", Annotations: changes}, f.delete)
	return s
}

// add adds a tool that returns a text.
func add[In any](s *mcp.Server, t *mcp.Tool, tool func(In) (string, error)) {
	mcp.AddTool(s, t, func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := tool(in)
		if err != nil {
			return nil, nil, err // the result of the call
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// none is the input type of a tool without arguments.
type none struct{}

func (f *folder) list(none) (string, error) {
	var files []string
	err := fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if files = append(files, name); len(files) > maxFiles {
			return fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		return nil
	})
	if len(files) == 0 && err == nil {
		return "The folder is empty.", nil
	}
	return strings.Join(files, "\n"), err
}

// A name is the input of a tool that needs one file.
type name struct {
	Path string `json:"path" jsonschema:"path of the file, relative to the folder, with slashes"`
}

func (f *folder) read(in name) (string, error) {
	file, err := f.root.Open(in.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxSize:
		return "", fmt.Errorf("%s is larger than %d bytes", in.Path, maxSize)
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		return "", fmt.Errorf("%s is not a text", in.Path)
	}
	return string(b), nil
}

// content is the input of write.
type content struct {
	Path string `json:"path" jsonschema:"path of the file, relative to the folder, with slashes"`
	Text string `json:"text" jsonschema:"the whole text of the file"`
}

func (f *folder) write(in content) (string, error) {
	if len(in.Text) > maxSize {
		return "", fmt.Errorf("the text is larger than %d bytes", maxSize)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.record("write", in.Path, in.Text); err != nil {
		return "", err
	}
	if dir := path.Dir(in.Path); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	if err := f.root.WriteFile(in.Path, []byte(in.Text), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %d bytes to %s.", len(in.Text), in.Path), nil
}

func (f *folder) delete(in name) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.record("delete", in.Path, ""); err != nil {
		return "", err
	}
	if err := f.root.Remove(in.Path); err != nil {
		return "", err
	}
	return "Deleted " + in.Path + ".", nil
}

// record appends a call to the log, before it is made.
func (f *folder) record(tool, path, text string) error {
	if f.log == nil {
		return nil
	}
	line, err := json.Marshal(map[string]string{"tool": tool, "path": path, "text": text})
	if err != nil {
		return err
	}
	_, err = f.log.Write(append(line, '\n'))
	return err
}
