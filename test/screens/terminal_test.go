package main

import (
	"io"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// The SVG has the text of each run of cells at its place, escaped, and with its style.
func TestSVGShowsTheCells(t *testing.T) {
	screen := vt10x.New(vt10x.WithSize(20, 5))
	_, _ = io.WriteString(screen, forSVG("a \x1b[1m<b>\x1b[0m &\r\n\r\n  \x1b[2m│\x1b[0m x"))
	got := terminalSVG(screen, 20, 5)
	for _, want := range []string{
		`<text x="12" y="25" textLength="8" lengthAdjust="spacingAndGlyphs">a</text>`,
		`<text x="28" y="25" textLength="24" lengthAdjust="spacingAndGlyphs" class="b">&lt;b&gt;</text>`,
		`&amp;</text>`,
		`<text x="28" y="59" textLength="8" lengthAdjust="spacingAndGlyphs" class="d">│</text>`,
		`viewBox="0 0 184 75"`, // three rows; the other rows are empty
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<b>") {
		t.Errorf("text is not escaped:\n%s", got)
	}
}
