package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// A chart is a picture with horizontal bars, which all begin at zero.
type chart struct {
	title  string
	about  string // the meaning of the bars, in a sentence
	groups []barGroup
	legend string
}

// A barGroup is several bars below a heading.
type barGroup struct {
	heading string
	bars    []bar
}

// A bar has a value, its range, and the bounds that it is compared with. A bound of zero is not drawn.
type bar struct {
	label         string
	value         spread
	gate, stretch float64
	note          string // text after the value
}

// The sizes of a chart, in pixels.
const (
	chartWidth  = 760
	chartLabels = 240 // width of the labels
	chartBars   = 330 // width of the area of the bars
	chartRow    = 24
	chartBar    = 14
	chartGap    = 8  // below a group
	chartHead   = 66 // height of the title
	chartMargin = 16
)

// The colours have enough contrast in light and in dark mode. The picture has a
// background of its own, since a page may not follow the system.
const chartStyle = `
.back{fill:#ffffff}.bar{fill:#0969da}.grid{stroke:#d1d9e0}.range,.gate,.stretch{stroke:#1f2328;stroke-width:1.5}.stretch{stroke-dasharray:3 2}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}.title{font-size:16px;font-weight:600}.heading{font-weight:600}.small{font-size:12px;fill:#59636e}.tick{text-anchor:middle}
@media (prefers-color-scheme:dark){.back{fill:#0d1117}.bar{fill:#4493f8}.grid{stroke:#3d444d}.range,.gate,.stretch{stroke:#f0f6fc}text{fill:#f0f6fc}.small{fill:#9198a1}}
`

// svg returns the picture. Its description has the median and the note of each bar, for readers who cannot
// see the picture.
func (c chart) svg() []byte {
	var out bytes.Buffer
	limit := c.limit()
	step := tickStep(limit)
	limit = math.Ceil(limit/step) * step
	height := c.height()
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">`+"\n",
		chartWidth, height, chartWidth, height)
	fmt.Fprintf(&out, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n",
		escaped(c.title), escaped(c.describe()), chartStyle)
	fmt.Fprintf(&out, `<rect class="back" width="%d" height="%d" rx="6"/>`+"\n", chartWidth, height)
	writeText(&out, "title", chartMargin, 28, c.title)
	writeText(&out, "small", chartMargin, 50, c.about)
	bottom := float64(height - chartRow - chartMargin - 12)
	for i := range int(math.Round(limit/step)) + 1 {
		at := float64(i) * step
		x := chartX(at, limit)
		fmt.Fprintf(&out, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%.1f"/>`+"\n", x, x, chartHead, bottom)
		writeText(&out, "small tick", x, bottom+15, fmt.Sprintf("%g", math.Round(at*100)/100))
	}
	y := float64(chartHead)
	for _, g := range c.groups {
		writeText(&out, "heading", chartMargin, y+16, g.heading)
		y += chartRow
		for _, b := range g.bars {
			b.draw(&out, y, limit)
			y += chartRow
		}
		y += chartGap
	}
	writeText(&out, "small", chartMargin, float64(height-chartMargin+2), c.legend)
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (c chart) height() int {
	rows := 1 // for the ticks
	for _, g := range c.groups {
		rows += 1 + len(g.bars)
	}
	return chartHead + rows*chartRow + len(c.groups)*chartGap + chartMargin + 12
}

// limit returns the largest number to draw, at least 1.
func (c chart) limit() float64 {
	most := 1.0
	for _, g := range c.groups {
		for _, b := range g.bars {
			most = max(most, b.value.Max, b.gate, b.stretch)
		}
	}
	return most
}

// describe returns the chart as text: the meaning of the bars, and the median and the note of each bar.
func (c chart) describe() string {
	parts := []string{c.about}
	for _, g := range c.groups {
		var values []string
		for _, b := range g.bars {
			values = append(values, strings.TrimSpace(b.label+" "+short(b.value.Median)+" "+b.note))
		}
		parts = append(parts, g.heading+": "+strings.Join(values, "; ")+".")
	}
	return strings.Join(parts, " ")
}

// draw draws one row: the label, the bar, the range, the bounds and the value.
func (b bar) draw(out *bytes.Buffer, y, limit float64) {
	x := func(v float64) float64 { return chartX(v, limit) }
	top := y + (chartRow-chartBar)/2
	writeText(out, "", chartMargin, y+17, b.label)
	fmt.Fprintf(out, `<rect class="bar" x="%d" y="%.1f" width="%.1f" height="%d" rx="2"/>`+"\n",
		chartMargin+chartLabels, top, x(b.value.Median)-x(0), chartBar)
	middle := top + chartBar/2
	fmt.Fprintf(out, `<line class="range" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n", x(b.value.Min),
		x(b.value.Max), middle, middle)
	for _, bound := range []struct {
		class string
		at    float64
	}{{"gate", b.gate}, {"stretch", b.stretch}} {
		if bound.at > 0 {
			fmt.Fprintf(out, `<line class="%s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n", bound.class,
				x(bound.at), x(bound.at), y+1, y+chartRow-1)
		}
	}
	writeText(out, "", chartMargin+chartLabels+chartBars+10, y+17, strings.TrimSpace(short(b.value.Median)+"  "+b.note))
}

func chartX(v, limit float64) float64 {
	return chartMargin + chartLabels + v/limit*chartBars
}

// tickStep returns the distance of the grid lines: 1, 2 or 5 times a power of ten, for at
// most nine lines.
func tickStep(limit float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(limit/5)))
	for _, m := range []float64{1, 2, 5} {
		if limit/(m*power) <= 8 {
			return m * power
		}
	}
	return 10 * power
}

func writeText(out *bytes.Buffer, class string, x, y float64, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(out, `<text%s x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, escaped(text))
}

// escaped returns text for an element of XML.
func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer returns no errors
	return out.String()
}
