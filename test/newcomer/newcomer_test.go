package newcomer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/test/kit/fakes"
)

// TestMain runs the fakes if the test binary is started as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-bound" {
		if err := fakes.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// repository is the root of the repository.
const repository = "../.."

// patience is how long one command may take. The first command compiles.
const patience = 10 * time.Minute

// endTime is how long programs may take to end.
const endTime = 20 * time.Second

// A newcomer has a shell, and a phone with a fake of its service.
type newcomer struct {
	t        *testing.T
	ctx      context.Context
	commands []string
	phone    fakes.Service
	replace  *strings.Replacer // replaces the texts for the service in commands with the texts for the fake
	env      []string
	clone    string // the folder of a clone of the repository
	log      string // the file with the commands of go, and their times
	stdin    io.WriteCloser
	shell    *exec.Cmd

	mu  sync.Mutex
	out strings.Builder // the output of the shell
	err strings.Builder
}

// newNewcomer reads the first commands of a page, and starts the fake of a service.
func newNewcomer(t *testing.T, page, service string) *newcomer {
	t.Helper()
	if os.Getenv("ASKBACK_LONG") == "" {
		t.Skip("it clones and compiles the repository; make interop runs it")
	}
	commands := strings.Split(block(t, page, "", "sh"), "\n")
	// the context of the test ends too early to end the shell
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	p, err := fakes.StartProgram(exec.Command(os.Args[0], "-bound", "-open", service))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.End() })
	n := &newcomer{t: t, ctx: ctx, commands: commands, phone: p.Service(service)}
	if len(n.commands) > 6 || n.commands[0] != "go install ./cmd/askback" {
		t.Fatalf("docs/%s has the commands %q, want at most six, which begin with go install ./cmd/askback", page,
			n.commands)
	}
	n.setUp()
	return n
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

// run runs a command of the test itself, requires success, and returns the output.
func (n *newcomer) run(env []string, name string, args ...string) string {
	n.t.Helper()
	cmd := exec.CommandContext(n.ctx, name, args...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("%s %q: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

// setUp makes the environment of the shell. Its folder is a clone of the repository with a commit
// of the working tree. Programs are installed in a folder of the test; the caches of Go stay.
func (n *newcomer) setUp() {
	n.t.Helper()
	dir := n.t.TempDir()
	tree, err := filepath.Abs(repository)
	if err != nil {
		n.t.Fatal(err)
	}
	n.env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "ASKBACK_") || strings.HasPrefix(s, "XDG_STATE_HOME=") ||
			strings.HasPrefix(s, "GIT_") || strings.HasPrefix(s, "PWD=")
	})
	origin := filepath.Join(dir, "origin")
	n.env = append(n.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test",
		"GIT_COMMITTER_EMAIL=test@example.com")
	n.run(n.env, "git", "clone", "-q", "--shared", "--no-checkout", tree, origin)
	ofTree := append(slices.Clone(n.env), "GIT_DIR="+filepath.Join(origin, ".git"), "GIT_WORK_TREE="+tree)
	n.run(ofTree, "git", "add", "-A")
	n.run(ofTree, "git", "commit", "-q", "--allow-empty", "-m", "the working tree")
	n.clone = filepath.Join(dir, "askback")
	n.run(n.env, "git", "clone", "-q", origin, n.clone)
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		n.env = append(n.env, name+"="+n.run(nil, "go", "env", name))
	}
	n.log = filepath.Join(dir, "times")
	n.env = append(n.env, "GOPATH="+filepath.Join(dir, "go"), "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"TERM=dumb", "PATH="+n.timed(dir, "go")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// timed returns a folder with commands that record their start and end times.
func (n *newcomer) timed(dir string, names ...string) string {
	n.t.Helper()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		n.t.Fatal(err)
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			n.t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\nbegan=$(date +%%s.%%N)\n%q \"$@\"\ncode=$?\necho \"%s $1 $began $(date "+
			"+%%s.%%N)\" >> %q\nexit $code\n", path, name, n.log)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			n.t.Fatal(err)
		}
	}
	return bin
}

// open starts the shell.
func (n *newcomer) open(replace ...string) {
	n.t.Helper()
	n.replace = strings.NewReplacer(replace...)
	n.shell = exec.CommandContext(n.ctx, "sh")
	n.shell.Env, n.shell.Dir = n.env, n.clone
	var err error
	if n.stdin, err = n.shell.StdinPipe(); err != nil {
		n.t.Fatal(err)
	}
	n.shell.Stdout, n.shell.Stderr = writer(func(p []byte) { n.out.Write(p) },
		&n.mu), writer(func(p []byte) { n.err.Write(p) }, &n.mu)
	if err := n.shell.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.shell.WaitDelay = endTime
	n.t.Cleanup(func() {
		_ = n.stdin.Close() // the shell ends once its command has ended, but background programs do not
		out, _ := n.output()
		if found := background.FindStringSubmatch(out); found != nil {
			n.end(found[1])
		}
		if err := n.shell.Wait(); errors.Is(err, exec.ErrWaitDelay) {
			n.t.Errorf("a program runs %s after it was told to end", endTime)
		}
	})
}

// printBackground prints the id of the program that the shell runs in the background. background matches the
// output.
const printBackground = `echo "background $!"`

var background = regexp.MustCompile(`background ([0-9]+)\n`)

// end sends SIGTERM to the process with this id.
func (n *newcomer) end(id string) {
	n.t.Helper()
	pid, err := strconv.Atoi(id)
	if err != nil {
		n.t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.SIGTERM)
	}
	if err != nil {
		n.t.Errorf("end the server: %v", err)
	}
}

// A writerFunc is a function that implements [io.Writer].
type writerFunc func(p []byte) (int, error)

// Write implements [io.Writer].
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func writer(write func([]byte), mu *sync.Mutex) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		write(p)
		return len(p), nil
	})
}

// paste pastes commands, with the addresses of the fake.
func (n *newcomer) paste(commands ...string) {
	for _, c := range commands {
		_, _ = io.WriteString(n.stdin, n.replace.Replace(c)+"\n") // the shell may have ended
	}
}

// output returns the output of the shell.
func (n *newcomer) output() (out, errs string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.out.String(), n.err.String()
}

// until waits until a condition is true.
func (n *newcomer) until(what string, so func() bool) {
	n.t.Helper()
	for !so() {
		if pause.For(n.ctx, 5*time.Millisecond) != nil {
			out, errs := n.output()
			n.t.Fatalf("no %s:\n%s\n%s", what, out, errs)
		}
	}
}

// answer waits for a question on the phone, presses a button, and waits until the shell prints the answer. It
// logs the time since began.
func (n *newcomer) answer(label string, began time.Time) {
	n.t.Helper()
	var question fakes.Message
	n.until("question on the phone", func() bool {
		all, err := n.phone.Messages("ana", "Which database?")
		if err != nil {
			n.t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(m fakes.Message) bool { return m.Live })
		if i >= 0 {
			question = all[i]
		}
		return i >= 0
	})
	asked := time.Since(began)
	b, err := question.Button(label)
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.phone.Press(n.ctx, "ana", question.ID, b); err != nil {
		n.t.Fatal(err)
	}
	n.until("answer in the shell", func() bool { out, _ := n.output(); return strings.HasSuffix(out, "\n"+label+"\n") })
	n.t.Logf("go install %s; the question was on the phone after %s, the answer in the shell after %s",
		n.took("go install"), asked.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond))
}

// took returns how long a command of the shell took.
func (n *newcomer) took(command string) time.Duration {
	n.t.Helper()
	f, err := os.Open(n.log)
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		times, ok := strings.CutPrefix(in.Text(), command+" ")
		from, to, _ := strings.Cut(times, " ")
		begin, err1 := strconv.ParseFloat(from, 64)
		end, err2 := strconv.ParseFloat(to, 64)
		if ok && err1 == nil && err2 == nil {
			return time.Duration((end - begin) * float64(time.Second)).Round(10 * time.Millisecond)
		}
	}
	n.t.Fatalf("%q did not run", command)
	return 0
}

// The five commands of docs/phone.md lead from a clone to an answer with a button of ntfy (E3, F6).
func TestNewcomerAnswersWithNtfy(t *testing.T) {
	n := newNewcomer(t, "phone.md", "ntfy")
	address := n.phone.Describe().Addresses["ana"]
	n.open("https://ntfy.sh", address, ", reply_topic:",
		fmt.Sprintf(`, allow: ["%s"], reply_topic:`, strings.TrimPrefix(address, "http://")))
	began := time.Now()
	n.paste(n.commands...)
	n.answer("SQLite", began)
	if tests, err := n.phone.Messages("ana", "Test from Askback"); err != nil || len(tests) != 1 {
		t.Errorf("got %+v, %v, want one test message", tests, err)
	}
}

// The six commands of docs/telegram.md lead from a clone to an answer in Telegram (E4). The
// person opens the link that the fifth command prints.
func TestNewcomerAnswersInTelegram(t *testing.T) {
	n := newNewcomer(t, "telegram.md", "telegram")
	d := n.phone.Describe()
	address := d.Addresses["api"]
	n.open(`channels: {telegram: {token: "${TELEGRAM_TOKEN}"}}`, // a free port, because another server may run here
		fmt.Sprintf(`{listen: "127.0.0.1:0", channels: {telegram: {token: "${TELEGRAM_TOKEN}", url: %q, allow: [%q]}}}`,
			address, strings.TrimPrefix(address, "http://")),
		"1234567890:AA…", d.Secrets[0])
	began := time.Now()
	n.paste(append(slices.Clone(n.commands[:4]), printBackground)...)
	n.until("server", func() bool {
		_, errs := n.output()
		if strings.Contains(errs, "askback: ") {
			t.Fatalf("the server did not start:\n%s", errs)
		}
		return strings.Contains(errs, "msg=serving")
	})
	n.paste(n.commands[4])
	var code []string
	n.until("link to the bot", func() bool {
		out, _ := n.output()
		code = regexp.MustCompile(`https://t\.me/\w+\?start=(\w+)`).FindStringSubmatch(out)
		return code != nil
	})
	if _, err := n.phone.Write(n.ctx, "ana", "", "/start "+code[1]); err != nil {
		t.Fatal(err)
	}
	n.until("linked chat", func() bool {
		all, err := n.phone.Messages("ana", "This chat is linked")
		return err == nil && len(all) > 0
	})
	n.paste(n.commands[5])
	n.answer("SQLite", began)
}
