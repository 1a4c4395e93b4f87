package qrcode_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/text/qrcode"
	"github.com/askback/askback/internal/text/qrcode/qrtest"
	"github.com/askback/askback/internal/text/safetext"
)

// A reader that shares no code with the drawing reads every text, with and without colors.
func TestDrawnQRCodeCanBeRead(t *testing.T) {
	for n := 1; n <= 134; n++ {
		want := strings.Repeat("https://ask.example.com/login?secret=aB_-", 4)[:n]
		c, err := qrcode.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		columns, rows := c.Size()
		for _, color := range []bool{true, false} {
			drawn := c.Draw(color)
			for i, row := range drawn {
				row, colored := strings.CutPrefix(row, "\x1b[38;5;16;48;5;231m")
				row, ended := strings.CutSuffix(row, "\x1b[0m")
				if colored != color || ended != color || safetext.Width(safetext.Line(row)) != columns {
					t.Fatalf("row %d of %d characters: %q", i, n, row)
				}
				drawn[i] = row
			}
			if len(drawn) != rows {
				t.Errorf("%d rows, want %d", len(drawn), rows)
			}
			if got, err := qrtest.Read(drawn, !color); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
	}
}

// A link of up to 106 characters fits into a window of 80 columns and 24 rows.
func TestQRCodeOfALinkFitsASmallWindow(t *testing.T) {
	c, err := qrcode.Encode(strings.Repeat("x", 106))
	if err != nil {
		t.Fatal(err)
	}
	if columns, rows := c.Size(); columns > 80 || rows > 22 {
		t.Errorf("it needs %d columns and %d rows", columns, rows)
	}
}

func TestTextThatIsTooLongIsRejected(t *testing.T) {
	if _, err := qrcode.Encode(strings.Repeat("x", 4000)); err == nil {
		t.Error("it is encoded")
	}
}
