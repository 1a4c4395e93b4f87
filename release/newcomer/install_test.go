package newcomer_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
)

// version returns the version of the artefacts.
func version(t *testing.T) string {
	t.Helper()
	name := filepath.Base(artefact(t, "askback_*_checksums.txt"))
	return strings.TrimSuffix(strings.TrimPrefix(name, "askback_"), "_checksums.txt")
}

// downloads serves the artefacts at the addresses of GitHub. The latest release redirects to its version.
func downloads(t *testing.T) http.Handler {
	t.Helper()
	const releases = "/askback/askback/releases/"
	version := version(t)
	files := http.FileServer(http.Dir(os.Getenv("ASKBACK_DIST")))
	mux := http.NewServeMux()
	mux.HandleFunc(releases+"latest/download/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, releases+"download/v"+version+"/"+r.PathValue("name"), http.StatusFound)
	})
	mux.Handle(releases+"download/v"+version+"/", http.StripPrefix(releases+"download/v"+version, files))
	return mux
}

// The line of README.md installs askback for a user, and the next line of README.md asks a question. Afterwards
// --uninstall restores the home.
func TestNewcomerInstallsByScript(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	install := regexp.MustCompile(`(?m)^curl .*/install\.sh \| sh$`).FindString(string(readme))
	ask := regexp.MustCompile(`(?m)^askback ask .*$`).FindString(string(readme))
	if install == "" || ask == "" {
		t.Fatal("README.md has no line for install.sh, or no first question")
	}
	handler := downloads(t)
	s := fresh.New(t, "curl")
	s.Serve(t, map[string]http.Handler{"github.com": handler})
	before := s.Run(t, "ana", "find . | sort")

	begin := time.Now()
	t.Log(s.Run(t, "ana", install))
	asking := start(t, s, "ana", "exec "+ask+" </dev/null")
	eventually(t, "question", func() bool {
		return strings.Contains(s.Run(t, "ana", "askback list"), "Which database")
	})
	s.Run(t, "ana", "askback answer latest SQLite")
	eventually(t, "answer", asking.hasEnded)
	t.Logf("install.sh: %.1f s from nothing to an answered question", time.Since(begin).Seconds())
	if out := asking.output(); !strings.Contains(out, "SQLite") {
		t.Errorf("askback ask printed no answer:\n%s", out)
	}

	s.Run(t, "ana", install+" -s -- --version v"+version(t)) // again, while nothing has changed
	if got := s.Run(t, "ana", "askback version"); !strings.HasPrefix(got, "askback v"+version(t)+" ") {
		t.Errorf("got version %s", got)
	}
	s.Run(t, "ana", "man -w askback 2>/dev/null || test -s .local/share/man/man1/askback.1")
	t.Log(s.Run(t, "ana", install+" -s -- --uninstall"))
	s.Run(t, "ana", "rm -r .local/state && rmdir .local")
	if after := s.Run(t, "ana", "find . | sort"); after != before {
		t.Errorf("before:\n%safter uninstalling:\n%s", before, after)
	}
}
