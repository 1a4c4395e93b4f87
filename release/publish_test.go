package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// stepScript returns the script of a step of release.yml.
func stepScript(t *testing.T, job, name string) string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(workflows(t)["../.github/workflows/release.yml"]), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, step := range workflow.Jobs[job].Steps {
		if step.Name == name {
			return step.Run
		}
	}
	t.Fatalf("the job %s has no step %q", job, name)
	return ""
}

// runStep runs a script as a runner does, in a folder with files. The programs in bin replace programs of the
// machine.
func runStep(t *testing.T, script string, files, bin map[string]string, env ...string) (output, dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	programs := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range bin {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"),
		"GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), dir, err
}

const changes = "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [0.1.0] - 2026-12-01\n\n### Added\n\n- first\n\n" +
	"## [0.0.9] - 2026-11-01\n\n- earlier\n\n[0.1.0]: https://example.com\n"

// The draft has every file of the checksums, wherever it is in dist, and the notes of its version. Files of a
// draft are replaced when the job runs again, files of a release never.
func TestDraftHasEveryPublishedFile(t *testing.T) {
	files := map[string]string{
		"CHANGELOG.md": changes,
		"dist/askback_0.1.0_checksums.txt": strings.Repeat("0", 64) + "  askback_0.1.0_linux_amd64.tar.gz\n" +
			strings.Repeat("1", 64) + "  askback-0.1.0.tgz\n",
		"dist/askback_0.1.0_linux_amd64.tar.gz": "a", "dist/npm/askback-0.1.0.tgz": "b", "dist/config.yaml": "c",
	}
	all := "dist/askback_0.1.0_checksums.txt dist/askback_0.1.0_linux_amd64.tar.gz dist/npm/askback-0.1.0.tgz"
	script := stepScript(t, "github", "Make the draft")
	for state, want := range map[string]string{
		"":     "release create v0.1.0 --draft --verify-tag --title v0.1.0 --notes-file notes.md " + all,
		"true": "release upload v0.1.0 --clobber " + all, "false": "",
	} {
		gh := `case $2 in view) [ -n "` + state + `" ] && echo "` + state + `";; *) echo "$@" >called;; esac`
		out, dir, err := runStep(t, script, files, map[string]string{"gh": gh}, "VERSION=0.1.0",
			"GITHUB_REF_NAME=v0.1.0")
		called, _ := os.ReadFile(filepath.Join(dir, "called"))
		if (err != nil) != (want == "") || strings.TrimSpace(string(called)) != want {
			t.Errorf("draft %q: got %v, gh %s, want gh %s\n%s", state, err, called, want, out)
		}
		notes, _ := os.ReadFile(filepath.Join(dir, "notes.md"))
		if got, want := strings.TrimSpace(string(notes)), "### Added\n\n- first"; got != want {
			t.Errorf("got the notes %q, want %q", got, want)
		}
	}
}

// A tag is released only if its commit is on main and the changelog has its version.
func TestTagIsChecked(t *testing.T) {
	script := stepScript(t, "build", "Check the tag")
	for _, c := range []struct {
		tag, git string
		ok       bool
	}{{"v0.1.0", "true", true}, {"v0.2.0", "true", false}, {"v0.1.0", "false", false}} {
		out, dir, err := runStep(t, script, map[string]string{"CHANGELOG.md": changes}, map[string]string{"git": c.git},
			"GITHUB_REF_NAME="+c.tag, "GITHUB_SHA=abc")
		version, _ := os.ReadFile(filepath.Join(dir, "output"))
		if (err == nil) != c.ok || c.ok && string(version) != "version=0.1.0\n" {
			t.Errorf("%+v: got %v, %q\n%s", c, err, version, out)
		}
	}
}

// The package askback is published after the packages that it depends on. What is published already is left
// out.
func TestPackagesOfNpmArePublishedInOrder(t *testing.T) {
	script := stepScript(t, "npm", "Publish, the package askback last, because it depends on the others")
	npm := `case $1 in view) [ "$2" = published@0.1.0 ];; *) echo "$4 $5" >>called;; esac`
	tar := `case $2 in *sdk*) name=published;; *) name=new;; esac; echo "{\"name\": \"$name\", \"version\": \"0.1.0\"}"`
	jq := `sed 's/.*"name": "\([^"]*\)", "version": "\([^"]*\)".*/\1@\2/'`
	files := map[string]string{}
	for _, name := range []string{"askback", "askback-linux-x64", "askback-sdk", "askback-win32-x64"} {
		files["dist/npm/"+name+"-0.1.0.tgz"] = ""
	}
	out, dir, err := runStep(t, script, files, map[string]string{"npm": npm, "tar": tar, "jq": jq})
	called, _ := os.ReadFile(filepath.Join(dir, "called"))
	want := "public ./dist/npm/askback-linux-x64-0.1.0.tgz\npublic ./dist/npm/askback-win32-x64-0.1.0.tgz\n" +
		"public ./dist/npm/askback-0.1.0.tgz\n"
	if err != nil || string(called) != want {
		t.Errorf("got %v, npm publish of %s, want %s\n%s", err, called, want, out)
	}
}
