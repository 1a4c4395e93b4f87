package mcp_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// inspect runs the command line of the inspector, which calls one method, and returns its output. After an
// error result, the inspector exits with a code other than 0.
func inspect(t *testing.T, p *clienttest.Instance, s setup, era string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	program := filepath.Join(clienttest.Packages(t), "node_modules", ".bin", "mcp-inspector")
	all := []string{program, "--cli"}
	if s.Command != "" {
		all = append(all, s.Command, "mcp")
		for name, value := range s.Env {
			all = append(all, "-e", name+"="+value)
		}
	} else {
		all = append(all, s.URL, "--transport", "http", "--header", "Authorization: Bearer "+s.Token)
	}
	cmd := exec.CommandContext(ctx, "node", append(append(all, "--protocol-era", era), args...)...)
	cmd.Env = p.Environ()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("inspector %v: %v\n%s%s", args, err, out.String(), stderr.String())
	}
	return out.Bytes()
}

// The inspector lists the tools, accepts their schemas, asks a question and
// reads the answer again (B7).
func TestInspectorAsksAndReadsTheAnswer(t *testing.T) {
	eras := map[string]string{legacy: "legacy", modern: "modern"}
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		s, era := w.in(p), eras[w.script]
		var listed struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		read(t, inspect(t, p, s, era, "--method", "tools/list", "--strict"), &listed)
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(toolNames, names); diff != "" {
			t.Error(diff)
		}
		a := &agent{t: t}
		results := make(chan []byte, 1)
		c := ask("Which database?", "PostgreSQL", "SQLite")
		go func() {
			defer close(results) // even if the call fails
			results <- inspect(t, p, s, era, "--method", "tools/call", "--tool-name", c.Tool, "--tool-args-json",
				c.Input)
		}()
		k := p.Open(1)[0]
		p.Answer(k.ID, askback.Choose("SQLite"))
		var r result
		read(t, <-results, &r)
		a.wantAnswer(r, "Which database?", "SQLite")
		r = result{}
		read(t, inspect(t, p, s, era, "--method", "tools/call", "--tool-name", "get_answer", "--tool-arg",
			"question_id="+k.ID), &r)
		a.wantAnswer(r, "Which database?", "SQLite")
	})
}
