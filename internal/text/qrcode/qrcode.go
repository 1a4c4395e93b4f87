// Package qrcode draws QR codes on a terminal.
package qrcode

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
)

// margin is the width of the light frame around a code, in modules. The standard requires four modules.
// Phones read codes with a margin of two, and more links fit into 24 rows.
const margin = 2

// A Code is a QR code.
type Code struct {
	modules barcode.Barcode
}

// Encode returns the code of a text.
func Encode(text string) (Code, error) {
	modules, err := qr.Encode(text, qr.L, qr.Unicode)
	if err != nil {
		return Code{}, fmt.Errorf("encode a QR code: %v", err)
	}
	return Code{modules}, nil
}

// Size returns the columns and rows that the drawing needs.
func (c Code) Size() (columns, rows int) {
	n := c.modules.Bounds().Dx() + 2*margin
	return n, (n + 1) / 2
}

// The colors are black on white in every theme of a terminal, because a theme can change only the sixteen
// basic colors.
const (
	blackOnWhite = "\x1b[38;5;16;48;5;231m"
	reset        = "\x1b[0m"
)

// Draw returns the rows of the drawing, with two modules above each other in a character. With color, the
// code is black on white. Without color, light modules have the color of the text, so the terminal must be
// dark.
func (c Code) Draw(color bool) []string {
	blocks, begin, end := [...]string{" ", "▀", "▄", "█"}, blackOnWhite, reset
	if !color {
		blocks, begin, end = [...]string{"█", "▄", "▀", " "}, "", ""
	}
	columns, rows := c.Size()
	out := make([]string, rows)
	for row := range rows {
		var b strings.Builder
		b.WriteString(begin)
		for x := range columns {
			i := 0
			if c.dark(x, 2*row) {
				i |= 1
			}
			if c.dark(x, 2*row+1) {
				i |= 2
			}
			b.WriteString(blocks[i])
		}
		b.WriteString(end)
		out[row] = b.String()
	}
	return out
}

// dark reports whether the module at a position is dark. The margin is light.
func (c Code) dark(x, y int) bool {
	x, y = x-margin, y-margin
	n := c.modules.Bounds().Dx()
	if x < 0 || y < 0 || x >= n || y >= n {
		return false
	}
	r, _, _, _ := c.modules.At(x, y).RGBA()
	return r == 0
}
