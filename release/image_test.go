package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// newImageBuild returns a build whose programs are short texts.
func newImageBuild(t *testing.T) build {
	t.Helper()
	b := build{
		dist: t.TempDir(), repository: t.TempDir(), version: "1.2.3", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, p := range []program{
		{OS: "windows", Arch: "amd64"},
		{OS: "linux", Arch: "amd64"},
		{OS: "linux", Arch: "arm64"},
		{OS: "linux", Arch: "arm", ARM: "7"},
	} {
		p.Path = filepath.Join(b.dist, p.OS+p.Arch)
		if err := os.WriteFile(p.Path, []byte("program for "+p.OS+" "+p.Arch+p.ARM), 0o755); err != nil {
			t.Fatal(err)
		}
		b.programs = append(b.programs, p)
	}
	licenses := filepath.Join(b.repository, "bin", "share")
	if err := errors.Join(os.MkdirAll(licenses, 0o755),
		os.WriteFile(filepath.Join(licenses, "THIRD_PARTY_LICENSES"), []byte("licences"), 0o644),
		os.WriteFile(filepath.Join(b.repository, "LICENSE"), []byte("licence"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return b
}

// openImage returns the images in the tar archive of a layout, by platform.
func openImage(t *testing.T, path string) map[string]v1.Image {
	t.Helper()
	dir := t.TempDir()
	for name, data := range readTar(t, path) {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := root.IndexManifest()
	if err != nil || len(outer.Manifests) != 1 {
		t.Fatalf("index.json has %v (%v), want one index", outer, err)
	}
	if got := outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != imageName+":1.2.3" {
		t.Errorf("the name of the image is %q", got)
	}
	index, err := root.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.Image{}
	for _, m := range inner.Manifests {
		if images[m.Platform.String()], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return images
}

// readTar returns the files of a tar archive.
func readTar(t *testing.T, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// Each platform has its own program. All else is the same, and belongs to root, except for the volume.
func TestImageHasProgramUserAndCertificates(t *testing.T) {
	b := newImageBuild(t)
	if err := image(b); err != nil {
		t.Fatal(err)
	}
	images := openImage(t, filepath.Join(b.dist, "askback_1.2.3_image.tar"))
	programs := map[string]string{
		"linux/amd64": "program for linux amd64", "linux/arm64": "program for linux arm64",
		"linux/arm/v7": "program for linux arm7",
	}
	if len(images) != len(programs) {
		t.Errorf("the image has %d platforms, want %d", len(images), len(programs))
	}
	want := `drwx------ 65532 data/
drwxr-xr-x 0 etc/
-rw-r--r-- 0 etc/group
-rw-r--r-- 0 etc/passwd
drwxr-xr-x 0 etc/ssl/
drwxr-xr-x 0 etc/ssl/certs/
-rw-r--r-- 0 etc/ssl/certs/ca-certificates.crt
dtrwxrwxrwx 0 tmp/
drwxr-xr-x 0 usr/
drwxr-xr-x 0 usr/bin/
-rwxr-xr-x 0 usr/bin/askback
drwxr-xr-x 0 usr/share/
drwxr-xr-x 0 usr/share/doc/
drwxr-xr-x 0 usr/share/doc/askback/
-rw-r--r-- 0 usr/share/doc/askback/LICENSE
-rw-r--r-- 0 usr/share/doc/askback/THIRD_PARTY_LICENSES
`
	for platform, text := range programs {
		list, files := unpackImage(t, images[platform])
		if got := string(files["usr/bin/askback"]); got != text {
			t.Errorf("%s: the program is %q, want %q", platform, got, text)
		}
		if list != want {
			t.Errorf("%s has the files\n%s\nwant\n%s", platform, list, want)
		}
		if got := string(files["etc/passwd"]); !strings.Contains(got, "\naskback:x:65532:65532:Askback:/data:") {
			t.Errorf("%s: passwd is %q", platform, got)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) {
			t.Errorf("%s: there is no certificate", platform)
		}
	}
	if n := strings.Count(string(certificates()), "BEGIN CERTIFICATE"); n < 100 {
		t.Errorf("there are %d certificates, want the list of Mozilla", n)
	}
}

// unpackImage returns a line for each file of an image, in the order of the names, and the contents.
func unpackImage(t *testing.T, img v1.Image) (list string, files map[string][]byte) {
	t.Helper()
	in := mutate.Extract(img)
	defer in.Close()
	var lines []string
	files = map[string][]byte{}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != h.Gid || !h.ModTime.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
			t.Errorf("%s belongs to %d:%d and is of %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if h.Typeflag == tar.TypeDir {
			name += "/"
		}
		lines = append(lines, name+" "+fmt.Sprintf("%v %d %s\n", h.FileInfo().Mode(), h.Uid, name))
		if files[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		_, line, _ = strings.Cut(line, " ")
		list += line
	}
	return list, files
}

// A container needs no root, listens on its default port, and keeps its state in the volume.
func TestImageRunsTheServer(t *testing.T) {
	b := newImageBuild(t)
	if err := image(b); err != nil {
		t.Fatal(err)
	}
	for platform, img := range openImage(t, filepath.Join(b.dist, "askback_1.2.3_image.tar")) {
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Platform().String(); got != platform {
			t.Errorf("the configuration of %s is for %s", platform, got)
		}
		c := config.Config
		_, volume := c.Volumes["/data"]
		got := fmt.Sprintf("%s %v %v %v %t %s %v %s %v", c.User, c.Entrypoint, c.Cmd, c.Env, volume, c.WorkingDir,
			c.Healthcheck.Test, c.Labels["org.opencontainers.image.version"], config.Created)
		want := "65532:65532 [/usr/bin/askback] [serve --listen :7575] " +
			"[PATH=/usr/bin HOME=/data XDG_STATE_HOME=/data] true /data " +
			"[CMD /usr/bin/askback doctor --ready] 1.2.3 2026-01-02 03:04:05 +0000 UTC"
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", platform, got, want)
		}
	}
}

func TestImageIsReproducible(t *testing.T) {
	var first []byte
	for range 2 {
		b := newImageBuild(t)
		t.Setenv("TMPDIR", t.TempDir())
		if err := image(b); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(b.dist, "askback_1.2.3_image.tar"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, text) {
			t.Error("two images of one build differ")
		}
		first = text
	}
}

func TestImageNeedsEveryPlatform(t *testing.T) {
	b := newImageBuild(t)
	b.programs[3].ARM = "6"
	if err := image(b); err == nil || !strings.Contains(err.Error(), "linux/arm/v7: the release has no program") {
		t.Errorf("without a program for armv7, the error is %v", err)
	}
	t.Setenv("PLATFORMS", "tested")
	if err := image(b); err != nil {
		t.Errorf("for the tested platform, the error is %v", err)
	}
	images := openImage(t, filepath.Join(b.dist, "askback_1.2.3_image.tar"))
	if images["linux/amd64"] == nil || images["linux/arm/v7"] != nil {
		t.Errorf("the image for the tested platform has %v", images)
	}
}

// A user who starts the files of a release again does not get another version.
func TestManifestsOfAReleaseNameItsVersion(t *testing.T) {
	b := newImageBuild(t)
	b.repository = ".."
	if err := manifests(b); err != nil {
		t.Fatal(err)
	}
	for _, name := range manifestFiles {
		text, err := os.ReadFile(filepath.Join(b.dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "image: ghcr.io/askback/askback:1.2.3\n") ||
			strings.Contains(string(text), ":latest") {
			t.Errorf("%s names another version", name)
		}
	}
}
