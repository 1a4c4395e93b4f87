package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/askback/askback/internal/pages"
)

//go:generate go run ../scripts/icons assets

// Paths of the files that make the pages an app on a phone.
const (
	manifestPath = "/manifest.webmanifest"
	workerPath   = "/sw.js"
	offlinePath  = "/offline"
)

// A manifest describes the pages as an app that can be installed.
type manifest struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	Description     string         `json:"description"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	ThemeColor      string         `json:"theme_color"`
	BackgroundColor string         `json:"background_color"`
	Icons           []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// addInstall adds the icons, the manifest and the service worker.
func (a *assets) addInstall() {
	m := manifest{
		ID: "/", Name: "Askback", ShortName: "Askback", Description: "Answer the questions of AI agents.",
		StartURL: "/", Scope: "/", Display: "standalone", ThemeColor: pages.ThemeLight,
		BackgroundColor: pages.ThemeLight,
		Icons:           []manifestIcon{{a.paths["icon.svg"], "any", mediaTypes[".svg"], "any"}},
	}
	for _, i := range []manifestIcon{
		{"icon-192.png", "192x192", "", "any"},
		{"icon-512.png", "512x512", "", "any"},
		{"icon-maskable-192.png", "192x192", "", "maskable"},
		{"icon-maskable-512.png", "512x512", "", "maskable"},
	} {
		i.Src, i.Type = a.add(i.Src, readAsset(i.Src)), mediaTypes[".png"]
		m.Icons = append(m.Icons, i)
	}
	a.touchIcon = a.add("icon-touch.png", readAsset("icon-touch.png"))
	a.manifest, _ = json.Marshal(m) // a struct of strings cannot fail
	a.worker = a.newWorker()
}

// newWorker returns the service worker. Its version changes with the static files, whose
// paths have hashes.
func (a *assets) newWorker() []byte {
	stored := append(slices.Sorted(maps.Keys(a.files)), offlinePath)
	list, _ := json.Marshal(stored) // strings cannot fail
	body := readAsset("sw.js")
	sum := sha256.Sum256(append(slices.Clone(list), body...))
	return slices.Concat([]byte("const version = \"askback-"+hex.EncodeToString(sum[:8])+"\";\nconst files = "), list,
		[]byte(";\n"), body)
}

// serveManifest sends the manifest.
func (a *assets) serveManifest(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = w.Write(a.manifest)
	return nil
}

// serveWorker sends the service worker.
func (a *assets) serveWorker(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", mediaTypes[".js"])
	_, _ = w.Write(a.worker)
	return nil
}

// offline is the page that the service worker stores, and shows if there is no connection. The page is the
// same for every person.
func (s *site) offline(w http.ResponseWriter, r *http.Request) error {
	frame := s.frame(r, "")
	frame.Reloads = false
	return s.render(w, r, http.StatusOK, pages.Message(frame, pages.Notice{
		Heading: "No connection",
		Body: []string{"Askback cannot be reached from this device right now. Nothing has changed. Agents keep " +
			"waiting, and what you typed in another window is still there."},
		Retry: true,
	}))
}
