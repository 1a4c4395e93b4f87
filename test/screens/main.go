// Command screens writes pictures of the pages and of the terminal, for the documentation and for reviewing a
// change. Pictures of pages need Chromium. With -only terminal, it writes only the pictures of the terminal.
//
//	go run ./test/screens -o FOLDER [-only NAME]
//	go run ./test/screens -docs
//	go run ./test/screens -design [-o FOLDER] [-only NAME]
//
// With -design, it serves /design, a page that shows every template in its states. With -o, it writes
// pictures of the templates instead.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

func main() {
	folder := flag.String("o", "", "write all pictures into this `folder`")
	docs := flag.Bool("docs", false, "write the pictures of the documentation into docs/pictures, compressed")
	only := flag.String("only", "", "write only the pictures whose name contains this `text`")
	design := flag.Bool("design", false, "serve /design, or with -o write pictures of its stories")
	address := flag.String("addr", "127.0.0.1:7576", "the `address` of /design")
	flag.Parse()
	var err error
	name, isTerminal := os.LookupEnv(asTerminal)
	switch {
	case isTerminal:
		err = showTerminal(name)
	case *design && *folder == "":
		err = serveDesign(*address)
	case *design:
		err = drawDesign(*folder, *only)
	case *docs == (*folder != ""):
		fmt.Fprintln(os.Stderr, "screens: give either -o, -docs or -design")
		os.Exit(2)
	default:
		err = run(*folder, *only, *docs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

// A picture is a page in a window.
type picture struct {
	name          string
	path          string // "{NAME}" stands for the id of the ask with this name
	width, height int64
	dark          bool
}

var pictures = []picture{
	{"inbox", "/", 1400, 900, false},
	{"inbox-dark", "/", 1400, 900, true},
	{"inbox-phone", "/", 360, 740, false},
	{"inbox-800", "/", 800, 900, false},
	{"inbox-view", "/?age=1h#view-age", 1400, 900, false},
	{"inbox-view-phone", "/?age=1h#view-age", 360, 740, true},
	{"menu-800", "/people#menu-pages", 800, 600, false},
	{"select-phone", "/?select=1", 360, 740, false},
	{"groups", "/?order=urgent&group=agent", 1400, 900, false},
	{"decide", "/decide?ask={mail}&ask={label}&ask={migrate}&ask={short}", 1400, 900, false},
	{"decide-phone", "/decide?ask={mail}&ask={label}&ask={migrate}&ask={short}", 360, 740, true},
	{"question", "/asks/{database}", 1400, 900, false},
	{"question-phone", "/asks/{database}", 360, 740, false},
	{"question-phone-dark", "/asks/{short}", 360, 740, true},
	{"form", "/asks/{form}", 1400, 900, false},
	{"approval", "/asks/{mail}", 1400, 900, false},
	{"approval-phone", "/asks/{mail}", 360, 740, false},
	{"dangerous", "/asks/{migrate}", 1400, 900, true},
	{"dangerous-phone", "/asks/{migrate}", 360, 740, false},
	{"snooze", "/asks/{short}#snooze-at", 1400, 900, false},
	{"snooze-phone-dark", "/asks/{short}#snooze-at", 360, 740, true},
	{"snoozed", "/?snoozed=only", 1400, 900, true},
	{"snoozed-ask-phone", "/asks/{later}", 360, 740, false},
	{"settled", "/asks/{settled}", 1400, 900, false},
	{"settled-phone", "/asks/{settled}", 360, 740, false},
	{"history", "/history", 1400, 900, false},
	{"history-ask-dark", "/history/{settled}?agent=planner&from=2026-10-01", 1400, 900, true},
	{"history-search", "/history?q=table+orders", 1400, 900, false},
	{"history-800", "/history", 800, 900, false},
	{"history-phone", "/history", 360, 740, false},
	{"history-phone-dark", "/history?outcome=denied", 360, 740, true},
	{"sessions", "/sessions", 1400, 900, false},
	{"sessions-phone", "/sessions", 360, 740, false},
	{"session", "/sessions/{session}", 1400, 900, true},
	{"session-phone", "/sessions/{session}", 360, 740, false},
	{"grants", "/grants", 1400, 900, false},
	{"grants-800-dark", "/grants", 800, 900, true},
	{"grants-phone", "/grants", 360, 740, false},
	{"agents", "/agents", 1400, 900, false},
	{"agents-phone", "/agents", 360, 740, false},
	{"people-800", "/people", 800, 900, false},
	{"numbers", "/numbers?period=7d", 1400, 900, false},
	{"numbers-800-dark", "/numbers?period=7d", 800, 900, true},
	{"numbers-phone", "/numbers?period=7d", 360, 740, false},
	{"tokens-phone", "/tokens", 360, 740, false},
	{"more-phone", "/more", 360, 740, false},
}

// documented lists the pictures of the documentation, without the moving picture.
var documented = []string{"approval-phone", "terminal-inbox", "terminal-approval"}

// A product is an engine with fixtures and its pages.
type product struct {
	engine  *engine.Engine
	handler http.Handler
	ids     map[string]string // the ids of the asks of the fixtures, by their names
	now     func() time.Time
}

func newProduct() (*product, error) {
	now := time.Date(2026, 11, 3, 18, 30, 0, 0, time.UTC)
	p := &product{now: func() time.Time { return now }}
	p.engine = engine.New(memstore.New(), &engine.Options{Now: p.now})
	p.handler = web.New(p.engine, p.engine, p.engine, &web.Options{Now: p.now})
	var err error
	p.ids, err = fixtures(p.engine, func(t time.Time) { now = t }, now)
	return p, err
}

// ana returns the client of a person who has all permissions.
func (p *product) ana() askback.Client {
	return p.engine.As(askback.Principal{Kind: askback.Admin, Name: "ana", Channel: askback.ChannelWeb})
}

// newBrowser starts Chromium and returns its context. The caller must call stop.
func newBrowser() (ctx context.Context, stop func()) {
	allocator, cancelAll := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)...)
	ctx, cancel := chromedp.NewContext(allocator)
	return ctx, func() { cancel(); cancelAll() }
}

func run(folder, only string, docs bool) error {
	if docs {
		folder = "docs/pictures"
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := drawTerminals(folder, only, docs); err != nil || strings.HasPrefix(only, "terminal") {
		return err
	}
	p, err := newProduct()
	if err != nil {
		return err
	}
	server := httptest.NewServer(p.handler)
	defer server.Close()
	ctx, stop := newBrowser()
	defer stop()
	secret, err := p.ana().LoginSecret(ctx)
	if err != nil {
		return err
	}
	if err := chromedp.Run(ctx, chromedp.Navigate(server.URL+web.LoginPath(secret)),
		chromedp.Click(`form[action="/login"] button`), chromedp.WaitVisible("#list, .list-empty")); err != nil {
		return err
	}
	for _, one := range pictures {
		if !strings.Contains(one.name, only) || docs && !slices.Contains(documented, one.name) {
			continue
		}
		path := one.path
		for name, id := range p.ids {
			path = strings.ReplaceAll(path, "{"+name+"}", id)
		}
		if err := one.take(ctx, server.URL+path, filepath.Join(folder, one.name+".png"), docs); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if !docs || !strings.Contains(filmName, only) {
		return nil
	}
	if err := film(folder); err != nil {
		return fmt.Errorf("%s: %w", filmName, err)
	}
	return nil
}

// take opens the page and writes its picture.
func (p picture) take(ctx context.Context, address, file string, small bool) error {
	scheme := "light"
	if p.dark {
		scheme = "dark"
	}
	var png []byte
	err := chromedp.Run(ctx,
		emulation.SetDeviceMetricsOverride(p.width, p.height, 1, p.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		chromedp.Navigate(address),
		chromedp.CaptureScreenshot(&png),
	)
	if err != nil {
		return err
	}
	if small {
		if png, err = compress(png); err != nil {
			return err
		}
	}
	return os.WriteFile(file, png, 0o644)
}
