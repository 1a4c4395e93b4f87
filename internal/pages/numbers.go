package pages

import (
	"slices"
	"strconv"

	"github.com/askback/askback/internal/text/view"
)

// agentLinks returns the links from an agent to its asks and standing approvals. It omits pages that the
// person may not open.
func (f Frame) agentLinks(a view.AgentFigures) []PageLink {
	var links []PageLink
	for _, l := range []PageLink{
		{Name: "Open asks", Path: "/"},
		{Name: "History", Path: "/history"},
		{Name: "Standing approvals", Path: "/grants"},
	} {
		if slices.ContainsFunc(f.Links, func(m PageLink) bool { return m.Path == l.Path }) {
			l.Path += "?agent=" + a.Filter
			links = append(links, l)
		}
	}
	return links
}

// A NumbersPage is the content of the page with the numbers.
type NumbersPage struct {
	Name    string // length of the period, such as "24 hours"
	Periods []Period
	Partial bool // whether the numbers omit some asks of the period
	view.Numbers
}

// A Period is a choice on the page with the numbers.
type Period struct {
	Value, Name string
	Chosen      bool
}

// chartWidth and chartHeight are the size of a chart in its own units.
const (
	chartWidth  = 600
	chartHeight = 120
)

// A bar is a bar of a chart. Its fields are attributes of an SVG rectangle.
type bar struct{ X, Y, Width, Height string }

// bars returns the bars of the chart for waiting asks.
func (p NumbersPage) bars() []bar {
	highest := max(1, p.highest())
	step := float64(chartWidth) / float64(max(1, len(p.Waiting)))
	var bars []bar
	for i, w := range p.Waiting {
		height := float64(w.Count) / float64(highest) * chartHeight
		if w.Count > 0 {
			height = max(height, 2)
		}
		bars = append(bars,
			bar{number(float64(i)*step + 1), number(chartHeight - height), number(max(1, step-2)), number(height)})
	}
	return bars
}

// highest returns the largest number of asks that waited.
func (p NumbersPage) highest() int {
	n := 0
	for _, w := range p.Waiting {
		n = max(n, w.Count)
	}
	return n
}

// number formats a coordinate.
func number(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// share returns the width of a bar for n of all asks, in a chart that is 100 wide.
func share(n, all int) string { return number(float64(n) / float64(max(1, all)) * 100) }

func agentRows(agents []view.AgentFigures) []waitRow {
	var rows []waitRow
	for _, a := range agents {
		rows = append(rows, waitRow{a.Label, a.Owner, true, a.Wait})
	}
	return rows
}

func personRows(people []view.PersonFigures) []waitRow {
	var rows []waitRow
	for _, p := range people {
		rows = append(rows, waitRow{Name: p.Name, Wait: p.Wait})
	}
	return rows
}

// currentChoice returns the value of aria-current for a choice.
func currentChoice(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
