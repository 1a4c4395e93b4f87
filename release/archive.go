package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A file is an entry of an archive, or a folder if its name ends with a slash.
type file struct {
	name string      // with slashes
	mode fs.FileMode // the permissions as Unix has them
	data []byte
}

// tarball returns a tar archive of files, in the given order. A file belongs to root, or to the user and group in
// owners. Owners and times do not depend on the machine.
func tarball(files []file, owners map[string]int, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		owner := owners[f.name]
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Uid: owner, Gid: owner, Size: int64(len(f.data)),
			ModTime: at, Format: tar.FormatPAX,
		}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zippedTarball returns a compressed tar archive.
func zippedTarball(files []file, owners map[string]int, at time.Time) ([]byte, error) {
	plain, err := tarball(files, owners, at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTarGz writes a compressed tar archive of files to path.
func writeTarGz(path string, files []file, at time.Time) error {
	data, err := zippedTarball(files, nil, at)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// replaceOnce replaces a text, which must be there once.
func replaceOnce(text []byte, old, replacement string) ([]byte, error) {
	if n := bytes.Count(text, []byte(old)); n != 1 {
		return nil, fmt.Errorf("%q is there %d times, not once", old, n)
	}
	return bytes.Replace(text, []byte(old), []byte(replacement), 1), nil
}
