package email

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxMarkupDepth is the maximum depth of nested elements in a reply. Mail programs nest fewer than a hundred.
const maxMarkupDepth = 500

// textOfMarkup returns the text of a reply that has only HTML. Each quoted line begins with ">". For HTML
// that cannot be parsed it returns "".
func textOfMarkup(markup string) string {
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		return ""
	}
	var w markupWriter
	w.node(root, 0)
	w.breakLine()
	return w.b.String()
}

// A markupWriter writes the text of HTML.
type markupWriter struct {
	b       strings.Builder
	line    strings.Builder
	quoted  int  // number of open quotations
	exact   int  // number of open elements with exact spaces
	cut     bool // the rest is the quoted message
	spacing bool // a space is due before the next word
}

// node writes the text of a node and its children.
func (w *markupWriter) node(n *html.Node, depth int) {
	if depth > maxMarkupDepth || w.cut {
		return
	}
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode:
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Head, atom.Title, atom.Template, atom.Noscript:
			return
		case atom.Br:
			w.exactBreak()
			return
		}
		if isQuotedRest(n) {
			w.breakLine()
			w.cut = true
			return
		}
		if isSignature(n) {
			w.breakLine()
			w.line.WriteString("-- ")
			w.exactBreak()
		}
	}
	block, quote := isBlock(n), isQuotation(n)
	if block || quote {
		w.breakLine()
	}
	if quote {
		w.quoted++
	}
	if n.DataAtom == atom.Pre {
		w.exact++
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child, depth+1)
	}
	if n.DataAtom == atom.Pre {
		w.exact--
	}
	if block || quote {
		w.breakLine()
	}
	if quote {
		w.quoted--
	}
	if n.DataAtom == atom.P {
		w.exactBreak()
	}
}

// text writes s. Outside of exact text, consecutive spaces and line ends become one space.
func (w *markupWriter) text(s string) {
	if w.exact > 0 {
		for i, l := range strings.Split(s, "\n") {
			if i > 0 {
				w.exactBreak()
			}
			w.line.WriteString(l)
		}
		return
	}
	for _, r := range s {
		if strings.ContainsRune(" \t\r\n\f", r) {
			w.spacing = w.line.Len() > 0
			continue
		}
		if w.spacing {
			w.line.WriteByte(' ')
			w.spacing = false
		}
		w.line.WriteRune(r)
	}
}

// breakLine ends the line unless it is empty.
func (w *markupWriter) breakLine() {
	if w.line.Len() > 0 {
		w.exactBreak()
	}
}

// exactBreak ends the line, even if it is empty.
func (w *markupWriter) exactBreak() {
	if w.quoted > 0 {
		w.b.WriteString("> ")
	}
	w.b.WriteString(w.line.String())
	w.b.WriteByte('\n')
	w.line.Reset()
	w.spacing = false
}

func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Tr, atom.Table, atom.Pre, atom.Hr, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Body:
		return true
	}
	return false
}

// isQuotation reports whether an element contains quoted text. Text of the person may follow the element.
func isQuotation(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	class := " " + attribute(n, "class") + " "
	for _, c := range []string{
		" gmail_quote ", " gmail_quote_container ", " gmail_attr ", " yahoo_quoted ", " protonmail_quote ",
		" moz-cite-prefix ", " tutanota_quote ", " zmail_extra ",
	} {
		if strings.Contains(class, c) {
			return true
		}
	}
	return n.DataAtom == atom.Blockquote
}

// isQuotedRest reports whether the quoted message begins at an element. Outlook writes such an element before
// the quoted text, not around it.
func isQuotedRest(n *html.Node) bool {
	id := strings.ToLower(attribute(n, "id"))
	for _, s := range []string{
		"divrplyfwdmsg", "appendonsend", "mail-editor-reference-message-container",
		"ms-outlook-mobile-reference-message",
	} {
		if strings.Contains(id, s) {
			return true
		}
	}
	style := strings.ReplaceAll(strings.ToLower(attribute(n, "style")), " ", "")
	return n.DataAtom == atom.Div && (strings.Contains(style, "border-top:solid#e1e1e1") ||
		strings.Contains(style, "border-top:solid#b5c4df")) ||
		n.DataAtom == atom.Hr && strings.Contains(id, "stopspelling")
}

// isSignature reports whether an element is the signature of a mail program.
func isSignature(n *html.Node) bool {
	id, class := strings.ToLower(attribute(n, "id")), " "+attribute(n, "class")+" "
	return id == "signature" || id == "ms-outlook-mobile-signature" || id == "applemailsignature" ||
		strings.Contains(class, " gmail_signature ") ||
		strings.Contains(class, " moz-signature ") || strings.Contains(class, " protonmail_signature_block ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
