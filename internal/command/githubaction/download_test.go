package githubaction_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/command/githubaction/actiontest"
	"github.com/askback/askback/test/kit/leftout"
)

// release serves a release 0.3.1 that has a script as its program. If changed is set, the archive is not the
// archive of the checksums.
func release(t *testing.T, changed bool) *httptest.Server {
	t.Helper()
	program := `#!/bin/sh
case $1 in
version) echo 'askback v0.3.1 go linux' ;;
*) echo decision=approved >>"$GITHUB_OUTPUT" ;;
esac
`
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, f := range [][2]string{
		{"askback", program},
		{"share/askback.bash", "a"},
		{"share/askback.fish", "a"},
		{"share/askback.zsh", "a"},
		{"share/askback.1", "a"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	archive := b.Bytes()
	var sums strings.Builder
	for _, platform := range []string{"linux_amd64", "linux_arm64", "linux_armv7", "darwin_amd64", "darwin_arm64"} {
		fmt.Fprintf(&sums, "%x  askback_0.3.1_%s.tar.gz\n", sha256.Sum256(archive), platform)
	}
	if changed {
		archive = append(archive, 0)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, _ := strings.CutPrefix(r.URL.Path, "/download/v0.3.1/"); {
		case r.URL.Path == "/latest":
			http.Redirect(w, r, "/tag/v0.3.1", http.StatusFound)
		case name == "askback_0.3.1_checksums.txt":
			_, _ = w.Write([]byte(sums.String()))
		case strings.HasSuffix(name, ".tar.gz") && name != r.URL.Path:
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// actionAt returns the action of this repository in the folder of a runner for actions with this ref.
func actionAt(t *testing.T, work, ref string) *actiontest.Action {
	t.Helper()
	repository, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(work, "_actions", "askback", "askback", filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(repository, folder); err != nil {
		t.Fatal(err)
	}
	action, err := actiontest.Read(filepath.Join(folder, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return action
}

// At the tag of a release, the action downloads the program of the release and compares its checksum. It does
// not run a program that differs, and a tag that moves must be the newest release. Within another composite action,
// GITHUB_ACTION_REF is the ref of the outer action, so it decides nothing.
func TestActionDownloadsTheProgramOfItsRelease(t *testing.T) {
	if runtime.GOOS == "windows" {
		leftout.Skip(t, "the download of the action (it builds on Windows)")
	}
	// Without the folders of Go and askback, a build is not possible.
	path := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		for _, name := range []string{"askback", "go"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
		return false
	})
	for _, c := range []struct {
		ref     string // of the action, which another action with the tag v0.3.1 uses
		changed bool
		want    string // part of the log, if the step fails
	}{
		{ref: "v0.3.1"},
		{ref: "v0"},
		{ref: "v0.3"},
		{"v0.3.1", true, "is damaged or changed"},
		{"v0.3.0", false, "cannot download"},
		{"v0.2", false, "v0.2 is not the newest release, v0.3.1"},
		{"v1", false, "v1 is not the newest release, v0.3.1"},
		{"main", false, "neither askback nor go is in the PATH"},
		{"fix/v0.3.1", false, "neither askback nor go is in the PATH"},
		{"5f0cd1e30fd1f2d1a6a0c2a6bd1d37a5bf8d2d11", false, "neither askback nor go is in the PATH"},
	} {
		temp := t.TempDir()
		action := actionAt(t, temp, c.ref)
		got, err := action.Run(t.Context(), actiontest.Job{
			Dir: temp, With: map[string]string{"action": "Deploy"},
			Environ: append(os.Environ(), "PATH="+strings.Join(path, string(os.PathListSeparator)),
				"RUNNER_TEMP="+temp, "RUNNER_OS=Linux", "GITHUB_ACTION_REF=v0.3.1",
				"ASKBACK_RELEASES="+release(t, c.changed).URL),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.Failed != (c.want != "") || !strings.Contains(got.Log, c.want) ||
			!got.Failed && got.Outputs["decision"] != "approved" {
			t.Errorf("%s, changed %t: got failed %t, outputs %v, want the log to have %q:\n%s", c.ref, c.changed,
				got.Failed, got.Outputs, c.want, got.Log)
		}
	}
}
