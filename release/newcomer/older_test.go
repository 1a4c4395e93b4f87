package newcomer_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// olderDeb returns a package that differs from another one in its version, which is older, and in its program,
// which is built with that version.
func olderDeb(t *testing.T, newer string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(dir string, command ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build the older package: %v: %v\n%s", command, err, out)
		}
	}
	run("../..", "go", "build", "-trimpath", "-ldflags", "-s -w -X main.release=v0.0.0-a", "-o", dir+"/askback",
		"./cmd/askback")
	program, err := os.ReadFile(dir + "/askback")
	if err != nil {
		t.Fatal(err)
	}
	run(dir, "ar", "x", newer)
	rewrite(t, dir+"/data.tar.gz", "./usr/bin/askback", func([]byte) []byte { return program })
	rewrite(t, dir+"/control.tar.gz", "./control", func(text []byte) []byte {
		return regexp.MustCompile(`(?m)^Version: .*`).ReplaceAll(text, []byte("Version: 0.0.0~a"))
	})
	run(dir, "ar", "rc", "older.deb", "debian-binary", "control.tar.gz", "data.tar.gz")
	return filepath.Join(dir, "older.deb")
}

// rewrite replaces a file in a compressed tar archive.
func rewrite(t *testing.T, archive, name string, replace func([]byte) []byte) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
	}
	compressed, err := os.ReadFile(archive)
	check(err)
	unzipped, err := gzip.NewReader(bytes.NewReader(compressed))
	check(err)
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	check(err)
	from, to := tar.NewReader(unzipped), tar.NewWriter(zipped)
	replaced := false
	for {
		header, err := from.Next()
		if err == io.EOF {
			break
		}
		check(err)
		data, err := io.ReadAll(from)
		check(err)
		if header.Name == name {
			data, replaced = replace(data), true
			header.Size = int64(len(data))
		}
		check(to.WriteHeader(header))
		_, err = to.Write(data)
		check(err)
	}
	check(to.Close())
	check(zipped.Close())
	if !replaced {
		t.Fatalf("%s has no file %s", archive, name)
	}
	check(os.WriteFile(archive, out.Bytes(), 0o644))
}
