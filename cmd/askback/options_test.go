package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/limits"
)

// A question with the maximum number of options can be asked and shown. The answer can have all options.
func TestMaximumNumberOfOptionsCanBeAnswered(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	var labels, keys []string
	for i := range limits.MaxOptions {
		labels = append(labels, fmt.Sprintf("option %d", i+1))
		keys = append(keys, fmt.Sprint(i+1))
	}
	ctx, stop := context.WithTimeout(t.Context(), testTimeout) // ask does not exit if the answer is rejected
	defer stop()
	cmd := exec.CommandContext(ctx, "askback",
		append([]string{"ask", "--multi", "--key", "k", "Which ones?"}, labels...)...)
	cmd.Env, cmd.Stdin = env, strings.NewReader(strings.Join(keys, ",")+"\n")
	var prompt syncBuffer
	cmd.Stderr = &prompt
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, prompt.String())
	}
	if d := cmp.Diff(labels, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	shown := mustRun(t, env, "show", askID.FindString(mustRun(t, env, "list", "--status", "all")))
	for _, label := range labels {
		if !strings.Contains(prompt.String(), label+"\n") || !strings.Contains(shown, label) {
			t.Errorf("%q is not in the prompt or not in the output of show:\n%s\n%s", label, prompt.String(), shown)
		}
	}
}
