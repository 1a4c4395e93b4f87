// Package fresh makes fresh Debian systems for tests of packages and installers. A system is a folder with
// Debian's base packages. Its programs run in namespaces of their own: they have no network but loopback, and
// their processes end with the test. Nothing outside the folder changes.
package fresh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// release is the release of Debian. A base is made once per release and set of packages, and then copied.
const release = "bookworm"

// patience is how long the installation of a base may take, and how long one command.
const patience = 10 * time.Minute

// A System is a fresh Debian system.
type System struct {
	// Dir is the root folder of the system.
	Dir string

	holder *exec.Cmd // a process that keeps the namespaces
}

// New returns a system with Debian's minimal base and the given packages, and with an ordinary user "ana",
// whose home is /home/ana. It skips the test if the caller is not root, or if debootstrap is not installed.
func New(t testing.TB, packages ...string) *System {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a fresh system needs root")
	}
	for _, name := range []string{"debootstrap", "unshare", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("a fresh system needs %s (Debian's packages debootstrap and util-linux)", name)
		}
	}
	dir := t.TempDir()
	// The folder of a system is on a file system of its own layer: the base below stays unchanged.
	s := &System{Dir: filepath.Join(dir, "root")}
	s.start(t, base(t, packages), dir)
	s.Run(t, "root", "useradd --create-home --shell /bin/bash ana")
	return s
}

// base returns the folder of a base with packages. It makes the base if it is not in the cache.
func base(t testing.TB, packages []string) string {
	t.Helper()
	packages = slices.Sorted(slices.Values(append([]string{"ca-certificates", "openssl"}, packages...)))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "askback", "fresh")
	name := strings.Join(append([]string{release}, packages...), "+")
	target := filepath.Join(cache, name)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Packages of tests run at the same time: one makes the base, the others wait. A base that an
	// interrupted test began is made again.
	making := target + ".part"
	script := `[ -d "$TARGET" ] && exit 0; rm -rf "$MAKING" && debootstrap --variant=minbase --include="$INCLUDE" ` +
		release + ` "$MAKING" ${MIRROR-} >&2 && rm -rf "$MAKING"/var/cache/apt/archives/*.deb && mv "$MAKING" "$TARGET"`
	cmd := exec.CommandContext(ctx, "flock", target+".lock", "sh", "-c", script)
	cmd.Env = append(os.Environ(), "TARGET="+target, "MAKING="+making, "INCLUDE="+strings.Join(packages, ","),
		"MIRROR="+mirror(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make a system with debootstrap: %v\n%s", err, tail(out))
	}
	return target
}

// mirror returns the mirror from which this machine installs Debian's packages, or "" for the default.
func mirror() string {
	files, _ := filepath.Glob("/etc/apt/sources.list.d/*")
	for _, file := range append([]string{"/etc/apt/sources.list"}, files...) {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			if strings.HasPrefix(word, "http") && strings.HasSuffix(strings.TrimRight(word, "/"), "/debian") {
				return word
			}
		}
	}
	return ""
}

// start mounts a layer over the base, and starts the process that keeps the namespaces.
func (s *System) start(t testing.TB, base, dir string) {
	t.Helper()
	for _, name := range []string{"root", "layer"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The layer is a tmpfs, because an overlay cannot have another overlay as its upper layer.
	script := `set -e
mount -t tmpfs -o mode=755 tmpfs "$2/layer"; mkdir "$2/layer/upper" "$2/layer/work"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/layer/upper,workdir=$2/layer/work" "$2/root"
mount -t proc proc "$2/root/proc"; mount -t tmpfs -o mode=1777 tmpfs "$2/root/tmp"
mount --rbind /dev "$2/root/dev"; mount -t tmpfs -o mode=755 tmpfs "$2/root/run"
hostname fresh; ip link set lo up 2>/dev/null || ifconfig lo up
# A container in the system enters a namespace by its root, which chroot does not change.
cd "$2/root"; pivot_root . mnt; umount -l /mnt
echo started; exec sleep infinity`
	s.holder = exec.Command("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child",
		"sh", "-c", script, "sh", base, dir)
	ready, err := s.holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problem bytes.Buffer
	s.holder.Stderr = &problem
	if err := s.holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.holder.Process.Kill(); _ = s.holder.Wait() })
	if n, _ := ready.Read(make([]byte, 16)); n == 0 {
		t.Fatalf("start a fresh system: %s", problem.String())
	}
	s.write(t, "/etc/hosts", "127.0.0.1 localhost fresh\n")
}

// inside returns the id of the process that is the first in the namespaces.
func (s *System) inside() (string, error) {
	parent := strconv.Itoa(s.holder.Process.Pid)
	children, err := os.ReadFile(filepath.Join("/proc", parent, "task", parent, "children"))
	if err != nil || len(bytes.Fields(children)) == 0 {
		return "", fmt.Errorf("the fresh system has ended: %w", errors.Join(err, os.ErrProcessDone))
	}
	return string(bytes.Fields(children)[0]), nil
}

// Command returns a command that runs a script by sh in the system, as a log-in of the user.
func (s *System) Command(ctx context.Context, user, script string) *exec.Cmd {
	pid, err := s.inside()
	home := "/home/" + user
	if user == "root" {
		home = "/root"
	}
	cmd := exec.CommandContext(ctx, "nsenter", "--target", pid, "--mount", "--net", "--uts", "--pid",
		"chroot", "--userspec="+user, "/", "/usr/bin/env", "-i", "HOME="+home, "USER="+user, "LOGNAME="+user,
		"LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/bash",
		"PATH="+home+"/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"sh", "-c", `cd "$HOME" 2>/dev/null || cd /; `+script)
	if err != nil {
		cmd.Err = err
	}
	cmd.WaitDelay = time.Second
	return cmd
}

// Run runs a script by sh in the system as a user, requires success, and returns what it printed on stdout.
func (s *System) Run(t testing.TB, user, script string) string {
	t.Helper()
	out, problem, err := s.Try(t, user, script)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s%s", user, script, err, tail([]byte(out)), tail([]byte(problem)))
	}
	return out
}

// Try runs a script like [System.Run], and returns stdout, stderr and the error, for scripts that may fail.
func (s *System) Try(t testing.TB, user, script string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.Command(ctx, user, script)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err = cmd.Run()
	return out.String(), problem.String(), err
}

// Copy copies a file or folder of this machine into the system.
func (s *System) Copy(t testing.TB, from, to string) {
	t.Helper()
	pid, err := s.inside()
	if err != nil {
		t.Fatal(err)
	}
	// The folders of this machine are not visible inside.
	const script = `tar -C "$(dirname "$1")" -c "$(basename "$1")" | nsenter --target "$3" --mount sh -c '
dir=$(mktemp -d /tmp/copy.XXXXXX) && tar -x -C "$dir" && mkdir -p "$(dirname "$1")" && cp -a "$dir/$2" "$1" &&
	rm -r "$dir"' sh "$2" "$(basename "$1")"`
	cmd := exec.Command("sh", "-c", script, "sh", from, to, pid)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copy %s into the fresh system: %v\n%s", from, err, out)
	}
}

// write appends text to a file of the system.
func (s *System) write(t testing.TB, path, text string) {
	t.Helper()
	pid, err := s.inside()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nsenter", "--target", pid, "--mount",
		"sh", "-c", `mkdir -p "$(dirname "$1")" && cat >>"$1"`, "sh", path)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("write %s in the fresh system: %v\n%s", path, err, out)
	}
}

// tail returns the end of an output, for messages.
func tail(out []byte) []byte {
	const most = 4000
	return out[max(0, len(out)-most):]
}
