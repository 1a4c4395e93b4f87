package main

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Another user can write the list in a folder that both use. Only what the script installs is removed, however.
func TestUninstallRemovesOnlyWhatTheScriptInstalls(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, shell, newMirror(t), tools(t))
			foreign := filepath.Join(n.home, "shadow")
			writeFile(t, foreign, "of the system", 0o600)
			empty := filepath.Join(n.home, "empty")
			if err := os.Mkdir(empty, 0o755); err != nil {
				t.Fatal(err)
			}
			before := tree(t, n.home)
			n.mustRun(t)
			path := filepath.Join(n.home, ".local/share/askback/installed")
			list, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = list.WriteString("file " + foreign + "\nfolder " + empty + "\nprefix/../empty\n")
			if err := errors.Join(err, list.Close()); err != nil {
				t.Fatal(err)
			}
			n.mustRun(t) // keeps the lines of the list that it understands
			n.mustRun(t, "--uninstall")
			expectSame(t, "after uninstalling", before, tree(t, n.home))
		})
	}
}

// After its folder was moved, uninstalling leaves the old place alone. Folders that were there before stay.
func TestUninstallFollowsAMovedFolder(t *testing.T) {
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	if err := os.MkdirAll(filepath.Join(n.home, "old/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	empty := tree(t, filepath.Join(n.home, "old"))
	n.mustRun(t, "--prefix=old/")
	if err := os.Rename(filepath.Join(n.home, "old"), filepath.Join(n.home, "new")); err != nil {
		t.Fatal(err)
	}
	n.mustRun(t, "--prefix=old")
	before := tree(t, filepath.Join(n.home, "old"))
	n.mustRun(t, "--uninstall", "--prefix=new")
	expectSame(t, "after uninstalling from new", before, tree(t, filepath.Join(n.home, "old")))
	expectSame(t, "after uninstalling", empty, tree(t, filepath.Join(n.home, "new")))
	n.mustRun(t, "--uninstall", "--prefix=old")
	if _, err := os.Stat(filepath.Join(n.home, "old")); err == nil {
		t.Error("the folder that the script has made is left")
	}
}

// Root does not uninstall what another user has installed: that user can lead the names elsewhere.
func TestUninstallRefusesAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("LEFT OUT: only root can give a file to another user")
	}
	n := newNewcomer(t, []string{"sh"}, newMirror(t), tools(t))
	n.mustRun(t)
	if err := os.Lchown(filepath.Join(n.home, ".local/share/askback/installed"), 1234, 1234); err != nil {
		t.Fatal(err)
	}
	before := tree(t, n.home)
	out, err := n.run(t, "--uninstall")
	if err == nil {
		t.Error("the script succeeded")
	}
	expectOutput(t, out, "another user has installed askback in "+n.home+"/.local")
	expectSame(t, "after the refusal", before, tree(t, n.home))
}

// In a folder that others can write, links under the names of temporary files lead nowhere.
func TestInstallScriptFollowsNoLinks(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, shell, newMirror(t), tools(t))
			victim := filepath.Join(n.home, "victim")
			writeFile(t, victim, "of root", 0o600)
			for _, dir := range []string{"bin", "share/man/man1", "share/askback"} {
				writeFile(t, filepath.Join(n.home, ".local", dir, "other"), "other", 0o644)
			}
			before := tree(t, n.home)
			attack := `for name in bin/.askback share/man/man1/.askback.1 share/askback/.installed; do
				/bin/ln -s "$HOME/victim" "$HOME/.local/$name.$$" || exit
			done
			`
			if out, err := n.command(t.Context(), append([]byte(attack), script(t)...)).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			after := tree(t, n.home)
			if before["victim"] != after["victim"] {
				t.Errorf("the file was %q, and is %q", before["victim"], after["victim"])
			}
			if got, want := after[".local/bin/askback"], "-rwxr-xr-x "+string(fakeProgram(installed)); got != want {
				t.Errorf("bin/askback is %q, want %q", got, want)
			}
		})
	}
}

// Ctrl-C after the first file was written ends the script with a sentence, too.
func TestInterruptedStagingChangesNothing(t *testing.T) {
	m := newMirror(t)
	m.put(archiveName(installed), pack(t, contents([]byte("#!/bin/sh\nkill -INT 0\nsleep 60\n"))))
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, shell, m, tools(t))
			before := tree(t, n.home)
			c := n.command(t.Context(), script(t))
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := c.CombinedOutput()
			if err == nil {
				t.Error("the script succeeded")
			}
			n.expectUnchanged(t, before, string(out), "interrupted")
		})
	}
}

// A folder that cannot be written is a sentence.
func TestInstallScriptNamesAFolderItCannotWrite(t *testing.T) {
	bin := tools(t, "mktemp")
	writeFile(t, filepath.Join(bin, "mktemp"), `#!/bin/sh
case $2 in */man1/*) exit 1 ;; esac
PATH=/usr/bin:/bin exec mktemp "$@"
`, 0o755)
	newNewcomer(t, []string{"sh"}, newMirror(t), bin).expectNoChange(t, "cannot write to ")
}

// A download by https never continues by http, where another computer could change the files and their checksums.
func TestInstallScriptStaysWithHTTPS(t *testing.T) {
	m := newMirror(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/http"); ok {
			http.Redirect(w, r, m.URL+path, http.StatusFound)
		} else if path, ok := strings.CutPrefix(r.URL.Path, "/s"); ok {
			http.Redirect(w, r, path, http.StatusFound)
		} else {
			m.ServeHTTP(w, r)
		}
	}))
	defer secure.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, ca, string(authority), 0o644)
	settings := filepath.Join(t.TempDir(), "wgetrc")
	writeFile(t, settings, "ca_certificate = "+ca+"\n", 0o644)
	newUser := func(without, path string) *newcomer {
		n := newNewcomer(t, []string{"sh"}, m, tools(t, without))
		n.env = append(n.env, "CURL_CA_BUNDLE="+ca, "WGETRC="+settings, "ASKBACK_RELEASES="+secure.URL+path)
		return n
	}
	newUser("wget", "/s/releases").mustRun(t)
	newUser("wget", "/http/releases").expectNoChange(t, "cannot download")
	newUser("curl", "/http/releases").expectNoChange(t, "curl is needed")
}
