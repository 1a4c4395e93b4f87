package web_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// A node is an element of a page, or text, which has no tag.
type node struct {
	tag    string
	attr   map[string]string
	text   string
	kids   []*node
	parent *node
}

// parse parses Askback's own pages, which are nearly XML.
func parse(t *testing.T, page string) *node {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, append(slices.Clone(xml.HTMLAutoClose), "wbr"), xml.HTMLEntity
	root := &node{}
	at := root
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{tag: token.Name.Local, attr: map[string]string{}, parent: at}
			for _, a := range token.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			at.kids = append(at.kids, n)
			at = n
		case xml.EndElement:
			at = at.parent
		case xml.CharData:
			at.kids = append(at.kids, &node{text: string(token), parent: at})
		}
	}
}

// all returns the elements that match a selector: tag, .class, #id, [attr] and
// [attr=value] in any combination, with spaces for descendants.
func (n *node) all(selector string) []*node {
	found := []*node{n}
	for part := range strings.FieldsSeq(selector) {
		var next []*node
		for _, n := range found {
			n.walk(func(k *node) {
				if k != n && k.is(part) && !slices.Contains(next, k) {
					next = append(next, k)
				}
			})
		}
		found = next
	}
	return found
}

func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, k := range n.kids {
		k.walk(visit)
	}
}

func (n *node) is(part string) bool {
	if n.tag == "" {
		return false
	}
	for part != "" {
		end := len(part)
		if i := strings.IndexAny(part[1:], ".#["); i >= 0 {
			end = i + 1
		}
		simple := part[:end]
		part = part[end:]
		ok := simple == n.tag
		switch simple[0] {
		case '.':
			ok = slices.Contains(strings.Fields(n.attr["class"]), simple[1:])
		case '#':
			ok = n.attr["id"] == simple[1:]
		case '[':
			name, value, valued := strings.Cut(strings.Trim(simple, "[]"), "=")
			got, has := n.attr[name]
			ok = has && (!valued || got == strings.Trim(value, `"`))
		}
		if !ok {
			return false
		}
	}
	return true
}

// one returns the only element that matches a selector.
func (n *node) one(t *testing.T, selector string) *node {
	t.Helper()
	found := n.all(selector)
	if len(found) != 1 {
		t.Fatalf("%d elements are %s, want 1, in\n%s", len(found), selector, n.visibleText())
	}
	return found[0]
}

// raw returns the text of an element with its white space.
func (n *node) raw() string {
	var b strings.Builder
	n.walk(func(k *node) { b.WriteString(k.text) })
	return b.String()
}

// visibleText returns the text of an element on one line.
func (n *node) visibleText() string {
	var b strings.Builder
	n.walk(func(k *node) { b.WriteString(k.text + " ") })
	return strings.Join(strings.Fields(b.String()), " ")
}

// inside reports whether n or one of its ancestors matches the selector.
func (n *node) inside(selector string) bool {
	for p := n; p != nil; p = p.parent {
		if p.is(selector) {
			return true
		}
	}
	return false
}
