package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback/internal/pages"
)

// serveDesign serves the design page until the program is stopped.
func serveDesign(address string) error {
	d, err := newDesign()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "The design is at http://%s/design\n", listener.Addr())
	return (&http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second}).Serve(listener)
}

// A design is the handler of /design. Its stories are rendered with the templates, the style
// sheet and the script of the product. Their forms and links do nothing.
type design struct {
	product http.Handler
	style   string // the style sheet
	frame   pages.Frame
	stories []story
}

// staticPaths find the static files in a page of the product.
var staticPaths = map[string]*regexp.Regexp{
	"style":   regexp.MustCompile(`rel="stylesheet" href="([^"]+)"`),
	"script":  regexp.MustCompile(`<script src="([^"]+)"`),
	"icon":    regexp.MustCompile(`rel="icon"[^>]* href="([^"]+)"`),
	"counted": regexp.MustCompile(`data-counted="([^"]+)"`),
	"touch":   regexp.MustCompile(`rel="apple-touch-icon" href="([^"]+)"`),
}

func newDesign() (*design, error) {
	p, err := newProduct()
	if err != nil {
		return nil, err
	}
	d := &design{product: p.handler}
	page, paths := d.get("/login"), map[string]string{}
	for name, pattern := range staticPaths {
		found := pattern.FindStringSubmatch(page)
		if found == nil {
			return nil, fmt.Errorf("a page of the product has no %s", name)
		}
		paths[name] = found[1]
	}
	d.style = d.get(paths["style"])
	d.frame = pages.Frame{
		Style: paths["style"], Script: paths["script"], Icon: paths["icon"], TouchIcon: paths["touch"],
		CountedIcon: paths["counted"], Now: p.now(),
	}
	d.stories, err = storiesOf(p, d.frame)
	return d, err
}

// get returns the body of a page of the product.
func (d *design) get(path string) string {
	w := httptest.NewRecorder()
	d.product.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
	return w.Body.String()
}

const designStyle = "/design.css"

func (d *design) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case strings.HasPrefix(r.URL.Path, "/assets/"):
		d.product.ServeHTTP(w, r)
	case r.URL.Path == designStyle:
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(themed(d.style, q.Get("theme"))))
	case r.URL.Path == "/design":
		d.serveIndex(w, q)
	case r.Method == http.MethodGet && q.Has("story"):
		d.serveStory(w, r, q)
	default:
		w.WriteHeader(http.StatusNoContent) // the browser stays on the page
	}
}

// themed returns the style sheet for one theme, regardless of the browser's preference.
func themed(style, theme string) string {
	media := map[string]string{"dark": "all", "light": "not all"}[theme]
	if media == "" {
		return style
	}
	return strings.ReplaceAll(style, "(prefers-color-scheme: dark)", media)
}

func (d *design) serveStory(w http.ResponseWriter, r *http.Request, q url.Values) {
	i := slices.IndexFunc(d.stories, func(s story) bool { return s.slug() == q.Get("story") })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	var page strings.Builder
	if err := d.stories[i].page.Render(r.Context(), &page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text := page.String()
	if theme := q.Get("theme"); theme != "" {
		text = strings.ReplaceAll(text, d.frame.Style, designStyle+"?theme="+url.QueryEscape(theme))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(text))
}

//go:embed design.html
var designPage string

var designTemplate = template.Must(template.New("design").Parse(designPage))

// A variable is a custom property of the style sheet, with its value in each theme.
type variable struct{ Name, Light, Dark string }

var variablePattern = regexp.MustCompile(`(--[a-z0-9-]+):\s*([^;]+);`)

// variables returns the custom properties of the style sheet, in order.
func variables(style string) []variable {
	var all []variable
	_, rest, _ := strings.Cut(style, ":root {")
	light, rest, _ := strings.Cut(rest, "}")
	for _, m := range variablePattern.FindAllStringSubmatch(light, -1) {
		all = append(all, variable{m[1], m[2], m[2]})
	}
	_, rest, _ = strings.Cut(rest, ":root {")
	dark, _, _ := strings.Cut(rest, "}")
	for _, m := range variablePattern.FindAllStringSubmatch(dark, -1) {
		for i := range all {
			if all[i].Name == m[1] {
				all[i].Dark = m[2]
			}
		}
	}
	return all
}

// A storyGroup is a part of the page with its stories.
type storyGroup struct {
	Name    string
	Stories []storyLink
}

type storyLink struct{ Name, Slug, Path string }

func (d *design) serveIndex(w http.ResponseWriter, q url.Values) {
	width, _ := strconv.Atoi(q.Get("width"))
	if width != 800 && width != 1400 {
		width = 360
	}
	height := 900
	if width == 360 {
		height = 740
	}
	var groups []storyGroup
	for _, s := range d.stories {
		if len(groups) == 0 || groups[len(groups)-1].Name != s.group {
			groups = append(groups, storyGroup{Name: s.group})
		}
		g := &groups[len(groups)-1]
		g.Stories = append(g.Stories, storyLink{s.name, s.slug(), s.address(q.Get("theme"))})
	}
	style := d.frame.Style
	if theme := q.Get("theme"); theme != "" {
		style = designStyle + "?theme=" + url.QueryEscape(theme)
	}
	var colors, sizes []variable
	for _, t := range variables(d.style) {
		switch {
		case strings.HasPrefix(t.Light, "#"):
			colors = append(colors, t)
		case strings.HasSuffix(t.Light, "rem"):
			sizes = append(sizes, t)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = designTemplate.Execute(w, map[string]any{
		"Style": style, "Theme": q.Get("theme"), "Width": width, "Height": height, "Groups": groups, "Colors": colors,
		"Sizes": sizes, "Widths": []int{360, 800, 1400}, "Themes": []string{"", "light", "dark"},
	})
}

// drawDesign writes pictures of the stories in each width and theme.
func drawDesign(folder, only string) error {
	d, err := newDesign()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	server := httptest.NewServer(d)
	defer server.Close()
	ctx, stop := newBrowser()
	defer stop()
	for _, s := range d.stories {
		for _, size := range [][2]int64{{360, 740}, {800, 900}, {1400, 900}} {
			for _, dark := range []bool{false, true} {
				p := picture{
					fmt.Sprintf("%s-%d%s", s.slug(), size[0], map[bool]string{true: "-dark"}[dark]), s.address(""),
					size[0], size[1], dark,
				}
				if !strings.Contains(p.name, only) {
					continue
				}
				if err := p.take(ctx, server.URL+p.path, filepath.Join(folder, p.name+".png"), false); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
			}
		}
	}
	return nil
}
