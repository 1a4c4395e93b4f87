package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"time"
)

// maxFilm is the size limit of a moving picture, in bytes.
const maxFilm = 1_000_000

// A scene is a picture, and the time for which the picture is shown.
type scene struct {
	picture image.Image
	hold    time.Duration
}

// animate returns a GIF that repeats the scenes, which have the same size. The scenes share a palette of
// their most frequent colors, and a frame contains only the changes. It returns an error if the result is too
// large.
func animate(scenes []scene) ([]byte, error) {
	var pictures []image.Image
	for _, s := range scenes {
		pictures = append(pictures, s.picture)
	}
	box, q := pictures[0].Bounds(), newQuantizer(255, pictures...)
	palette := append(color.Palette{color.Transparent}, q.palette...)
	film := gif.GIF{Config: image.Config{ColorModel: palette, Width: box.Dx(), Height: box.Dy()}}
	shown := image.NewPaletted(box, palette) // 0 stands for a pixel that is not drawn yet
	for _, s := range scenes {
		next, changed := image.NewPaletted(box, palette), image.Rectangle{}
		for i, c := range q.paletted(s.picture).Pix {
			next.Pix[i] = c + 1
			if x, y := i%box.Dx(), i/box.Dx(); next.Pix[i] != shown.Pix[i] {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		frame := image.NewPaletted(changed, palette)
		for y := changed.Min.Y; y < changed.Max.Y; y++ {
			for x := changed.Min.X; x < changed.Max.X; x++ {
				if c := next.ColorIndexAt(x, y); c != shown.ColorIndexAt(x, y) {
					frame.SetColorIndex(x, y, c)
				}
			}
		}
		film.Image, film.Delay = append(film.Image, frame), append(film.Delay, int(s.hold/(10*time.Millisecond)))
		film.Disposal = append(film.Disposal, gif.DisposalNone)
		shown = next
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &film); err != nil {
		return nil, err
	}
	if b.Len() > maxFilm {
		return nil, fmt.Errorf("the moving picture has %d bytes, more than %d", b.Len(), maxFilm)
	}
	return b.Bytes(), nil
}
