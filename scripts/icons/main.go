// Command icons draws the icons of the installed pages, with the shapes of
// web/assets/icon.svg.
//
//	go run ./scripts/icons FOLDER
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
)

// icons lists the files and the sizes of the icons. A square icon has no round corners, so
// that a phone can cut it to any shape.
var icons = []struct {
	name   string
	size   int
	square bool
}{
	{"icon-192.png", 192, false},
	{"icon-512.png", 512, false},
	{"icon-maskable-192.png", 192, true},
	{"icon-maskable-512.png", 512, true},
	{"icon-touch.png", 180, true},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: icons FOLDER")
		os.Exit(2)
	}
	for _, i := range icons {
		var b bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		err := encoder.Encode(&b, draw(i.size, i.square))
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], i.name), b.Bytes(), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "icons:", err)
			os.Exit(1)
		}
	}
}

var (
	blue  = color.NRGBA{0x42, 0x56, 0xd0, 0xff}
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// samples is the number of samples of a pixel in each direction.
const samples = 6

// draw draws the icon. Each pixel is the mean of its samples.
func draw(size int, square bool) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := 32 / float64(size) // the shapes are in a square of 32 by 32
	for y := range size {
		for x := range size {
			var sum, opaque int
			var red, green, blue int
			for i := range samples * samples {
				c := at(
					(float64(x)+(float64(i%samples)+0.5)/samples)*unit,
					(float64(y)+(float64(i/samples)+0.5)/samples)*unit, square)
				sum++
				if c.A > 0 {
					opaque++
					red, green, blue = red+int(c.R), green+int(c.G), blue+int(c.B)
				}
			}
			if opaque > 0 {
				img.SetNRGBA(x, y, color.NRGBA{
					uint8(red / opaque), uint8(green / opaque), uint8(blue / opaque), uint8(255 * opaque / sum),
				})
			}
		}
	}
	return img
}

// at returns the color at a point.
func at(x, y float64, square bool) color.NRGBA {
	switch {
	case !square && !inBox(x, y, 0, 0, 32, 32, 8):
		return color.NRGBA{}
	case onLine(x, y, 19.3, 13.5, 12.8, 13.5), onLine(x, y, 15.3, 11, 12.8, 13.5), onLine(x, y, 15.3, 16, 12.8, 13.5):
		return blue
	case inBox(x, y, 8, 7, 24, 20, 2.5), x >= 11 && y >= 19 && x+y <= 36:
		return white
	}
	return blue
}

// inBox reports whether a point is in a box with round corners.
func inBox(x, y, left, top, right, bottom, radius float64) bool {
	dx := math.Max(0, math.Max(left+radius-x, x-(right-radius)))
	dy := math.Max(0, math.Max(top+radius-y, y-(bottom-radius)))
	return math.Hypot(dx, dy) <= radius
}

// onLine reports whether a point is on a line with round ends.
func onLine(x, y, x1, y1, x2, y2 float64) bool {
	const width = 1.8
	dx, dy := x2-x1, y2-y1
	t := ((x-x1)*dx + (y-y1)*dy) / (dx*dx + dy*dy)
	t = math.Max(0, math.Min(1, t))
	return math.Hypot(x-x1-t*dx, y-y1-t*dy) <= width/2
}
