package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// Frequent colors are kept exactly. Rare colors become similar colors.
func TestCompressKeepsFrequentColors(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 300, 3))
	for x := range 300 {
		img.Set(x, 0, color.RGBA{uint8(x), uint8(x / 256), 0, 255}) // 300 colors, once each
		img.Set(x, 1, color.White)
		img.Set(x, 2, color.RGBA{0x8a, 0x4f, 0xc7, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	small, err := compress(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	for x := range 300 {
		if rgba(got, x, 1) != rgba(img, x, 1) || rgba(got, x, 2) != rgba(img, x, 2) {
			t.Fatalf("column %d has changed", x)
		}
		if a, b := rgba(got, x, 0), rgba(img, x, 0); a.A != 255 || max(a.R, b.R)-min(a.R, b.R) > 50 {
			t.Errorf("column %d: got %v, want about %v", x, a, b)
		}
	}
}

// A picture that is too large is rejected instead of committed.
func TestCompressRejectsLargePictures(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 700, 700))
	n := uint32(1)
	for i := range img.Pix {
		n = n*1664525 + 1013904223
		img.Pix[i] = uint8(n>>24) & 0x70
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if small, err := compress(b.Bytes()); err == nil {
		t.Errorf("got %d bytes", len(small))
	}
}
