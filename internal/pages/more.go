package pages

import "slices"

// A PageLink is an entry of the navigation.
type PageLink struct {
	Name, Path string
	About      string // purpose of the page, in a sentence or two; "" for [InBar]
	Place      Place
}

// A Place is a position of a link in the navigation.
type Place uint8

// The places. A link in the header or the menu is also on the page [More].
const (
	InMenu   Place = iota // in the menu of the header
	InHeader              // in the header; on a phone only on the page More
	InBar                 // in the header, which is a bar on a phone
)

// linksIn returns the links that have one of these places.
func (f Frame) linksIn(places ...Place) []PageLink {
	var links []PageLink
	for _, l := range f.Links {
		if slices.Contains(places, l.Place) {
			links = append(links, l)
		}
	}
	return links
}

// pageIn reports whether the current page has one of these places.
func (f Frame) pageIn(places ...Place) bool {
	return slices.ContainsFunc(f.linksIn(places...), func(l PageLink) bool { return l.Path == f.Page })
}
