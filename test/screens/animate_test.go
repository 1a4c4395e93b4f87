package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each frame of the moving picture shows its scene exactly, contains only the changes, and lasts as long as
// the scene.
func TestAnimationShowsTheScenes(t *testing.T) {
	violet := color.RGBA{0x8a, 0x4f, 0xc7, 255}
	scenes := []scene{
		{painted(color.White), 2 * time.Second},
		{painted(color.White), time.Second},
		{painted(color.White), 3500 * time.Millisecond},
	}
	scenes[1].picture.(draw.Image).Set(30, 20, violet)
	scenes[1].picture.(draw.Image).Set(33, 24, color.Black)
	raw, err := animate(scenes)
	if err != nil {
		t.Fatal(err)
	}
	film, err := gif.DecodeAll(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if film.LoopCount != 0 || len(film.Image) != len(scenes) {
		t.Fatalf("got %d frames and the loop count %d", len(film.Image), film.LoopCount)
	}
	shown := image.NewRGBA(scenes[0].picture.Bounds())
	for i, frame := range film.Image {
		draw.Draw(shown, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
		want := image.NewRGBA(shown.Bounds())
		draw.Draw(want, want.Bounds(), scenes[i].picture, image.Point{}, draw.Src)
		if !bytes.Equal(shown.Pix, want.Pix) {
			t.Errorf("frame %d does not show its scene", i)
		}
		if changed := image.Rect(30, 20, 34, 25); i > 0 && frame.Bounds() != changed {
			t.Errorf("frame %d has %v, want %v", i, frame.Bounds(), changed)
		}
		if got := time.Duration(film.Delay[i]) * 10 * time.Millisecond; got != scenes[i].hold {
			t.Errorf("frame %d stays for %s, want %s", i, got, scenes[i].hold)
		}
	}
}

// painted returns a picture of one color.
func painted(c color.Color) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 60, 40))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

// A moving picture that is too large is rejected, not committed.
func TestAnimationRejectsLargeFilms(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 1400, 1000))
	n := uint32(1)
	for i := range img.Pix {
		if n = n*1664525 + 1013904223; i%4 == 3 {
			img.Pix[i] = 255
		} else {
			img.Pix[i] = uint8(n>>24) & 0x70
		}
	}
	if film, err := animate([]scene{{img, time.Second}}); err == nil {
		t.Errorf("got %d bytes", len(film))
	}
}

// Each picture of the documentation is shown by a document, and written by this command.
func TestDocumentsShowThePictures(t *testing.T) {
	written := map[string]bool{filmName: true}
	for _, name := range documented {
		written[name] = true
	}
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range append(documents, "../../README.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(page)
	}
	pictures, err := os.ReadDir("../../docs/pictures")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if !strings.Contains(text.String(), "pictures/"+p.Name()) {
			t.Errorf("no document shows docs/pictures/%s", p.Name())
		}
		if name, _, _ := strings.Cut(p.Name(), "."); !written[name] {
			t.Errorf("make screens does not write docs/pictures/%s", p.Name())
		}
	}
}
