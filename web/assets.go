package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"github.com/askback/askback"
)

//go:embed assets
var files embed.FS

// assets are the static files. The path of each changes with its content.
type assets struct {
	paths map[string]string // "page.css" is at "/assets/page.1f0c….css"
	files map[string]asset
}

type asset struct {
	mediaType string
	body      []byte
}

var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func newAssets() assets {
	a := assets{map[string]string{}, map[string]asset{}}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	for _, e := range entries {
		body, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		end := path.Ext(e.Name())
		at := "/assets/" + strings.TrimSuffix(e.Name(), end) + "." + hex.EncodeToString(sum[:8]) + end
		a.paths[e.Name()], a.files[at] = at, asset{mediaTypes[end], body}
	}
	return a
}

// serve sends a static file. Browsers can cache it forever, because its path has a hash
// of its content.
func (a assets) serve(w http.ResponseWriter, r *http.Request) error {
	f, ok := a.files[r.URL.Path]
	if !ok {
		return askback.ErrNotFound
	}
	w.Header().Set("Content-Type", f.mediaType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(f.body)
	return nil
}
