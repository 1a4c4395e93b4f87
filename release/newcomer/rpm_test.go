package newcomer_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/release/fresh"
)

// rpm installs the package in a system of its own, finds every file unchanged, and erases it without the data. No
// test runs Fedora or Red Hat: their packages cannot be installed from here.
func TestRPMIsInstalledVerifiedAndErased(t *testing.T) {
	path := artefact(t, "askback-*.x86_64.rpm")
	s := fresh.New(t, "rpm")
	s.Copy(t, path, "/srv/askback.rpm")
	const rpm = "rpm --force-debian " // Debian's rpm refuses packages that it could not install with dpkg
	s.Run(t, "root", rpm+"-U --nosignature --nodeps /srv/askback.rpm")
	s.Run(t, "root", rpm+"-V --nodeps askback")
	ownersAreRight(t, s)
	// c and n: a settings file that an upgrade does not replace.
	flags := s.Run(t, "root", rpm+`-q --qf '[%{FILENAMES} %{FILEFLAGS:fflags}\n]' askback | grep ' .*c'`)
	if flags != "/etc/askback/askback.yaml cn\n" {
		t.Errorf("got the settings files %s", flags)
	}
	server := startUnit(t, s)
	s.Run(t, "askback", "export HOME=/var/lib/askback; "+leaveOpen("askback", "Still there?"))
	ask := s.Run(t, "root", "runuser -u askback -- askback list")
	if !strings.Contains(ask, "Still there?") {
		t.Errorf("the ask is not open: %s", ask)
	}
	s.Run(t, "root", "echo '# changed' >>/etc/askback/askback.yaml && "+rpm+"-U --nodeps --force /srv/askback.rpm")
	s.Run(t, "root", "grep -q changed /etc/askback/askback.yaml")
	server.stop(t)
	server = startUnit(t, s)
	if got := s.Run(t, "root", "runuser -u askback -- askback list"); !strings.Contains(got, "Still there?") {
		t.Errorf("after the upgrade the ask is not open: %s", got)
	}
	server.stop(t)
	if out := s.Run(t, "root", rpm+"-e askback 2>&1"); !strings.Contains(out, "rm -r /var/lib/askback") {
		t.Errorf("the removal does not name the data that it keeps:\n%s", out)
	}
	s.Run(t, "root", "test -e /var/lib/askback/askback.db && ! command -v askback")
	s.Run(t, "root", "test -e /etc/askback/askback.yaml.rpmsave")
}

// The package for Alpine has the files, owners and modes of the package for Debian. No test runs Alpine: its
// packages cannot be installed from here.
func TestAPKHasTheFilesOfTheDeb(t *testing.T) {
	deb := artefact(t, "askback_*_amd64.deb")
	apk, err := os.ReadFile(artefact(t, "askback_*_x86_64.apk"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := exec.CommandContext(t.Context(), "dpkg-deb", "--fsys-tarfile", deb).Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("dpkg-deb is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	want := entries(t, bytes.NewReader(data))
	renamed := map[string]string{
		"usr/share/zsh/vendor-completions/_askback":  "usr/share/zsh/site-functions/_askback",
		"usr/share/doc/askback/THIRD_PARTY_LICENSES": "usr/share/licenses/askback/THIRD_PARTY_LICENSES",
		"usr/share/doc/askback/copyright":            "",
		"usr/share/doc/askback/changelog.gz":         "",
	}
	for from, to := range renamed {
		if to != "" {
			want[to] = want[from]
		}
		delete(want, from)
	}
	control, got := map[string]string{}, map[string]string{}
	// The format is several archives after each other, of which the last has the files.
	buffered := bufio.NewReader(bytes.NewReader(apk))
	for _, err := buffered.Peek(1); err == nil; _, err = buffered.Peek(1) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			t.Fatal(err)
		}
		unzipped.Multistream(false)
		maps.Copy(control, got)
		got = entries(t, unzipped)
		if _, err := io.Copy(io.Discard, unzipped); err != nil {
			t.Fatal(err)
		}
	}
	delete(got, "usr/share/licenses/askback/LICENSE")
	if !maps.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", lines(got), lines(want))
	}
	for _, name := range []string{".PKGINFO", ".pre-install", ".post-install", ".pre-deinstall", ".post-deinstall"} {
		if control[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
}

// entries returns the files of a tar archive, and the directories that only this package has, with their owners
// and modes.
func entries(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	all := map[string]string{}
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) { // the first archives of an apk have no end
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(strings.TrimPrefix(h.Name, "./"), "/")
		if h.Typeflag == tar.TypeDir && h.Uname == "root" && h.Gname == "root" {
			continue
		}
		all[name] = fmt.Sprintf("%s:%s %o %d", h.Uname, h.Gname, h.Mode&0o7777, h.Size)
	}
}

func lines(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s %s\n", name, files[name])
	}
	return b.String()
}
