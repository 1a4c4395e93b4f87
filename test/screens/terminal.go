package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// A terminalPicture is the screen of a terminal after some keys.
type terminalPicture struct {
	name          string
	ask           string // the name of the ask in a panel; "" for the inbox
	columns, rows int
	keys          []terminalKeys
}

// terminalKeys are keys that are typed once the screen matches a pattern.
type terminalKeys struct{ until, keys string }

var terminalPictures = []terminalPicture{
	{"terminal-question", "database", 100, 26, []terminalKeys{{"more keys", "\x1b[B"}, {"> +2", ""}}},
	{"terminal-approval", "mail", 80, 24, []terminalKeys{{"more keys", ""}}},
	{"terminal-dangerous", "migrate", 80, 24, []terminalKeys{
		{"more keys", "a"}, {"Type approve", "appr"}, {"appr\\n", ""},
	}},
	{"terminal-inbox", "", 120, 30, []terminalKeys{
		{"One moment|more keys", "jjj"}, {">.*mail.send(.|\\n)*more keys", ""},
	}},
	{"terminal-inbox-narrow", "", 80, 24, []terminalKeys{{"open", "j"}, {">.*Which database", ""}}},
	{"terminal-batch", "", 80, 24, []terminalKeys{
		{"open", "j"}, {">.*Which database", "jxjxjjjx"}, {"3 selected", "a"}, {"Enter shows the rest", ""},
	}},
}

// inboxPicture is the value of asTerminal for the inbox. Other values are names of asks.
const inboxPicture = "inbox"

// asTerminal is the variable that makes this program show one of the pictures at its terminal.
const asTerminal = "ASKBACK_SCREENS_TERMINAL"

// showTerminal shows an ask, or the inbox, at the terminal of this process.
func showTerminal(name string) error {
	p, err := newProduct()
	if err != nil {
		return err
	}
	tty, err := terminal.Open()
	if err != nil {
		return err
	}
	defer tty.Close()
	o := *tty.Options()
	started := time.Now()
	o.Zone, o.Now = time.UTC, func() time.Time { return p.now().Add(time.Since(started)) }
	if name == inboxPicture {
		return terminal.NewInbox(tty, p.ana(), &terminal.InboxOptions{Options: o}).Run(context.Background())
	}
	a, err := p.ana().Get(context.Background(), p.ids[name])
	if err != nil {
		return err
	}
	_, err = terminal.NewPanel(tty, &o).Ask(context.Background(), view.Of(a))
	return err
}

// drawTerminals writes the pictures of the terminal as SVG.
func drawTerminals(folder, only string, docs bool) error {
	for _, p := range terminalPictures {
		if !strings.Contains(p.name, only) || docs && !slices.Contains(documented, p.name) {
			continue
		}
		screen, err := p.take()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, p.name+".svg"), []byte(terminalSVG(screen, p.columns, p.rows)),
			0o644); err != nil {
			return err
		}
	}
	return nil
}

// take runs this program at a pseudo-terminal, types the keys and returns the screen.
func (p terminalPicture) take() (vt10x.Terminal, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asTerminal+"="+cmp.Or(p.ask, inboxPicture), "TERM=xterm-256color", "NO_COLOR=",
		"ACCESSIBLE=")
	screen, end, err := startAtTerminal(cmd, p.columns, p.rows, p.keys)
	if err != nil {
		return nil, err
	}
	end()
	return screen, nil
}

// startAtTerminal starts a program at a pseudo-terminal, and types the keys. It returns the screen,
// and a function that ends the program.
func startAtTerminal(
	cmd *exec.Cmd, columns, rows int, keys []terminalKeys,
) (screen vt10x.Terminal, end func(), err error) {
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		return nil, nil, err
	}
	screen = vt10x.New(vt10x.WithSize(columns, rows))
	var read sync.WaitGroup
	read.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := file.Read(buf)
			_, _ = io.WriteString(screen, forSVG(string(buf[:n])))
			if err != nil {
				return
			}
		}
	})
	end = func() {
		_ = cmd.Process.Kill()
		_ = file.Close()
		_ = cmd.Wait()
		read.Wait()
	}
	for _, k := range keys {
		err := waitForTerminal(screen, k.until)
		if err == nil {
			err = typeKeys(file, k.keys)
		}
		if err != nil {
			end()
			return nil, nil, err
		}
	}
	return screen, end, nil
}

// typeKeys types keys one after the other, as a person does, because keys that arrive together count as a
// paste.
func typeKeys(file *os.File, keys string) error {
	if strings.HasPrefix(keys, "\x1b") {
		_, err := file.WriteString(keys)
		return err
	}
	for _, key := range keys {
		if _, err := file.WriteString(string(key)); err != nil {
			return err
		}
		if err := pause.For(context.Background(), 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// terminalTime is how long a screen may take to match.
const terminalTime = 20 * time.Second

// stillTime is how long a screen stays the same once it is drawn completely.
const stillTime = 100 * time.Millisecond

// waitForTerminal waits until the screen matches a pattern and is drawn completely.
func waitForTerminal(screen vt10x.Terminal, pattern string) error {
	want := regexp.MustCompile(pattern)
	text, before := "", ""
	for deadline := time.Now().Add(terminalTime); ; {
		text, before = "", text
		for row := range strings.Lines(screen.String()) {
			text += strings.TrimRight(row, " \n") + "\n"
		}
		if text == before && want.MatchString(text) {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("the screen never matched " + pattern + ":\n" + text)
		}
		if err := pause.For(context.Background(), stillTime); err != nil {
			return err
		}
	}
}

// forSVG returns the output with gray in place of the dim style, which the emulator does not have.
func forSVG(drawn string) string { return strings.ReplaceAll(drawn, "\x1b[2m", "\x1b[90m") }

// Sizes of the SVG, in pixels.
const (
	cellWidth  = 8
	cellHeight = 17
	padding    = 12
	fontSize   = 13
)

// The emulator's flag of bold cells, and its color for dim cells.
const (
	boldCell = 4
	dimCell  = 8
)

// terminalSVG draws the cells of a screen. Each run of cells has its exact width, so that the
// columns stay in line in any font.
func terminalSVG(screen vt10x.Terminal, columns, rows int) string {
	var b strings.Builder
	for rows > 1 && emptyRow(screen, rows-1, columns) {
		rows--
	}
	width, height := columns*cellWidth+2*padding, rows*cellHeight+2*padding
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%d">`+"\n", width, height, width, height, fontSize)
	fmt.Fprintf(&b, `<style>.b{font-weight:bold;fill:#fff}.d{fill:#8b949e}</style><rect width="%d" height="%d" rx="8" fill="#14171c"/>`+"\n", width, height)
	b.WriteString(`<g fill="#d7dde5" xml:space="preserve">` + "\n")
	for y := range rows {
		for x := 0; x < columns; {
			start, text, class := x, "", cellClass(screen.Cell(x, y))
			for ; x < columns && cellClass(screen.Cell(x, y)) == class; x++ {
				text += string(max(screen.Cell(x, y).Char, ' '))
			}
			if trimmed := strings.TrimRight(text, " "); trimmed != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
					padding+start*cellWidth, padding+y*cellHeight+fontSize, len([]rune(trimmed))*cellWidth, class,
					escapeSVG(trimmed))
			}
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// emptyRow reports whether a row of the screen has only spaces.
func emptyRow(screen vt10x.Terminal, y, columns int) bool {
	for x := range columns {
		if max(screen.Cell(x, y).Char, ' ') != ' ' {
			return false
		}
	}
	return true
}

// cellClass returns the attribute of a cell.
func cellClass(c vt10x.Glyph) string {
	switch {
	case c.FG == dimCell:
		return ` class="d"`
	case c.Mode&boldCell != 0:
		return ` class="b"`
	}
	return ""
}

// escapeSVG returns text with XML escapes, and with no-break spaces, which all viewers keep.
func escapeSVG(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", " ", "\u00a0").Replace(s)
}
