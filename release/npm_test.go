package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/release/npmtest"
)

// scratch is the folder of what the tests make once.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "askback-release-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// builtProgram returns the path of askback, built for this machine. The tests of the repository build it once
// for all packages.
var builtProgram = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("ASKBACK_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	path := filepath.Join(scratch, "askback")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/askback")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build askback: %w\n%s", err, out)
	}
	return path, nil
})

// testBuild returns a build in a new folder. Its programs are the given program for this machine, and short
// texts for two other platforms.
func testBuild(t *testing.T, version string, own []byte) build {
	t.Helper()
	b := build{dist: t.TempDir(), repository: testRepository(t), version: version, time: time.Unix(1_800_000_000, 0)}
	for _, p := range []program{
		{OS: runtime.GOOS, Arch: runtime.GOARCH}, {OS: "darwin", Arch: "arm64"}, {OS: "windows", Arch: "arm64"},
	} {
		data := own
		if len(b.programs) > 0 {
			data = []byte("a program for " + p.OS)
		}
		p.Path = filepath.Join(b.dist, fmt.Sprint("program", len(b.programs)))
		if err := os.WriteFile(p.Path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		b.programs = append(b.programs, p)
	}
	return b
}

// testRepository returns a folder with what the packages need of the repository, and of its folder bin.
func testRepository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	for _, name := range []string{"LICENSE", "packaging"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(repository, name)); err != nil {
			t.Fatal(err)
		}
	}
	share := filepath.Join(repository, "bin", "share")
	if err := os.MkdirAll(share, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(share, "THIRD_PARTY_LICENSES"), []byte("licences"), 0o644); err != nil {
		t.Fatal(err)
	}
	return repository
}

// releasePackages contains the program and its packages for npm in a release, made once for all tests.
var releasePackages struct {
	sync.Mutex
	folder string
	bytes  []byte
}

// newRelease returns a registry with a release 0.1.0 of the program, and the bytes of the program.
func newRelease(t *testing.T) (*npmtest.Registry, []byte) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("LEFT OUT: packages of npm on Windows, where the paths are other ones")
	}
	for _, name := range []string{"node", "npm", "npx"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: packages of npm (%s is missing)", name)
		}
	}
	path, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	p := &releasePackages
	p.Lock()
	defer p.Unlock()
	if p.folder == "" {
		if p.bytes, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		b := testBuild(t, "0.1.0", p.bytes)
		b.dist = scratch
		if err := npmPackages(b); err != nil {
			t.Fatal(err)
		}
		p.folder = filepath.Join(b.dist, "npm")
	}
	return npmtest.Start(t, p.folder), p.bytes
}

// A machine is a home folder on which npm uses the registry of a test.
type machine struct {
	t        *testing.T
	registry *npmtest.Registry
	home     string
}

// newMachine returns a machine. At the end of the test, it reports requests to other places.
func newMachine(t *testing.T, r *npmtest.Registry) machine {
	t.Cleanup(func() {
		for _, one := range r.Others() {
			t.Errorf("another request: %s", one)
		}
	})
	return machine{t, r, t.TempDir()}
}

// bin is the folder of programs that are installed for all folders.
func (m machine) bin() string { return filepath.Join(m.home, "prefix", "bin") }

// module returns the path of a file in a package that is installed for all folders.
func (m machine) module(name string) string {
	return filepath.Join(m.home, "prefix", "lib", "node_modules", filepath.FromSlash(name))
}

// command returns a command in the home folder.
func (m machine) command(name string, args ...string) *exec.Cmd {
	if path := filepath.Join(m.bin(), name); name == "askback" {
		name = path
	}
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Dir, cmd.WaitDelay = m.home, time.Minute
	cmd.Env = []string{
		"PATH=" + m.bin() + ":" + os.Getenv("PATH"), "HOME=" + m.home, "npm_config_registry=" + m.registry.URL,
		"npm_config_prefix=" + filepath.Join(m.home, "prefix"), "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "npm_config_globalconfig=" + filepath.Join(m.home, "global.npmrc"),
		"https_proxy=" + m.registry.URL, "http_proxy=" + m.registry.URL, "no_proxy=127.0.0.1",
	}
	return cmd
}

// run runs a command, and returns its standard output.
func (m machine) run(name string, args ...string) string {
	m.t.Helper()
	cmd := m.command(name, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &problems)
	}
	return out.String()
}

// fails runs a command, which must print only an error, and returns the error.
func (m machine) fails(code int, name string, args ...string) string {
	m.t.Helper()
	cmd := m.command(name, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != code || out.Len() > 0 {
		m.t.Fatalf("%s %s: got %v, %q, %q, want only an error with code %d", name, strings.Join(args, " "), err,
			&out, &problems, code)
	}
	return problems.String()
}

// versionOf returns the output of askback version for the program of the tests.
func versionOf(t *testing.T) string {
	t.Helper()
	path, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "askback ") {
		t.Fatalf("askback version: %q, %v", out, err)
	}
	return string(out)
}

// npm puts the program in the place of the launcher, as a link to the file in the package of the platform.
func TestNpmInstallsTheProgramItself(t *testing.T) {
	t.Parallel()
	r, program := newRelease(t)
	m := newMachine(t, r)
	m.run("npm", "install", "-g", "askback")
	if got, want := m.run("askback", "version"), versionOf(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	installed, err := os.ReadFile(filepath.Join(m.bin(), "askback"))
	if err != nil || sha256.Sum256(installed) != sha256.Sum256(program) {
		t.Errorf("bin/askback is not the program: %d bytes, %v", len(installed), err)
	}
	own, err := os.Stat(m.module("askback/bin/askback"))
	if err != nil {
		t.Fatal(err)
	}
	host := nodeSystems[runtime.GOOS] + "-" + nodeProcessors[runtime.GOARCH]
	if other, err := os.Stat(m.module("askback/node_modules/@askback/" + host + "/bin/askback")); err != nil ||
		!os.SameFile(own, other) {
		t.Errorf("the program is there twice: %v", err)
	}
	m.run("npm", "rebuild", "-g", "askback")
	if got, want := m.run("askback", "version"), versionOf(t); got != want {
		t.Errorf("after npm rebuild: got %q, want %q", got, want)
	}
	left, err := filepath.Glob(m.module("askback/bin/*"))
	if err != nil || len(left) != 1 {
		t.Errorf("got the files %v, want only the program", left)
	}
}

// npx runs the program without an installation.
func TestNpxRunsAskback(t *testing.T) {
	t.Parallel()
	r, _ := newRelease(t)
	m := newMachine(t, r)
	if got, want := m.run("npx", "-y", "askback", "version"), versionOf(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A program that is missing, or that is for another platform, is an error with the next step.
func TestMissingProgramOfNpmIsExplained(t *testing.T) {
	t.Parallel()
	r, _ := newRelease(t)
	m := newMachine(t, r)
	m.run("npm", "install", "--omit=optional", "askback")
	host := nodeSystems[runtime.GOOS] + "-" + nodeProcessors[runtime.GOARCH]
	local := filepath.Join(m.home, "node_modules", ".bin", "askback")
	if got := m.fails(1, local, "version"); !strings.Contains(got, "not install the optional package @askback/"+host) ||
		!strings.Contains(got, "npm install --include=optional askback@0.1.0") {
		t.Errorf("without optional packages: got %q", got)
	}
	m.run("npm", "install", "--include=optional", "askback@0.1.0")
	if got, want := m.run(local, "version"), versionOf(t); got != want {
		t.Errorf("after the advice: got %q, want %q", got, want)
	}

	other := newMachine(t, r)
	other.run("npm", "install", "-g", "--os=darwin", "--cpu=arm64", "askback")
	got := other.fails(1, "askback", "version")
	if !strings.Contains(got, "it has @askback/darwin-arm64, but this is "+host) {
		t.Errorf("with the packages of another platform: got %q", got)
	}

	b := testBuild(t, "0.1.0", nil)
	b.programs = b.programs[1:]
	if err := npmPackages(b); err != nil {
		t.Fatal(err)
	}
	none := newMachine(t, npmtest.Start(t, filepath.Join(b.dist, "npm")))
	none.run("npm", "install", "-g", "askback")
	got = none.fails(1, "askback", "version")
	if !strings.Contains(got, "no program for "+host+", only for darwin-arm64, ") {
		t.Errorf("on another platform: got %q", got)
	}
}

// Two builds have the same bytes, and each package has the version of the release.
func TestNpmPackagesAreReproducible(t *testing.T) {
	t.Parallel()
	var sums [2]map[string][32]byte
	for i := range sums {
		b := testBuild(t, "0.3.0", []byte("a program"))
		if err := npmPackages(b); err != nil {
			t.Fatal(err)
		}
		sums[i] = map[string][32]byte{}
		entries, err := os.ReadDir(filepath.Join(b.dist, "npm"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(b.dist, "npm", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			sums[i][e.Name()] = sha256.Sum256(data)
			var m npmManifest
			files := npmtest.Archived(t, data)
			if err := json.Unmarshal(files["package/package.json"], &m); err != nil {
				t.Fatal(err)
			}
			if files["package/LICENSE"] == nil || len(m.OS) > 0 && files["package/THIRD_PARTY_LICENSES"] == nil {
				t.Errorf("%s has no licences", m.Name)
			}
			for name, version := range m.Optional {
				if version != "0.3.0" || !strings.HasPrefix(name, npmScope) {
					t.Errorf("%s depends on %s %s", m.Name, name, version)
				}
			}
			if isCommand := m.Name == "askback"; m.Version != "0.3.0" || isCommand != (len(m.Optional) == 3) ||
				isCommand == (len(m.OS) == 1 && len(m.CPU) == 1) {
				t.Errorf("got %+v", m)
			}
		}
	}
	if fmt.Sprint(sums[0]) != fmt.Sprint(sums[1]) || len(sums[0]) != 4 {
		t.Errorf("got %v and %v", sums[0], sums[1])
	}
}
