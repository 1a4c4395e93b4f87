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
	counts := map[color.RGBA]int{}
	box := img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[rgba(img, x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette, index := color.Palette{}, map[color.RGBA]uint8{}
	for _, c := range colors[:min(256, len(colors))] {
		palette = append(palette, c)
	}
	for _, c := range colors {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			out.SetColorIndex(x, y, index[rgba(img, x, y)])
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, out); err != nil {
		return nil, err
	}
	if b.Len() > maxPicture {
		return nil, fmt.Errorf("the picture has %d bytes, more than %d", b.Len(), maxPicture)
	}
	return b.Bytes(), nil
}

func rgba(img image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
}
