package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// A release is built again with caches of its own. All files of both builds are equal, the files of catalogues
// too, apart from the notes of GoReleaser.
func TestSecondBuildIsCompared(t *testing.T) {
	script := "chmod +x scripts/compare.sh\n" + stepScript(t, "build", "Build again, and compare")
	makes := `echo "$GOCACHE $XDG_CACHE_HOME" >caches; mkdir -p "$2"; cp -r again "$2/dist"`
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"metadata.json", "later", true},
		{"askback_0.1.0_checksums.txt", "other", false},
		{"homebrew/Casks/askback.rb", "other", false},
		{"aur/askback-bin.pkgbuild", "other", false},
		{"nix/pkgs/askback/default.nix", "other", false},
		{"scoop/askback.json", "other", false},
		{"server.json", "other", false},
		{"scoop/more.json", "more", false},
	} {
		files := map[string]string{"scripts/compare.sh": readText(t, "../scripts/compare.sh")}
		for _, name := range []string{
			"metadata.json", "askback_0.1.0_checksums.txt", "homebrew/Casks/askback.rb", "aur/askback-bin.pkgbuild",
			"nix/pkgs/askback/default.nix", "scoop/askback.json", "server.json",
		} {
			files["dist/"+name], files["again/"+name] = "same", "same"
		}
		files["again/"+c.name] = c.text
		temp := t.TempDir()
		out, dir, err := runStep(t, script, files, map[string]string{"git": "", "make": makes}, "RUNNER_TEMP="+temp,
			"GITHUB_SHA=abc")
		if (err == nil) != c.ok {
			t.Errorf("%s differs: got %v, want success %t\n%s", c.name, err, c.ok, out)
		}
		caches := strings.ReplaceAll(readText(t, filepath.Join(dir, "caches")), temp, "")
		if want := "/again/go /again/cache\n"; caches != want {
			t.Errorf("the second build has the caches %q, want %q", caches, want)
		}
	}
}

// The sums are what users compare files with, so their origin can be verified, too.
func TestChecksumsHaveProvenance(t *testing.T) {
	workflow := workflows(t)["../.github/workflows/release.yml"]
	if !strings.Contains(workflow, "subject-path: dist/askback_${{ needs.build.outputs.version }}_checksums.txt\n") {
		t.Error("the checksums are no subject of an attestation")
	}
}

// A draft is released only if it has exactly the files that were built.
func TestDraftIsComparedBeforeItsRelease(t *testing.T) {
	const (
		sums    = "askback_0.1.0_checksums.txt"
		program = "askback_0.1.0_linux_amd64.tar.gz"
	)
	line := func(text string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), program) }
	script := stepScript(t, "release", "Compare the draft with what was built")
	gh := `[ "$1 $2 $3 $4" = "release download v0.1.0 --dir" ] && cp -r uploaded "$5"`
	for name, c := range map[string]struct {
		draft map[string]string
		ok    bool
	}{
		"same":             {map[string]string{sums: line("built"), program: "built"}, true},
		"other program":    {map[string]string{sums: line("built"), program: "other"}, false},
		"with its sum":     {map[string]string{sums: line("other"), program: "other"}, false},
		"no program":       {map[string]string{sums: line("built")}, false},
		"no sums":          {map[string]string{program: "built"}, false},
		"one file more":    {map[string]string{sums: line("built"), program: "built", "install.sh": "other"}, false},
		"sums of nothing":  {map[string]string{sums: "", program: "built"}, false},
		"hidden file more": {map[string]string{sums: line("built"), program: "built", ".a": "other"}, false},
	} {
		files := map[string]string{"dist/" + sums: line("built"), "dist/" + program: "built"}
		for file, text := range c.draft {
			files["uploaded/"+file] = text
		}
		out, _, err := runStep(t, script, files, map[string]string{"gh": gh}, "VERSION=0.1.0", "GITHUB_REF_NAME=v0.1.0")
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want success %t\n%s", name, err, c.ok, out)
		}
	}
}

// The run of a tag can be repeated after newer releases, and a patch of an older version can be released. What
// leads to the newest version, or to the newest of its minor or major version, is never moved back.
func TestNewerReleaseStaysTheNewest(t *testing.T) {
	const release, minor, major, latest = "--latest=true", "crane tag 0.9", "git/refs/tags/v0", "crane tag latest"
	scripts := stepScript(t, "release", "Release the draft, and move the tag that the GitHub Action is used by")
	image := stepScript(t, "image", "Push the image")
	catalogue := stepScript(t, "catalogues", "Replace the file")
	bin := map[string]string{
		"gh": `case "$1 $2" in "release list") [ "$RELEASED" != unknown ] && printf "$RELEASED" ;; ` +
			`*) echo "$@" >>called ;; esac`,
		"go":  `case $3 in tag) echo "crane tag $5" >>called ;; esac`,
		"tar": "",
		"git": `case "$1 $2" in "diff --cached") exit 1 ;; esac; echo "$1" >>../called`,
	}
	for _, c := range []struct {
		released string
		want     []string
	}{
		{"", []string{release, minor, major, latest, "push"}},
		{`v0.9.0\nv0.8.12\n`, []string{release, minor, major, latest, "push"}},
		{`v0.9.10\nv0.9.0\n`, []string{"--latest=false"}},
		{`v0.10.0\nv0.9.1\n`, []string{"--latest=false", minor}},
		{`v1.0.0\nv0.9.1\n`, []string{"--latest=false", minor, major}},
		{"unknown", nil},
	} {
		var called string
		for _, script := range []string{scripts, image, catalogue} {
			out, dir, err := runStep(t, script, map[string]string{"dist/askback.rb": "a"}, bin, "VERSION=0.9.2",
				"GITHUB_REF_NAME=v0.9.2", "GITHUB_SHA=abc", "GH_REPO=askback/askback", "RELEASED="+c.released,
				"FILE=askback.rb", "TARGET=Casks/askback.rb", "GITHUB_ACTOR=ana", "GH_TOKEN=a")
			if (err != nil) != (c.released == "unknown") {
				t.Errorf("after %q: got %v\n%s", c.released, err, out)
			}
			text, _ := os.ReadFile(filepath.Join(dir, "called"))
			called += string(text)
		}
		for _, effect := range []string{release, "--latest=false", minor, major, latest, "push"} {
			if strings.Contains(called, effect) != slices.Contains(c.want, effect) {
				t.Errorf("after %q: got\n%swant %q", c.released, called, c.want)
			}
		}
	}
}
