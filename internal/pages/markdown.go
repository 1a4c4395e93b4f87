package pages

import "github.com/askback/askback/internal/text/view"

// spanClass returns the CSS classes of a span.
func spanClass(s view.Span) string {
	class := "run"
	if s.Strong {
		class += " strong"
	}
	if s.Emphasis {
		class += " emphasis"
	}
	if s.Code {
		class += " inline"
	}
	return class
}

// bullet returns the marker of a list item.
func bullet(i view.Item) string {
	if isSet(i.Marker) {
		return i.Marker.String()
	}
	return "•"
}

// cellRole returns the role of the cells in the n-th row of a table.
func cellRole(n int) string {
	if n == 0 {
		return "columnheader"
	}
	return "cell"
}
