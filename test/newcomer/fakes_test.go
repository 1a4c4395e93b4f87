package newcomer

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/test/kit/freeport"
)

// repository is the root of the repository.
const repository = "../.."

// patience is how long the commands may take. The first command compiles.
const patience = 10 * time.Minute

// The commands of docs/phone.md that try a channel without its service lead to an answer. Each command runs
// unchanged in a shell of its own, except for the ports and the paths (F13).
func TestChannelCommandsWorkWithoutTheService(t *testing.T) {
	if os.Getenv("ASKBACK_LONG") == "" {
		t.Skip("it links programs; make interop runs it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	dir := t.TempDir()
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), "./cmd/askback",
		"./test/fakes")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	control, server := freeAddress(t), freeAddress(t)
	replace := strings.NewReplacer("go run ./test/fakes", "exec fakes", "127.0.0.1:7600", control,
		"ASKBACK_CONFIG=fakes.yaml askback serve",
		"export ASKBACK_CONFIG=fakes.yaml; exec askback serve --listen "+server, "askback ask", "exec askback ask")
	var commands []*exec.Cmd
	for line := range strings.SplitSeq(block(t, "phone.md", "## Trying a channel", "console"), "\n") {
		cmd := exec.CommandContext(ctx, "sh", "-c", replace.Replace(strings.TrimPrefix(line, "$ ")))
		cmd.Dir, cmd.Stderr = dir, t.Output()
		cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
			"XDG_STATE_HOME="+filepath.Join(dir, "state"))
		commands = append(commands, cmd)
	}
	if len(commands) != 5 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	for _, address := range []string{control, server} {
		cmd := commands[0]
		commands = commands[1:]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		for {
			c, err := net.Dial("tcp", address)
			if err == nil {
				_ = c.Close()
				break
			}
			if pause.For(ctx, 10*time.Millisecond) != nil {
				t.Fatalf("%q does not listen on %s", cmd.Args, address)
			}
		}
	}
	ask, list, press := commands[0], commands[1], commands[2]
	var answer strings.Builder
	ask.Stdout = &answer
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	for shown := ""; !strings.Contains(shown, "Which database?"); {
		again := exec.CommandContext(ctx, list.Path, list.Args[1:]...)
		again.Env, again.Dir = list.Env, list.Dir
		out, err := again.Output()
		if err != nil || pause.For(ctx, 10*time.Millisecond) != nil {
			t.Fatalf("the phone shows %s, %v", out, err)
		}
		shown = string(out)
	}
	if out, err := press.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := ask.Wait(); err != nil || answer.String() != "SQLite\n" {
		t.Errorf("got %q, %v, want the answer", answer.String(), err)
	}
}

// block returns the first code block in a language after a text on a page.
func block(t *testing.T, page, after, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), after)
	found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)\n```$").FindStringSubmatch(rest)
	if !ok || found == nil {
		t.Fatalf("docs/%s has no commands after %q", page, after)
	}
	return found[1]
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freeport.Pick(t))
}
