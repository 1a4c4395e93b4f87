package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// command returns the path of a program that a test needs. Without it, the test is skipped.
func command(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const unit = "../packaging/systemd/askback.service"

// systemd reads every line of the unit. The copy names a program that exists here.
func TestUnitIsValid(t *testing.T) {
	analyze := command(t, "systemd-analyze")
	text := strings.ReplaceAll(readText(t, unit), "/usr/bin/askback", "/bin/true")
	text = strings.ReplaceAll(text, "man:askback(1) ", "")
	path := filepath.Join(t.TempDir(), "askback.service")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("got %v\n%s", err, out)
	}
}

// The exposure of the unit is at most 2 of 10.
func TestUnitIsHardened(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), command(t, "systemd-analyze"), "security", "--no-pager",
		"--offline=true", "--threshold=20", unit).CombinedOutput()
	if err != nil {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestMaintainerScriptsArePortable(t *testing.T) {
	scripts, err := filepath.Glob("../packaging/scripts/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, checker := range [][]string{{command(t, "shellcheck"), "--shell=dash"}, {command(t, "dash"), "-n"}} {
		for _, script := range scripts { // dash reads only the first file
			out, err := exec.CommandContext(t.Context(), checker[0], append(checker[1:], script)...).CombinedOutput()
			if err != nil {
				t.Errorf("%s %s: %v\n%s", checker[0], script, err, out)
			}
		}
	}
}

// The user of the unit is the same, whether a script or systemd-sysusers makes it, and owns what the unit uses.
func TestUserOfServiceIsTheSameEverywhere(t *testing.T) {
	script := readText(t, "../packaging/scripts/preinstall.sh")
	for _, c := range []struct{ file, pattern string }{
		{"../packaging/systemd/sysusers.conf", `(?m)^u askback - "Askback" /var/lib/askback /usr/sbin/nologin$`},
		{unit, `(?m)^User=askback$`},
		{unit, `(?m)^StateDirectory=askback$`},
		{unit, `(?m)^Environment=XDG_STATE_HOME=/var/lib$`},
		{unit, `(?m)^ExecStart=/usr/bin/askback serve --config /etc/askback/askback.yaml$`},
		{"../internal/local/service/service.go", `stateDir = "/var/lib/askback"`},
		{"../internal/local/service/service.go", `settings = "/etc/askback/askback.yaml"`},
	} {
		if !regexp.MustCompile(c.pattern).MatchString(readText(t, c.file)) {
			t.Errorf("%s does not match %s", c.file, c.pattern)
		}
	}
	for _, line := range []string{
		"useradd --system --user-group --no-create-home --home-dir /var/lib/askback --shell /usr/sbin/nologin",
		"adduser -S -D -H -h /var/lib/askback -s /sbin/nologin -G askback",
	} {
		if !strings.Contains(script, line) {
			t.Errorf("preinstall.sh does not run %s", line)
		}
	}
}

// Each file that GoReleaser puts into the packages is in the repository, or scripts/release.sh makes it.
func TestFilesOfPackagesExist(t *testing.T) {
	var settings struct {
		Packages []struct {
			Formats  []string `json:"formats"`
			Contents []struct{ Src, Dst, Type string }
			Scripts  map[string]string
		} `json:"nfpms"`
	}
	if err := yaml.Unmarshal([]byte(readText(t, "../.goreleaser.yaml")), &settings); err != nil {
		t.Fatal(err)
	}
	if len(settings.Packages) != 1 || !slices.Equal(settings.Packages[0].Formats, []string{"deb", "rpm", "apk"}) {
		t.Fatalf("got %+v, want one description of three formats", settings.Packages)
	}
	packages, script := settings.Packages[0], readText(t, "../scripts/release.sh")
	sources := slices.Collect(maps.Values(packages.Scripts))
	for _, c := range packages.Contents {
		if c.Type != "dir" {
			sources = append(sources, c.Src)
		}
	}
	if len(sources) < 15 {
		t.Errorf("the packages have only the files %q", sources)
	}
	for _, source := range sources {
		name := filepath.Base(source)
		switch {
		case strings.HasPrefix(source, "bin/packages/") && strings.HasSuffix(source, ".sh"):
			source = "packaging/scripts/" + name
		case strings.HasPrefix(source, "bin/"):
			shell := strings.TrimPrefix(name, "askback.")
			if !strings.Contains(script, source) && !regexp.MustCompile(`for shell in .*\b`+shell+`\b`).MatchString(script) {
				t.Errorf("scripts/release.sh does not make %s", source)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join("..", source)); err != nil {
			t.Error(err)
		}
	}
}

func TestSysusersFileIsValid(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("../packaging/systemd/sysusers.conf")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.CommandContext(t.Context(), command(t, "systemd-sysusers"), "--root="+root, "-")
	cmd.Stdin = file
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(readText(t, filepath.Join(root, "etc/passwd")), ":/var/lib/askback:") {
		t.Errorf("got %v\n%s", err, out)
	}
}
