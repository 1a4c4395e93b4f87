package newcomer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A windows runs programs for Windows by Wine, in a folder of its own.
type windows struct {
	wine, program, prefix string
}

// prng is a library that Go needs from Windows 7 on, and that Wine lacks before version 9.
const prng = `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T n) { return SystemFunction036(data, n); }
`

// newWindows builds the program for Windows, and starts Wine.
func newWindows(t *testing.T) *windows {
	t.Helper()
	if os.Getenv("ASKBACK_DIST") == "" {
		t.Skip("LEFT OUT: Windows (it takes long; run make newcomer)")
	}
	const compiler = "x86_64-w64-mingw32-gcc"
	w := &windows{wine: "/usr/lib/wine/wine64", program: filepath.Join(t.TempDir(), "askback.exe"), prefix: t.TempDir()}
	for _, name := range []string{w.wine, compiler} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: Windows (%s is not installed)", name)
		}
	}
	goForWindows(t, "build", "-ldflags", "-X main.release=v"+version(t), "-o", w.program, "./cmd/askback")
	t.Cleanup(func() {
		end := exec.Command("/usr/lib/wine/wineserver64", "-k", "-w")
		end.Env = w.environment()
		_ = end.Run() // there may be no server
	})
	if out, err := w.command("cmd", "/c", "exit").CombinedOutput(); err != nil {
		t.Fatalf("wine: %v\n%s", err, out)
	}
	library := filepath.Join(w.prefix, "drive_c/windows/system32/bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil {
		return w
	}
	link := exec.Command(compiler, "-shared", "-o", library, "-x", "c", "-", "-ladvapi32")
	link.Stdin = strings.NewReader(prng)
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return w
}

// goForWindows builds something for Windows with the go command.
func goForWindows(t *testing.T, command string, args ...string) {
	t.Helper()
	build := exec.Command("go", append([]string{command, "-trimpath"}, args...)...)
	build.Dir, build.Env = "../..", append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (w *windows) environment() []string {
	return append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEDEBUG=-all")
}

// command returns a command that runs a program for Windows.
func (w *windows) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(w.wine, append([]string{program}, args...)...)
	c.Env = w.environment()
	return c
}

// run runs askback without a terminal, and returns what it prints on both streams.
func (w *windows) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := w.command(w.program, args...).CombinedOutput()
	return string(out), err
}

// start starts askback. Its output is complete when ended is closed.
func (w *windows) start(t *testing.T, args ...string) (out *bytes.Buffer, kill func(), ended <-chan struct{}) {
	t.Helper()
	c := w.command(w.program, args...)
	out = &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	writer, err := c.StdinPipe() // the input stays open
	if err != nil {
		t.Fatal(err)
	}
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Wait()
	}()
	kill = func() {
		_ = c.Process.Kill()
		_ = writer.Close()
		<-done
	}
	t.Cleanup(kill)
	return out, kill, done
}

// The program for Windows runs under Wine: a question is asked and answered through a server, which holds its
// database alone. After the server was killed, the next command opens the database. No test runs Windows itself.
func TestProgramForWindowsAsksAndAnswers(t *testing.T) {
	w := newWindows(t)
	if out, err := w.run(t, "version"); err != nil || !strings.HasSuffix(strings.TrimSpace(out), "windows/amd64") {
		t.Fatalf("%v\n%s", err, out)
	}
	_, kill, _ := w.start(t, "serve", "--listen", freeAddress(t))
	listed := func(text string) func() bool {
		return func() bool {
			out, err := w.run(t, "list", "--status", "all")
			return err == nil && strings.Contains(out, text)
		}
	}
	eventually(t, "server", func() bool {
		state, _ := filepath.Glob(filepath.Join(w.prefix, "drive_c/users/*/AppData/Local/askback/server.json"))
		return len(state) == 1
	})
	asked, _, ended := w.start(t, "ask", "Which database?", "PostgreSQL", "SQLite")
	eventually(t, "question", listed("Which database?"))
	if out, err := w.run(t, "serve", "--listen", freeAddress(t)); err == nil {
		t.Errorf("a second server holds the database:\n%s", out)
	}
	if out, err := w.run(t, "answer", "latest", "SQLite"); err != nil || strings.Contains(out, `\`) {
		t.Errorf("%v\n%s", err, out)
	}
	<-ended
	if !strings.HasSuffix(strings.TrimSpace(asked.String()), "SQLite") {
		t.Errorf("askback ask printed no answer:\n%s", asked)
	}
	kill()
	eventually(t, "answer after the server was killed", listed("answered"))

	w.requireConsole(t)
	w.requireEarlierTextDiscarded(t)
	w.requireSettings(t)
}

// requireConsole requires that a question in a console is answered there.
func (w *windows) requireConsole(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		t.Log("LEFT OUT: a console of Windows (script is not installed)")
		return
	}
	c := exec.Command("script", "-qec", w.wine+" "+w.program+" ask 'In a console?' red blue", "/dev/null")
	c.Env = append(w.environment(), "TERM=xterm")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(3*time.Minute, func() { _ = c.Process.Kill() })
	defer watchdog.Stop()
	var shown strings.Builder
	for buffer := make([]byte, 4096); !strings.Contains(shown.String(), "> "); {
		n, err := out.Read(buffer)
		shown.Write(buffer[:n])
		if err != nil {
			t.Fatalf("no question in the console: %v\n%s", err, shown.String())
		}
	}
	answered := make(chan struct{})
	go func() {
		// The prompt discards what was typed before it.
		for again := time.Tick(3 * time.Second); ; {
			select {
			case <-again:
				_, _ = io.WriteString(in, "2\r")
			case <-answered:
				return
			}
		}
	}()
	rest, _ := io.ReadAll(out) // a terminal that is closed is an error
	close(answered)
	if err := c.Wait(); err != nil || !strings.Contains(string(rest), "blue") {
		t.Errorf("%v, the console shows %q", err, rest)
	}
}

// requireEarlierTextDiscarded requires that text typed before a call was shown in a console does not decide it. The
// test of package terminal presses the keys itself, so it runs in the console.
func (w *windows) requireEarlierTextDiscarded(t *testing.T) {
	t.Helper()
	const name = "TestConsoleDiscardsEarlierText"
	program := filepath.Join(t.TempDir(), "terminal.exe")
	goForWindows(t, "test", "-c", "-o", program, "./terminal")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "script", "-qec", w.wine+" "+program+" -test.v -test.run "+name, "/dev/null")
	c.Env = append(w.environment(), "TERM=xterm")
	if _, err := c.StdinPipe(); err != nil { // it stays open: script types a key when its input ends
		t.Fatal(err)
	}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
		t.Errorf("%v\n%q", err, out)
	}
}

// requireSettings requires that askback init writes the path of the program into the settings of an agent.
func (w *windows) requireSettings(t *testing.T) {
	t.Helper()
	c := w.command(w.program, "init", "claude-code", "--yes")
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(c.Dir, ".mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Servers map[string]struct{ Command string } `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll("Z:"+w.program, "/", `\`)
	if got := settings.Servers["askback"].Command; got != want {
		t.Errorf("got the command %q, want %q", got, want)
	}
}

// freeAddress returns a loopback address with a free port.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprint(l.Addr())
}
