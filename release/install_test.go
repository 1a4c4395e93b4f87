package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The tests of install.sh use a server on loopback whose archives hold a script instead of askback.
const (
	installed    = "0.1.0"
	checksumFile = "askback_0.1.0_checksums.txt"
)

// shells returns the shells that run install.sh, keyed by name. Each has to work with POSIX alone.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, command := range map[string][]string{
		"sh": {"sh"}, "dash": {"dash"}, "bash": {"bash", "--posix"}, "busybox": {"busybox", "sh"},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			t.Logf("LEFT OUT: %s is not installed", name)
			continue
		}
		found[name] = command
	}
	return found
}

// tools returns a folder with links to the programs that install.sh may use, except some.
func tools(t *testing.T, except ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		"cat", "chmod", "curl", "dash", "find", "grep", "gzip", "id", "mkdir", "mktemp", "mv", "openssl", "rm", "rmdir",
		"sed", "sh", "sha256sum", "shasum", "sort", "tar", "uname", "wget",
	} {
		path, err := exec.LookPath(name)
		if err != nil || slices.Contains(except, name) {
			continue
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeProgram is a shell script that prints a version as askback does.
func fakeProgram(version string) []byte {
	return fmt.Appendf(nil, "#!/bin/sh\necho 'askback v%s go1.26.0 linux/amd64'\n", version)
}

// contents are the files of an archive.
func contents(program []byte) []file {
	return []file{
		{name: "LICENSE", mode: 0o644, data: []byte("licence\n")},
		{name: "askback", mode: 0o755, data: program},
		{name: "share/askback.bash", mode: 0o644, data: []byte("bash\n")},
		{name: "share/askback.fish", mode: 0o644, data: []byte("fish\n")},
		{name: "share/askback.zsh", mode: 0o644, data: []byte("zsh\n")},
		{name: "share/askback.1", mode: 0o644, data: []byte("man\n")},
	}
}

// pack returns a compressed archive.
func pack(t *testing.T, files []file) []byte {
	t.Helper()
	plain, err := tarball(files, nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveName is the name of the archive for this machine.
func archiveName(version string) string {
	arch := runtime.GOARCH
	if arch == "arm" {
		arch = "armv7"
	}
	return fmt.Sprintf("askback_%s_%s_%s.tar.gz", version, runtime.GOOS, arch)
}

// A mirror has the files of a release. A file can be replaced by a handler.
type mirror struct {
	*httptest.Server
	files    map[string][]byte
	handlers map[string]http.HandlerFunc
	requests atomic.Int64
}

// newMirror returns a server with the release 0.1.0 for this machine.
func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{files: map[string][]byte{}, handlers: map[string]http.HandlerFunc{}}
	m.put(archiveName(installed), pack(t, contents(fakeProgram(installed))))
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// put adds a file and its checksum.
func (m *mirror) put(name string, data []byte) {
	m.files[name] = data
	m.files[checksumFile] = fmt.Appendf(nil, "%s  other.tar.gz\n%x  %s\n",
		strings.Repeat("0", 64), sha256.Sum256(data), name)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.requests.Add(1)
	name, found := strings.CutPrefix(r.URL.Path, "/releases/download/v"+installed+"/")
	data, ok := m.files[name]
	switch handle := m.handlers[name]; {
	case handle != nil:
		handle(w, r)
	case !found || !ok:
		http.NotFound(w, r)
	default:
		_, _ = w.Write(data)
	}
}

// A newcomer runs install.sh in a home of its own.
type newcomer struct {
	shell   []string
	home    string
	scratch string // TMPDIR
	env     []string
}

func newNewcomer(t *testing.T, shell []string, m *mirror, bin string) *newcomer {
	t.Helper()
	n := &newcomer{shell: shell, home: filepath.Join(t.TempDir(), "home of ana"), scratch: t.TempDir()}
	if err := os.Mkdir(n.home, 0o755); err != nil {
		t.Fatal(err)
	}
	n.env = []string{
		"HOME=" + n.home, "TMPDIR=" + n.scratch, "PATH=" + bin, "SHELL=/bin/bash",
		"ASKBACK_RELEASES=" + m.URL + "/releases/", "ASKBACK_VERSION=v" + installed,
	}
	return n
}

// command returns the command that runs a script from standard input, as "curl … | sh" does.
func (n *newcomer) command(ctx context.Context, script []byte, args ...string) *exec.Cmd {
	words := n.shell
	if len(args) > 0 {
		words = slices.Concat(words, []string{"-s", "--"}, args)
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env, c.Dir, c.Stdin = n.env, n.home, bytes.NewReader(script)
	c.WaitDelay = 10 * time.Second
	return c
}

// run runs install.sh and returns what it prints.
func (n *newcomer) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := n.command(t.Context(), script(t), args...).CombinedOutput()
	return string(out), err
}

// mustRun is run, and ends the test if the script fails.
func (n *newcomer) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.run(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

func script(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../packaging/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tree returns the files below a folder with their content, and the folders.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			found[name+"/"] = "a folder"
			return err
		}
		data, err := os.ReadFile(path)
		info, _ := d.Info()
		found[name] = fmt.Sprintf("%v %s", info.Mode(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expectSame compares two results of tree.
func expectSame(t *testing.T, when string, before, after map[string]string) {
	t.Helper()
	if maps.Equal(before, after) {
		return
	}
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s: %q was %q, and is %q", when, name, before[name], after[name])
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s: %q is new", when, name)
		}
	}
}

func writeFile(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func expectOutput(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// The program, the completions and the manual page are where bash-completion, fish and man find them.
// Uninstalling restores the home, apart from files of others.
func TestInstallScriptInstallsAndUninstalls(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, shell, newMirror(t), tools(t))
			writeFile(t, filepath.Join(n.home, ".local/share/man/other.txt"), "of another program", 0o644)
			before := tree(t, n.home)
			out := n.mustRun(t)
			expectOutput(t, out, "Installed "+n.home+"/.local/bin/askback (0.1.0)\n",
				`export PATH="$HOME/.local/bin:$PATH"`, "askback ask ")
			after := tree(t, filepath.Join(n.home, ".local"))
			for path, want := range map[string]string{
				"bin/askback": "-rwxr-xr-x " + string(fakeProgram(installed)),
				"share/bash-completion/completions/askback":    "-rw-r--r-- bash\n",
				"share/fish/vendor_completions.d/askback.fish": "-rw-r--r-- fish\n",
				"share/zsh/site-functions/_askback":            "-rw-r--r-- zsh\n",
				"share/man/man1/askback.1":                     "-rw-r--r-- man\n",
				"share/man/other.txt":                          "-rw-r--r-- of another program",
			} {
				if after[path] != want {
					t.Errorf("%s: got %q, want %q", path, after[path], want)
				}
			}
			out = n.mustRun(t, "--uninstall")
			expectOutput(t, out, "Removed askback from "+n.home+"/.local\n")
			expectSame(t, "after uninstalling", before, tree(t, n.home))
			if left := tree(t, n.scratch); len(left) > 1 {
				t.Errorf("the folder for temporary files has %v", slices.Collect(maps.Keys(left)))
			}
		})
	}
}

// A new version replaces the file of an earlier one, which a running server still has open.
func TestInstallScriptReplacesARunningProgram(t *testing.T) {
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	program := filepath.Join(n.home, ".local/bin/askback")
	writeFile(t, program, string(fakeProgram("0.0.9")), 0o755)
	running, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Close() }()
	expectOutput(t, n.mustRun(t), "It replaces v0.0.9 ", "until you restart it")
	old, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := running.Stat(); err != nil || os.SameFile(info, old) {
		t.Errorf("the file of the running program was overwritten (%v)", err)
	}
	n.mustRun(t) // again
	n.mustRun(t, "--uninstall")
	if left := tree(t, n.home); len(left) > 3 {
		t.Errorf("uninstalling left %v", left)
	}
}

// The options choose the folder and the version. The environment has the same, and options take precedence.
func TestInstallScriptReadsOptions(t *testing.T) {
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	n.env = append(n.env, "ASKBACK_VERSION=9.9.9", "ASKBACK_PREFIX=/nonexistent")
	out := n.mustRun(t, "--version=0.1.0", "--prefix", "opt/a b")
	expectOutput(t, out, "Installed "+n.home+"/opt/a b/bin/askback",
		`export PATH="`+n.home+`/opt/a b/bin:$PATH"`)
	n.env = append(n.env, "PATH="+n.home+"/opt/a b/bin:"+tools(t))
	if out = n.mustRun(t, "--version", "v0.1.0", "--prefix=opt/a b"); strings.Contains(out, "PATH") {
		t.Errorf("the folder is in PATH already, and the script prints\n%s", out)
	}
	expectOutput(t, n.mustRun(t, "--help"), "Usage: install.sh", "Default: none")
	var err error
	out, err = n.run(t, "--version=0.1.0", "--user")
	if err == nil {
		t.Error("an unknown option is accepted")
	}
	expectOutput(t, out, "there is no option --user")
	if out, err = n.run(t, "--uninstall"); err == nil {
		t.Error("what was not installed was uninstalled")
	}
	expectOutput(t, out, "has not installed askback in /nonexistent")
}

// Agents that askback init has set up would call a missing program. The state directory is kept.
func TestInstallScriptKeepsTheStateAndTheAgents(t *testing.T) {
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	n.mustRun(t)
	record := filepath.Join(n.home, ".local/state/askback/init.json")
	writeFile(t, record, "{}", 0o600)
	out, err := n.run(t, "--uninstall")
	if err == nil {
		t.Error("uninstalled although agents are set up")
	}
	expectOutput(t, out, "askback init --remove")
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	expectOutput(t, n.mustRun(t, "--uninstall"), "stay in "+filepath.Dir(record))
	if _, err := os.Stat(filepath.Dir(record)); err != nil {
		t.Error(err)
	}
}

// Each program for downloads and for checksums suffices.
func TestInstallScriptNeedsOneToolOfEachKind(t *testing.T) {
	m := newMirror(t)
	for _, without := range [][]string{
		{"wget", "shasum", "openssl"}, {"curl", "sha256sum", "openssl"}, {"curl", "sha256sum", "shasum"},
	} {
		n := newNewcomer(t, []string{"sh"}, m, tools(t, without...))
		n.mustRun(t)
	}
	if _, err := exec.LookPath("busybox"); err != nil {
		t.Skip("LEFT OUT: busybox is not installed; without it, its wget and tar are not tested")
	}
	bin := t.TempDir()
	if out, err := exec.Command("busybox", "--install", "-s", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	newNewcomer(t, []string{"busybox", "sh"}, m, bin).mustRun(t)
}

// The script names the archive for each machine, and refuses others with a reason.
func TestInstallScriptFindsThePlatform(t *testing.T) {
	m := newMirror(t)
	for machine, want := range map[string]string{
		"Linux x86_64": "askback_0.1.0_linux_amd64.tar.gz", "Linux aarch64": "askback_0.1.0_linux_arm64.tar.gz",
		"Linux armv7l": "askback_0.1.0_linux_armv7.tar.gz", "Darwin arm64": "askback_0.1.0_darwin_arm64.tar.gz",
		"Darwin x86_64 translated": "askback_0.1.0_darwin_arm64.tar.gz",
		"Darwin x86_64":            "askback_0.1.0_darwin_amd64.tar.gz",
		"Linux i686":               "no program for i686", "Linux armv6l": "no program for armv6l",
		"MINGW64_NT-10.0 x86_64": "Scoop", "FreeBSD amd64": "no program for FreeBSD",
	} {
		words := append(strings.Fields(machine), "")
		bin := tools(t, "uname")
		writeFile(t, filepath.Join(bin, "uname"),
			fmt.Sprintf("#!/bin/sh\n[ $1 = -s ] && echo %s || echo %s\n", words[0], words[1]), 0o755)
		writeFile(t, filepath.Join(bin, "sysctl"),
			fmt.Sprintf("#!/bin/sh\n[ '%s' = translated ] && echo 1 || exit 1\n", words[2]), 0o755)
		out, _ := newNewcomer(t, []string{"sh"}, m, bin).run(t)
		if !strings.Contains(out, want) {
			t.Errorf("%s: got\n%swithout %q", machine, out, want)
		}
	}
}

// make release writes the version of the release into the script.
func TestInstallScriptOfAReleaseHasItsVersion(t *testing.T) {
	b := build{dist: t.TempDir(), repository: "..", version: installed}
	if err := installScript(b); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(b.dist, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	n.env = append(n.env, "ASKBACK_VERSION=")
	if out, err := n.command(t.Context(), text).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := n.run(t)
	if err == nil {
		t.Error("a copy without a version installs something")
	}
	expectOutput(t, out, "name a version")
}

func TestInstallScriptPassesShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("LEFT OUT: shellcheck is not installed")
	}
	if out, err := exec.Command("shellcheck", "../packaging/install.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// interrupt sends SIGINT to a command and its children, as Ctrl-C does.
func interrupt(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
