package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A pyproject is what a release needs of pyproject.toml.
type pyproject struct {
	Project struct {
		Name           string            `toml:"name"`
		Description    string            `toml:"description"`
		Readme         string            `toml:"readme"`
		License        string            `toml:"license"`
		LicenseFiles   []string          `toml:"license-files"`
		RequiresPython string            `toml:"requires-python"`
		Keywords       []string          `toml:"keywords"`
		Classifiers    []string          `toml:"classifiers"`
		URLs           map[string]string `toml:"urls"`
		Version        string            `toml:"version"`
	} `toml:"project"`
}

// pythonPackages writes the client for Python as a wheel and as a source distribution.
func pythonPackages(b build) error {
	sources := filepath.Join(b.repository, "sdk", "python")
	text, err := os.ReadFile(filepath.Join(sources, "pyproject.toml"))
	if err != nil {
		return err
	}
	var p pyproject
	if err := toml.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("sdk/python/pyproject.toml: %w", err)
	}
	p.Project.Version = pythonVersion(b.version)
	if text, err = withVersion(text, `version = "`, p.Project.Version); err != nil {
		return fmt.Errorf("sdk/python/pyproject.toml: %w", err)
	}
	readme, err := os.ReadFile(filepath.Join(sources, p.Project.Readme))
	if err != nil {
		return err
	}
	var licenses []file
	for _, name := range p.Project.LicenseFiles {
		data, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			return err
		}
		licenses = append(licenses, file{name, 0o644, data})
	}
	modules, err := readFolder(filepath.Join(sources, "src"), ".py", ".typed")
	if err != nil {
		return err
	}
	folder := filepath.Join(b.dist, "python")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	name, metadata := p.Project.Name+"-"+p.Project.Version, p.metadata(readme)
	wheel := filepath.Join(folder, name+"-py3-none-any.whl")
	if err := writeWheel(wheel, name+".dist-info/", metadata, licenses, modules, b); err != nil {
		return err
	}
	all := append([]file{
		{"PKG-INFO", 0o644, metadata}, {p.Project.Readme, 0o644, readme}, {"pyproject.toml", 0o644, text},
	}, licenses...)
	for _, m := range modules {
		all = append(all, file{"src/" + m.name, m.mode, m.data})
	}
	for i := range all {
		all[i].name = name + "/" + all[i].name
	}
	return writeTarGz(filepath.Join(folder, name+".tar.gz"), all, b.time)
}

// metadata returns the core metadata of a package, version 2.4, with readme as its description.
func (p pyproject) metadata(readme []byte) []byte {
	var m bytes.Buffer
	line := func(name, value string) { fmt.Fprintf(&m, "%s: %s\n", name, value) }
	line("Metadata-Version", "2.4")
	line("Name", p.Project.Name)
	line("Version", p.Project.Version)
	line("Summary", p.Project.Description)
	line("License-Expression", p.Project.License)
	for _, name := range p.Project.LicenseFiles {
		line("License-File", name)
	}
	names := make([]string, 0, len(p.Project.URLs))
	for name := range p.Project.URLs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		line("Project-URL", name+", "+p.Project.URLs[name])
	}
	line("Keywords", strings.Join(p.Project.Keywords, ","))
	for _, c := range p.Project.Classifiers {
		line("Classifier", c)
	}
	line("Requires-Python", p.Project.RequiresPython)
	line("Description-Content-Type", "text/markdown")
	m.WriteByte('\n')
	m.Write(readme)
	return m.Bytes()
}

// writeWheel writes a wheel of modules. Its folder info has the metadata, the licences, and the sums of all
// files.
func writeWheel(path, info string, metadata []byte, licenses, modules []file, b build) error {
	files := slices.Clone(modules)
	for _, l := range licenses {
		files = append(files, file{info + "licenses/" + l.name, 0o644, l.data})
	}
	files = append(files, file{info + "METADATA", 0o644, metadata},
		file{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: askback (" + b.version + ")\n" +
			"Root-Is-Purelib: true\nTag: py3-none-any\n")})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	record.WriteString(info + "RECORD,,\n")
	files = append(files, file{info + "RECORD", 0o644, []byte(record.String())})

	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: b.time}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, archive.Bytes(), 0o644)
}

// semanticVersion matches a version with its pre-release.
var semanticVersion = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(.*))?$`)

// pythonVersion returns a version as PEP 440 writes it: 0.1.0-rc.1 is 0.1.0rc1. Any other pre-release, such
// as a snapshot, is a development version.
func pythonVersion(version string) string {
	m := semanticVersion.FindStringSubmatch(version)
	if m == nil || m[2] == "" {
		return version
	}
	for _, kind := range [][2]string{{"alpha.", "a"}, {"beta.", "b"}, {"rc.", "rc"}} {
		if number, ok := strings.CutPrefix(m[2], kind[0]); ok {
			return m[1] + kind[1] + number
		}
	}
	rest := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(m[2]), ".")
	return m[1] + ".dev0+" + strings.Trim(rest, ".")
}

// noVersion is the version of the clients in the repository. A release replaces it.
const noVersion = "0.0.0"

// withVersion returns a text in which the version after prefix, which must be noVersion, is replaced.
func withVersion(text []byte, prefix, version string) ([]byte, error) {
	return replaceOnce(text, prefix+noVersion+`"`, prefix+version+`"`)
}

// readFolder returns the files of a folder, sorted, whose names have one of the endings.
func readFolder(root string, endings ...string) (files []file, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(endings, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files = append(files, file{filepath.ToSlash(name), 0o644, data})
		return err
	})
	return files, err
}
