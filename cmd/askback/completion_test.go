//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/command/completion"
	"github.com/askback/askback/test/kit/leftout"
)

// A shell is a shell for which there is a completion script.
type shell struct {
	name string
	args []string
	load string // loads the script
	// record replaces askback with a function that writes its arguments to the file args.
	record string
}

var shells = []shell{
	{
		"bash",
		[]string{"--norc", "--noprofile", "-i"},
		`source <(command askback completion bash)`,
		`askback() { { printf '<%s>' "$@"; echo; } >>args; }`,
	},
	{
		"zsh",
		[]string{"-f", "-i"},
		`autoload -U compinit; compinit -u -D; source <(command askback completion zsh)`,
		`askback() { { printf '<%s>' "$@"; echo; } >>args; }`,
	},
	{
		"fish",
		[]string{"--no-config", "-i"},
		`command askback completion fish | source`,
		`function askback; begin; printf '<%s>' $argv; echo; end >>args; end`,
	},
}

// A shellSession is a shell at a terminal in a new folder.
type shellSession struct {
	*terminalSession
	dir string
}

// startShell starts a shell that has loaded the completion script. Without the shell, it
// skips the test.
func startShell(t *testing.T, env []string, s shell) *shellSession {
	t.Helper()
	if _, err := exec.LookPath(s.name); err != nil {
		leftout.Skip(t, "completion in %s (%s is not installed)", s.name, s.name)
	}
	dir := t.TempDir()
	env = append(slices.Clone(env), "HOME="+dir, "TERM=xterm", "PS1=$ ", "HISTFILE=", "LC_ALL=C.UTF-8")
	script := fmt.Sprintf("cd '%s'; %s; %s; echo loa''ded\r", dir, s.load, s.record)
	out := &shellSession{startTerminal(t, env, 200, s.name, s.args...), dir}
	out.typeKeys(script)
	out.waitForScreen(`loaded`)
	return out
}

// complete types a line with tabs and Enter. It requires that the shell runs askback with the arguments want.
func (s *shellSession) complete(typed, want string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "args")
	_ = os.Remove(path)
	s.typeKeys(typed + "\r")
	got := ""
	if !eventually(func() bool {
		raw, _ := os.ReadFile(path)
		got = string(raw)
		return strings.HasSuffix(got, "\n")
	}) {
		s.t.Fatalf("%q: the shell ran no command:\n%q", typed, s.screen.String())
	}
	if got = strings.TrimSuffix(got, "\n"); got != want {
		s.t.Errorf("%q: got %s, want %s", typed, got, want)
	}
}

// requireFiles requires that the folder has only files in the list and hidden files. A command in the text of
// an agent would have created another file.
func (s *shellSession) requireFiles(want ...string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(want, e.Name()) {
			s.t.Errorf("a command of an agent was run: it made the file %s", e.Name())
		}
	}
}

// hostile is text that runs touch if a shell or a terminal interprets it. hostileTag and hostileAgent have no
// line breaks, because the name of an agent has none.
const (
	hostile = "$(touch one) `touch two` \" ' ; touch three; # !! ~ *\ntouch four\n\x1b[2J\u202e<(touch five) " +
		"\\ | touch six & "
	hostileTag   = "y$(touch twelve) `touch thirteen` \"' ; touch fourteen & "
	hostileAgent = "x$(touch seven) `touch eight` \"' ; touch nine; # !! ~ * \\ | touch ten &"
)

// askHostile creates a call and a question with hostile text, and returns their ids and the
// session of the call.
func askHostile(t *testing.T, s *testServer) (call, question, session string) {
	t.Helper()
	create := func(body map[string]any) map[string]any {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return s.call(s.agent, "POST", "/asks", string(raw), 201)
	}
	a := create(map[string]any{"agent": hostileAgent, "title": hostile, "confirmation": map[string]any{
		"tool_name": "run", "input": map[string]any{"x": hostile},
	}})
	nextMillisecond()
	b := create(map[string]any{
		"agent":     "Deploy bot",
		"questions": []any{map[string]any{"question": hostile, "options": []string{hostile, "no"}}},
		"tags":      []string{"release", hostileTag},
	})
	return a["id"].(string), b["id"].(string), a["session_id"].(string)
}

// nextMillisecond waits for the next millisecond, because asks of the same millisecond have no order.
func nextMillisecond() {
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; {
	}
}

// The scripts complete commands, flags, values, ids, names and files in each shell. A name that contains
// special characters of a shell becomes one argument.
func TestCompletionWorksInEachShell(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	call, question, session := askHostile(t, server)
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, server.env, sh)
			if err := os.WriteFile(filepath.Join(s.dir, "with space.json"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct{ typed, want string }{
				{"askback conf\t", "<confirm>"},
				{"askback token rem\t", "<token><remove>"},
				{"askback help tok\tad\t", "<help><token><add>"},
				{"askback list --sta\tcanc\t", "<list><--status><cancelled>"},
				{"askback list --status=canc\t", "<list><--status=cancelled>"},
				{"askback answer --deny ask_\t", "<answer><--deny><" + call + ">"},
				{"askback answer --deny --session \t", "<answer><--deny><--session><" + session + ">"},
				{"askback list --agent Dep\t--js\t", "<list><--agent><Deploy bot><--json>"},
				{"askback list --agent x\t", "<list><--agent><" + hostileAgent + ">"},
				{"askback ask --to ana\t", "<ask><--to><ana>"},
				{"askback confirm --tag rel\t", "<confirm><--tag><release>"},
				{"askback ask --tag y\t", "<ask><--tag><" + hostileTag + ">"},
				{"askback ask --file with\t", "<ask><--file><with space.json>"},
				{"askback ask --file=with\t", "<ask><--file=with space.json>"},
				{"askback snooze " + question + " tom\t", "<snooze><" + question + "><tomorrow>"},
				{"askback --db none/none list --agent Dep\t", "<--db><none/none><list><--agent><Dep>"},
			} {
				s.complete(c.typed, c.want)
			}
			s.typeKeys("askback decline \t\t")
			s.waitForScreen(call + `  (-- |\()?run · x: "\$\(touch one\)`)
			if strings.Contains(s.screen.String(), "\u202e") {
				t.Errorf("a control character of the agent reached the screen:\n%q", s.screen.String())
			}
			s.requireFiles("args", "with space.json")
		})
	}
}

// Text of agents is never run, whether it is listed, chosen from a menu, or completed inside quotes, in every
// mode of the shells. Each line is run after the tabs. The last line shows that the shell still works.
func TestShellsNeverRunTextOfAgents(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	_, question, _ := askHostile(t, server)
	modes := map[string][]string{
		"bash": {
			"", "bind 'TAB: menu-complete'", "bind 'TAB: complete'; bind 'set show-all-if-ambiguous on'",
			"bind 'set show-all-if-unmodified on'", "bind 'TAB: insert-completions'",
		},
		"zsh": {
			"", "setopt menu_complete", "unsetopt menu_complete; setopt prompt_subst",
			"zstyle ':completion:*' menu select", "setopt sh_word_split glob_subst ksh_arrays",
		},
		"fish": {""},
	}
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, server.env, sh)
			for _, mode := range modes[sh.name] {
				if mode != "" {
					s.typeKeys(mode + "\r")
				}
				for _, typed := range []string{
					"askback decline \t\t\t", "askback show ask_\t\t\t", "askback answer " + question + " \t\t\t",
					"askback list --agent \t\t\t", "askback list --agent=\t\t\t", "askback ask --tag \t\t\t",
					"askback list --agent x\t\t\t",
					"askback $(touch eleven) \t\t\x15", "askback `touch eleven` \t\t\x15",
				} {
					s.typeKeys(typed + "\r\r") // the first Enter may only choose from a menu
				}
			}
			s.typeKeys("askback done\r")
			args := func() string {
				raw, _ := os.ReadFile(filepath.Join(s.dir, "args"))
				return string(raw)
			}
			if !eventually(func() bool { return strings.HasSuffix(args(), "\n<done>\n") }) {
				t.Errorf("the shell does not work any more, after\n%s", args())
			}
			s.requireFiles("args")
		})
	}
}

// candidatesFor returns the printed candidates for the last word.
func candidatesFor(t *testing.T, env []string, shell string, words ...string) string {
	t.Helper()
	return mustRun(t, env, append([]string{"completion", shell, "--"}, words...)...)
}

// The candidates are the commands, flags and values of the parser. A flag is offered once, and not together
// with a flag that excludes it.
func TestCandidatesMatchTheParser(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	for _, c := range []struct{ line, want, not string }{
		{"bash|tok", "token\tAdd, list", "ask"},
		{"bash|token|", "add|list|remove", ""},
		{"bash|help|token|", "add|list|remove", ""},
		{"bash|", "channel|hook", "contact|link|notify"},
		{"bash|contact|", "list|remove", ""},
		{"bash|answer|x|--app", "--approve|--approve-all", "--deny"},
		{"bash|answer|--deny|--", "--reason|--db", "--deny|--approve"},
		{"bash|ask|--to|ana|--json|--", "--to|--plain", "--json"},
		{"bash|init|codex|--", "--http|--no-http|--remove", ""},
		{"bash|init|", "claude-code|codex", ""},
		{"bash|list|--status|s", "settled", "pending"},
		{"bash|list|--status|=|s", "settled", "--status=settled"},
		{"fish|list|--status=", "--status=settled", ""},
		{"bash|list|'--status'|\"s", "settled", "pending"},
		{"bash|ask|--on-timeout|", "fail|default|decline|wait", ""},
		{"bash|serve|--log-level|", "debug|info|warn|error", ""},
		{"bash|answer|--scope|", "tool|tool_and_input|session", ""},
		{"bash|completion|", "bash|zsh|fish", ""},
		{"bash|ask|--|--", "", "--json"},
		{"bash|ask|--file|", "", "--json"},
		{"bash|show|--json|", "", "--json"},
		{"bash|version|", "", "version"},
		{"bash|nonsense|", "ask|answer", ""},
	} {
		words := strings.Split(c.line, "|")
		got := candidatesFor(t, env, words[0], words[1:]...)
		for want := range strings.SplitSeq(c.want, "|") {
			if c.want != "" && !strings.Contains(got, "\n"+want) {
				t.Errorf("%s: got\n%swant %s in it", c.line, got, want)
			}
		}
		for not := range strings.SplitSeq(c.not, "|") {
			if c.not != "" && regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(not)+`(\t|$)`).MatchString(got) {
				t.Errorf("%s: got\n%swant no %s", c.line, got, not)
			}
		}
	}
	if got := candidatesFor(t, env, "bash", "ask", "--file", ""); got != "files\n" {
		t.Errorf("--file: got %q, want files", got)
	}
}

// Package completion knows every value of the tag complete. Flags and arguments for files, names and ids have
// this tag.
func TestPathsNamesAndIDsAreCompleted(t *testing.T) {
	check := func(n *kong.Node, v *kong.Value, isListed bool) {
		kind := v.Tag.Get("complete")
		known := completion.Known(kind)
		if kind != "" && !known || isListed && !known {
			t.Errorf("%s %s: the tag complete is %q; want a tag that package completion knows", n.FullPath(), v.Name,
				kind)
		}
	}
	root := (&commands{}).parser().Model.Node
	for _, n := range append(leafCommands(root), root) {
		for _, f := range n.Flags {
			check(n, f.Value, slices.Contains([]string{"FILE", "NAME", "ID"}, f.Tag.PlaceHolder))
		}
		for _, p := range n.Positional {
			check(n, p, slices.Contains([]string{"ask", "id", "client"}, p.Name))
		}
	}
}

// The candidates depend on the rest of the line. They are the options of the ask on the line, and the calls
// that are not on the line yet.
func TestCandidatesDependOnTheLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	call, question, session := askHostile(t, s)
	nextMillisecond()
	forms := s.call(s.agent, "POST", "/asks",
		`{"questions": [{"question": "Size?", "options": ["small", "large"]}, {"question": "Why?"}]}`,
		201)["id"].(string)
	for _, c := range []struct {
		words []string
		want  []string // the values
	}{
		{[]string{"answer", ""}, []string{forms, question, call, "latest"}},
		{[]string{"answer", question, ""}, []string{"1", "2"}},
		{[]string{"answer", forms, ""}, []string{"q1=1", "q1=2"}},
		{[]string{"answer", forms, "q1", "=", ""}, []string{"1", "2"}},
		{[]string{"answer", "--approve", ""}, []string{call}},
		{[]string{"answer", "--approve", call, ""}, nil},
		{[]string{"answer", "--deny", "--session", ""}, []string{session}},
		{[]string{"decline", question[:8]}, []string{forms, question, call}},
		{[]string{"list", "--agent", `"`}, []string{"robot"}},
		{[]string{"--db", s.place.Database, "answer", ""}, []string{forms, question, call, "latest"}},
		{[]string{"--db", s.place.Database + "x", "answer", ""}, nil},
		{[]string{"--db", "/nonexistent/folder/askback.db", "answer", ""}, nil},
	} {
		var got []string
		for line := range strings.Lines(candidatesFor(t, s.env, "bash", c.words...)) {
			value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, value)
		}
		if diff := cmp.Diff(append([]string{"words"}, c.want...), got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.words, diff)
		}
	}
}

// Without a server, and with a server that does not reply, there are no candidates and no message, and no
// file is created.
func TestNoCandidatesWithoutServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	blocked := filepath.Join(t.TempDir(), "fifo") // opening this file blocks
	if err := syscall.Mkfifo(blocked, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, extra := range map[string][]string{
		"no server":          nil,
		"silent server":      {"ASKBACK_URL=http://" + silent.Addr().String(), "ASKBACK_TOKEN=x"},
		"unreachable server": {"ASKBACK_URL=http://127.0.0.1:1", "ASKBACK_TOKEN=x"},
		"no token":           {"ASKBACK_URL=http://127.0.0.1:1"},
		"invalid settings":   {"ASKBACK_CONFIG=" + t.TempDir()},
		"blocked settings":   {"ASKBACK_CONFIG=" + blocked},
	} {
		env, database := sandbox(t, extra...)
		folder := filepath.Dir(database)
		check := func() {
			for _, words := range [][]string{{"answer", ""}, {"list", "--agent", ""}, {"ask", "--to", ""}} {
				p := launch(t, env, append([]string{"completion", "bash", "--"}, words...)...)
				if !p.wait() || p.result != nil || p.out.String() != "words\n" || p.err.String() != "" {
					t.Errorf("%s: %v: got %v, output %q and %q", name, words, p.result, p.out.String(), p.err.String())
				}
			}
		}
		check()
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the state directory was created: %v", name, err)
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		check()
		if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
			t.Errorf("%s: the state directory has %v, %v; want no files", name, entries, err)
		}
	}
}
