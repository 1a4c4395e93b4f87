package pages

import "github.com/askback/askback/internal/view"

// look names the classes of a span.
func look(s view.Span) string {
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

func bullet(i view.Item) string {
	if said(i.Marker) {
		return i.Marker.String()
	}
	return "•"
}
