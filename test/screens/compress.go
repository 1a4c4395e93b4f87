package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// maxPicture is the size limit of a picture in the documentation, in bytes.
const maxPicture = 150_000

// compress returns an image as PNG with its 256 most frequent colors. Pages have few colors, so the
// difference is hardly visible. It returns an error if the result is too large.
func compress(raw []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return palettedPNG(img)
}

// palettedPNG returns a decoded picture as PNG, like compress. It returns an error if the result is too
// large.
func palettedPNG(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, newQuantizer(256, img).paletted(img)); err != nil {
		return nil, err
	}
	if b.Len() > maxPicture {
		return nil, fmt.Errorf("the picture has %d bytes, more than %d", b.Len(), maxPicture)
	}
	return b.Bytes(), nil
}

// A quantizer draws pictures with a palette of their most frequent colors.
type quantizer struct {
	palette color.Palette
	index   map[color.RGBA]uint8 // maps each color to the nearest color in the palette
}

// newQuantizer returns a quantizer for pictures, with at most size colors.
func newQuantizer(size int, pictures ...image.Image) quantizer {
	counts := map[color.RGBA]int{}
	for _, img := range pictures {
		box := img.Bounds()
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				counts[rgba(img, x, y)]++
			}
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G),
			cmp.Compare(a.B, b.B))
	})
	q := quantizer{index: map[color.RGBA]uint8{}}
	for _, c := range colors[:min(size, len(colors))] {
		q.palette = append(q.palette, c)
	}
	for _, c := range colors {
		q.index[c] = uint8(q.palette.Index(c))
	}
	return q
}

// paletted returns one of the pictures with the colors of the palette.
func (q quantizer) paletted(img image.Image) *image.Paletted {
	box := img.Bounds()
	out := image.NewPaletted(box, q.palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			out.SetColorIndex(x, y, q.index[rgba(img, x, y)])
		}
	}
	return out
}

func rgba(img image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
}
