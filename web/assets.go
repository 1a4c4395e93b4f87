package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
)

//go:embed assets
var files embed.FS

// scripts are the parts of the script of every page, in order. The first two are htmx 4.0.1 and its extension
// for event streams, unchanged (docs/design/packages.md, "Libraries"). They are served as one file. htmx
// starts in the first task after its script, and an extension in a separate file may arrive later.
var scripts = []string{
	"htmx.js", "hx-sse.js", "page.js", "draft.js", "hold.js", "seen.js", "guard.js", "inbox.js", "search.js",
	"undo.js", "pages.js", "select.js", "menu.js", "connection.js", "copy.js", "alerts.js", "push.js",
	"install.js", "run.js", "zone.js",
}

// styles are the parts of the style sheet, in order. They are served as one file.
var styles = []string{
	"tokens.css", "base.css", "inbox.css", "held.css", "ask.css", "pages.css", "history.css", "deliveries.css",
	"people.css", "run.css", "phone.css",
}

// assets contains the static files. The path of a file changes with its content.
type assets struct {
	paths  map[string]string // "icon.svg" is at "/assets/icon.1f0c….svg"
	files  map[string]asset
	style  string // path of the style sheet
	script string // path of the script
	seen   string // path of the script of a link: it records that an ask was seen, and tells the time zone

	touchIcon        string // path of the icon on the home screen of a phone
	countedIcon      string // path of an icon with a number; see [pages.Frame.CountedIcon]
	manifest, worker []byte
}

type asset struct {
	mediaType string
	body      []byte
}

var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png",
}

func newAssets() assets {
	a := assets{paths: map[string]string{}, files: map[string]asset{}}
	a.add("icon.svg", readAsset("icon.svg"))
	a.style = a.add("page.css", concatenate(styles))
	a.script = a.add("page.js", concatenate(scripts))
	a.seen = a.add("seen.js", concatenate([]string{"seen.js", "linkzone.js"}))
	a.addCountedIcons()
	a.addInstall()
	return a
}

// badge is the part of an icon that shows the number of open asks.
const badge = `<circle cx="21.500" cy="21.500" r="10.500" fill="#b3261e"/><text x="21.500" y="27.500" text-anchor="middle" font-family="sans-serif" font-size="%d" font-weight="700" fill="#fff">%s</text></svg>`

// addCountedIcons adds the icon with the numbers 1 to 9, and with 9+. The icons are files, because the policy
// allows no other images. Their paths differ only in the number.
func (a *assets) addCountedIcons() {
	icon := strings.TrimSuffix(strings.TrimSpace(string(readAsset("icon.svg"))), "</svg>")
	sum := sha256.Sum256([]byte(icon + badge))
	a.countedIcon = "/assets/icon-" + pages.IconNumber + "." + hex.EncodeToString(sum[:8]) + ".svg"
	for n := 1; n <= 10; n++ {
		name, shown, size := strconv.Itoa(n), strconv.Itoa(n), 17
		if n == 10 {
			name, shown, size = "many", "9+", 12
		}
		body := icon + fmt.Sprintf(badge, size, shown)
		a.files[strings.ReplaceAll(a.countedIcon, pages.IconNumber, name)] = asset{mediaTypes[".svg"], []byte(body)}
	}
}

// add adds a file and returns its path.
func (a *assets) add(name string, body []byte) string {
	sum := sha256.Sum256(body)
	end := path.Ext(name)
	at := "/assets/" + strings.TrimSuffix(name, end) + "." + hex.EncodeToString(sum[:8]) + end
	a.paths[name], a.files[at] = at, asset{mediaTypes[end], body}
	return at
}

// concatenate returns the content of the named files. A line break follows each file.
func concatenate(names []string) []byte {
	var all []byte
	for _, name := range names {
		all = append(append(all, readAsset(name)...), '\n')
	}
	return all
}

// readAsset returns an embedded file.
func readAsset(name string) []byte {
	body, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return body
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
