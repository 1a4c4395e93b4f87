package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/hinshun/vt10x"

	"github.com/askback/askback/test/program"
)

// filmName is the name of the moving picture in README.md. The picture shows the program itself: a shell asks
// and waits, a person answers in the browser, and the shell continues.
const filmName = "ask"

// Sizes of the moving picture, in pixels, and of its terminal, in cells. The page is enlarged by
// filmScale, so that its text can be read on a phone.
const (
	filmWidth  = 816
	filmHeight = 808
	filmPage   = 408
	filmScale  = 1.2
	shellCols  = 66
	shellRows  = 13
)

// filmTime limits the time to make the picture. The program may have to be built first.
const filmTime = 10 * time.Minute

// filmKeys are the keys that are typed into the shell.
var filmKeys = []terminalKeys{
	{`(?m)^\$$`, "db=$(askback ask \"Which database?\" PostgreSQL SQLite) &&\n"},
	{`(?m)^>$`, "echo \"The agent goes on with $db.\"\n"},
	{`SQLite(.|\n)*more keys`, ""},
}

// filmOther is the command of another agent that asks later.
var filmOther = []string{"ask", "Publish version 2.4 today?", "Today", "Tomorrow"}

// A camera films a terminal and a browser.
type camera struct {
	shell    vt10x.Terminal
	page     context.Context // the tab with the inbox
	composer context.Context // the tab that puts the parts of a scene together
	scenes   []scene
}

// A fixture is the program with a server, in a folder of its own.
type fixture struct {
	ctx           context.Context
	program, home string
	address       string // the address of the server
}

// command returns a command of the program. If token is "", the command runs as the user of the machine.
func (f *fixture) command(token string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(f.ctx, f.program, args...)
	cmd.Dir = f.home
	cmd.Env = []string{
		"PATH=" + filepath.Dir(f.program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + f.home, "XDG_STATE_HOME=" + f.home, "TERM=xterm-256color", "PS1=$ ", "PS2=> ",
	}
	if token != "" {
		cmd.Env = append(cmd.Env, "ASKBACK_URL="+f.address, "ASKBACK_TOKEN="+token)
	}
	return cmd
}

// output runs a command and returns its output.
func (f *fixture) output(token string, args ...string) (string, error) {
	out, err := f.command(token, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// film writes the moving picture and its first picture.
func film(folder string) error {
	dir, err := os.MkdirTemp("", "askback-film-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	browser, stop := newBrowser()
	defer stop()
	ctx, cancel := context.WithTimeout(browser, filmTime)
	defer cancel()
	f := &fixture{ctx: ctx, home: dir}
	if f.program, err = program.Build(ctx, dir); err != nil {
		return err
	}
	server := f.command("", "serve", "--listen", "127.0.0.1:0")
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Wait()
	defer server.Process.Kill()
	c := &camera{page: ctx}
	composer, closeComposer := chromedp.NewContext(ctx)
	defer closeComposer()
	c.composer = composer
	if err := c.shoot(f); err != nil {
		return err
	}
	moving, err := animate(c.scenes)
	if err != nil {
		return err
	}
	still, err := palettedPNG(c.scenes[0].picture)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, filmName)
	return errors.Join(os.WriteFile(file+".gif", moving, 0o644), os.WriteFile(file+".png", still, 0o644))
}

// tokens waits for the server, and returns tokens of two agents and of a person.
func (f *fixture) tokens() (planner, release, ana string, err error) {
	var link string
	err = errors.New("the server did not start")
	for end := time.Now().Add(terminalTime); err != nil && time.Now().Before(end); {
		link, err = f.output("", "login")
	}
	f.address, _, _ = strings.Cut(link, "/login")
	for _, t := range []struct {
		to         *string
		kind, name string
	}{{&planner, "agent", "planner"}, {&release, "agent", "release"}, {&ana, "responder", "ana"}} {
		if err == nil {
			*t.to, err = f.output("", "token", "add", "--kind", t.kind, "--name", t.name)
		}
	}
	return planner, release, ana, err
}

// shoot asks in a shell, answers in the browser, and films the shell and the browser.
func (c *camera) shoot(f *fixture) error {
	planner, release, ana, err := f.tokens()
	if err != nil {
		return err
	}
	shell := f.command(planner)
	shell.Path, shell.Args = "/bin/sh", []string{"sh", "-i"}
	screen, end, err := startAtTerminal(shell, shellCols, shellRows, filmKeys)
	if err != nil {
		return err
	}
	defer end()
	c.shell = screen
	other := f.command(release, filmOther...)
	if err := other.Start(); err != nil {
		return err
	}
	defer other.Wait()
	defer other.Process.Kill()
	link, err := f.output(ana, "login")
	if err != nil {
		return err
	}
	const row = `//li[contains(., "Which database?")]`
	const button = row + `//button[contains(., "SQLite")]`
	return chromedp.Run(c.page,
		emulation.SetDeviceMetricsOverride(filmWidth/filmScale, filmPage/filmScale, filmScale, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: "light"}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		chromedp.Navigate(link), chromedp.Click(`form[action="/login"] button`),
		chromedp.WaitVisible(row), chromedp.WaitVisible(`//li[contains(., "Publish")]`),
		c.take("An agent asks, and waits for a person.", "", 2500*time.Millisecond),
		c.take("A person answers.", button, 1500*time.Millisecond),
		chromedp.Click(button), chromedp.WaitVisible(row+`//*[contains(., "sent in a moment")]`),
		c.take("A person answers.", "", 2*time.Second),
		chromedp.ActionFunc(func(context.Context) error { return waitForTerminal(screen, `goes on with SQLite`) }),
		c.take("The agent goes on with the answer.", "", 3500*time.Millisecond))
}

//go:embed film.html
var sceneText string

var sceneTemplate = template.Must(template.New("scene").Parse(sceneText))

// ringScript returns the position and size of an element, in pixels of the picture.
const ringScript = `(r => [r.x, r.y, r.width, r.height].map(n => n * %v))` +
	`(document.evaluate(%q, document).iterateNext().getBoundingClientRect())`

// take adds a scene. If an element is given that the person presses, the scene has a ring around the element.
func (c *camera) take(caption, press string, hold time.Duration) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var page, whole []byte
		if err := chromedp.CaptureScreenshot(&page).Do(ctx); err != nil {
			return err
		}
		var ring []float64
		if press != "" {
			if err := chromedp.Evaluate(fmt.Sprintf(ringScript, filmScale, press), &ring).Do(ctx); err != nil {
				return err
			}
		}
		var html bytes.Buffer
		if err := sceneTemplate.Execute(&html, map[string]any{
			"Width": filmWidth, "Height": filmHeight, "PageHeight": filmPage, "Caption": caption, "Ring": ring,
			"Terminal": template.HTML(terminalSVG(c.shell, shellCols, shellRows)),
			"Page":     template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(page)),
		}); err != nil {
			return err
		}
		err := chromedp.Run(c.composer,
			emulation.SetDeviceMetricsOverride(filmWidth, filmHeight, 1, false),
			chromedp.Navigate("data:text/html;charset=utf-8;base64,"+base64.StdEncoding.EncodeToString(html.Bytes())),
			chromedp.CaptureScreenshot(&whole))
		if err != nil {
			return err
		}
		img, err := png.Decode(bytes.NewReader(whole))
		c.scenes = append(c.scenes, scene{img, hold})
		return err
	})
}
