// Package npmtest has a registry of npm for tests.
package npmtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Registry is a registry of npm, which only has the packages of a test.
type Registry struct {
	// URL is the address of the registry. It is part of the addresses of archives.
	URL string

	mu       sync.Mutex
	versions map[string][]map[string]any // of each package, the newest last
	archives map[string][]byte           // by the path of their address
	strange  []string                    // requests for something else
}

// New returns a registry at an address, with the packages in a folder.
func New(t testing.TB, url, folder string) *Registry {
	t.Helper()
	r := &Registry{URL: url, versions: map[string][]map[string]any{}, archives: map[string][]byte{}}
	r.Publish(t, folder)
	return r
}

// Start returns a running registry on loopback, with the packages in a folder.
func Start(t testing.TB, folder string) *Registry {
	t.Helper()
	var r *Registry
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.ServeHTTP(w, q) }))
	t.Cleanup(server.Close)
	r = New(t, server.URL, folder)
	return r
}

// Publish adds the packages in a folder. The last package with a name is the latest version.
func (r *Registry) Publish(t testing.TB, folder string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no packages: %v", folder, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var manifest map[string]any
		if err := json.Unmarshal(Archived(t, data)["package/package.json"], &manifest); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(data)
		at := "/-/" + filepath.Base(path)
		manifest["dist"] = map[string]string{
			"tarball": r.URL + at, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		name, _ := manifest["name"].(string)
		r.mu.Lock()
		r.archives[at] = data
		r.versions[name] = append(r.versions[name], manifest)
		r.mu.Unlock()
	}
}

// ServeHTTP replies to the requests of npm. It also records requests that a proxy gets.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if data, ok := r.archives[q.URL.Path]; ok {
		_, _ = w.Write(data)
		return
	}
	name, _ := url.PathUnescape(strings.TrimPrefix(q.URL.EscapedPath(), "/"))
	all := r.versions[name]
	if len(all) == 0 {
		r.strange = append(r.strange, q.Method+" "+q.Host+q.URL.String())
		http.NotFound(w, q)
		return
	}
	versions := map[string]any{}
	for _, one := range all {
		versions[one["version"].(string)] = one
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name": name, "versions": versions,
		"dist-tags": map[string]any{"latest": all[len(all)-1]["version"]},
	})
}

// Others returns the requests for anything but the packages.
func (r *Registry) Others() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.strange
}

// Archived returns the files in a compressed tar archive.
func Archived(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
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
