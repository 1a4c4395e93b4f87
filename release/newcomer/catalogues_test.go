package newcomer_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/release/fresh"
)

// catalogue returns a file of a catalogue, and skips the test if the release has no such file.
func catalogue(t *testing.T, name, why string) (path, text string) {
	t.Helper()
	path = filepath.Join(filepath.Dir(artefact(t, "askback_*_checksums.txt")), filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("LEFT OUT: dist has no %s: %s", name, why)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, string(data)
}

// checksums returns the sums of the artefacts, keyed by name.
func checksums(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(artefact(t, "askback_*_checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	sums := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		sums[name] = sum
	}
	return sums
}

// requireDownloads requires that each address in a text is the address of an artefact, whose sum follows or comes
// before it, and that there are at least so many.
func requireDownloads(t *testing.T, text, variable string, count int, sum func(string) string) {
	t.Helper()
	sums := checksums(t)
	text = strings.ReplaceAll(text, variable, version(t))
	const address = `https://github\.com/askback/askback/releases/download/v([^/"]+)/([^"')]+)`
	found := regexp.MustCompile(address).FindAllStringSubmatch(text, -1)
	if len(found) < count {
		t.Errorf("there are %d addresses, not %d:\n%s", len(found), count, text)
	}
	for _, match := range found {
		want := sums[match[2]]
		if match[1] != version(t) || want == "" {
			t.Errorf("%s is no address of an artefact", match[0])
		} else if !strings.Contains(text, sum(want)) {
			t.Errorf("%s: there is no sum %s", match[0], want)
		}
	}
}

// same returns a sum as it is.
func same(sum string) string { return sum }

// The cask is Ruby, and its sums are right. Homebrew does not run in this test.
func TestCaskHasTheSumsOfTheRelease(t *testing.T) {
	path, text := catalogue(t, "homebrew/Casks/askback.rb", "make release writes it")
	archives := 0 // a release for the tested platform has one
	for name := range checksums(t) {
		if regexp.MustCompile(`_(linux|darwin)_(amd64|arm64)\.tar\.gz$`).MatchString(name) {
			archives++
		}
	}
	requireDownloads(t, text, "#{version}", archives, same)
	if strings.Contains(text, "postflight do") || !strings.Contains(text, "{{staged_path}}/askback") {
		t.Errorf("the cask does not take the program out of quarantine as Homebrew requires:\n%s", text)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("LEFT OUT: the syntax of the cask (ruby is not installed)")
	}
	if out, err := exec.Command("ruby", "-c", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The manifest of Scoop has both platforms and their sums. Scoop does not run in this test.
func TestScoopHasTheSumsOfTheRelease(t *testing.T) {
	_, text := catalogue(t, "scoop/askback.json", "make release PLATFORMS=tested leaves Windows out")
	requireDownloads(t, text, "#{version}", 2, same)
	var manifest struct {
		Architecture map[string]struct{ Bin []string }
	}
	if err := json.Unmarshal([]byte(text), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"64bit", "arm64"} {
		if bin := manifest.Architecture[arch].Bin; len(bin) != 1 || bin[0] != "askback.exe" {
			t.Errorf("%s: got the programs %q", arch, bin)
		}
	}
}

// The package for Nix is parsed, and its sums are right. It is not built: that needs the packages of Nix.
func TestNixHasTheSumsOfTheRelease(t *testing.T) {
	for _, name := range []string{"nix-instantiate", "nix-hash"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: the package for Nix (%s is not installed)", name)
		}
	}
	path, text := catalogue(t, "nix/pkgs/askback/default.nix", "nix-hash was not installed")
	if out, err := exec.Command("nix-instantiate", "--parse", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	requireDownloads(t, text, "#{version}", 1, func(sum string) string {
		out, err := exec.Command("nix-hash", "--type", "sha256", "--to-base32", sum).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	})
}

// makepkg verifies the sources and builds the package for Arch Linux. In place of Arch, it runs in Debian, which has
// makepkg.
func TestPackageForArchIsBuilt(t *testing.T) {
	t.Parallel()
	path, text := catalogue(t, "aur/askback-bin.pkgbuild", "make release writes it")
	requireDownloads(t, text, "${pkgver}", 1, same)
	archive := artefact(t, "askback_*_linux_amd64.tar.gz")
	s := fresh.New(t, "makepkg", "pacman-package-manager", "libarchive-tools", "fakeroot", "binutils", "file")
	s.Copy(t, path, "/srv/PKGBUILD")
	// makepkg takes a source that is there already instead of its address.
	pkgver := strings.ReplaceAll(version(t), "-", "_")
	s.Copy(t, archive, "/srv/askback-bin_"+pkgver+"_x86_64.tar.gz")
	s.Run(t, "ana", `set -e
mkdir build && cd build && cp /srv/* . && PKGEXT=.pkg.tar.gz makepkg --nodeps >&2
mkdir root && bsdtar -xf ./*.pkg.tar.gz -C root
test -s root/usr/share/man/man1/askback.1.gz && test -s root/usr/share/licenses/askback-bin/THIRD_PARTY_LICENSES
bash -n root/usr/share/bash-completion/completions/askback`)
	got := s.Run(t, "ana", "build/root/usr/bin/askback version")
	if !strings.HasPrefix(got, "askback v"+version(t)+" ") {
		t.Errorf("got version %s", got)
	}
	s.Run(t, "ana", "echo changed >>build/askback-bin_"+pkgver+"_x86_64.tar.gz")
	_, _, err := s.Try(t, "ana", "cd build; makepkg --nodeps --force")
	if err == nil {
		t.Error("makepkg accepts a changed archive")
	}
}
