package decode

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// maxStrings is how many strings JSON may be packed into: one around the body
// and one around a list have both been seen, more have not (W1–W3).
const maxStrings = 2

// mend notes that something was read though it was not what it should be.
func (r *reader) mend(at, detail, fix string) {
	if len(r.mended) < askback.MaxProblems {
		r.mended = append(r.mended, askback.Problem{Pointer: at, Detail: detail, Fix: fix})
	}
}

// parseMended is parse for bodies that may ask questions. Missing brackets at
// the end are added and a string around the body is taken off, and exact says
// that nothing at all may be mended, because there is a confirmation in it.
func parseMended(raw []byte) (r *reader, n node, exact bool, err error) {
	r, n, err = parse(raw)
	if err != nil {
		whole, ok := r.close(raw, err)
		if !ok {
			return r, n, false, err
		}
		if n = whole; confirms(n.Value) {
			return r, n, true, err
		}
	}
	n, ok := r.unwrap(n)
	if !ok {
		return r, n, false, r.err()
	}
	return r, n, confirms(n.Value), nil
}

func confirms(v jcs.Value) bool {
	_, ok := v.Get("confirmation")
	return ok
}

// close adds the brackets that are missing at the end of a text that ended too
// soon (W11), when nothing else can be missing from the last value.
func (r *reader) close(raw []byte, err error) (node, bool) {
	syntax, ok := err.(*jcs.SyntaxError)
	if !ok || syntax.Offset < len(raw) {
		return node{}, false
	}
	missing, ok := openBrackets(raw)
	if !ok {
		return node{}, false
	}
	whole := slices.Concat(raw, missing)
	v, err := jcs.Parse(whole)
	if err != nil {
		return node{}, false
	}
	r.mend("", "the JSON ended too soon", fmt.Sprintf("%q was added at its end; send all of it", missing))
	return node{Value: v, src: whole}, true
}

// openBrackets gives the closing brackets that a text lacks, innermost first.
// It is not ok behind a number, which may have lost digits, and where another
// value must follow. Inside a string they are no brackets, as the parser sees.
func openBrackets(raw []byte) (missing []byte, ok bool) {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			missing = append(missing, '}')
		case c == '[':
			missing = append(missing, ']')
		case (c == '}' || c == ']') && len(missing) > 0:
			missing = missing[:len(missing)-1] // the parser sees whether they fit
		}
	}
	slices.Reverse(missing)
	raw = bytes.TrimRight(raw, " \t\r\n")
	const last = `"}]el` // a string, an object, a list, true, false, null
	return missing, len(missing) > 0 && strings.IndexByte(last, raw[len(raw)-1]) >= 0
}

// unwrap reads JSON that was sent inside a string (W1, W2, W3). It is not ok if
// that cannot be read, which is noted then.
func (r *reader) unwrap(n node) (node, bool) {
	for n.Kind == jcs.String && packed(n.Text()) {
		if n.strings == maxStrings {
			r.wrong(n.at, "this is JSON in a string in a string in a string", "send the JSON itself")
			return n, false
		}
		inner, err := r.inside(n)
		if err != nil {
			r.wrong(n.at, fmt.Sprintf("the JSON in this string cannot be read: line %d, column %d: %s", err.Line, err.Column, err.Detail),
				"send the JSON itself, not in a string")
			return n, false
		}
		n = inner
	}
	return n, true
}

// packed says whether a text looks like a list, an object, or a string that may
// hold one.
func packed(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`[{"`, text[0]) >= 0
}

// inside parses the text of a string.
func (r *reader) inside(n node) (node, *jcs.SyntaxError) {
	src := []byte(n.Text())
	v, err := jcs.Parse(src)
	inner := node{Value: v, src: src}
	if err != nil {
		whole, ok := r.close(src, err)
		if !ok {
			return n, err.(*jcs.SyntaxError)
		}
		inner = whole
	}
	r.mend(n.at, "this was sent as a string with JSON in it", "it was read; send the JSON itself, without quotes around it")
	inner.at, inner.strings = n.at, n.strings+1
	return inner, nil
}

// cosmetic reads a text that helps, and that a question can do without (W9).
func (r *reader) cosmetic(into *string) func(node) {
	return func(n node) {
		if n.Kind != jcs.String {
			r.mend(n.at, fmt.Sprintf("this is %s; expected a string", n.Kind), "it was left out; send a string")
			return
		}
		*into = n.Text()
	}
}

// loose reads a flag that may stand in quotes or be a number (W9).
func (r *reader) loose(into *bool) func(node) {
	said := false
	return func(n node) {
		yes, ok := loosely(n)
		switch {
		case said && ok && yes != *into:
			r.wrong(n.at, "this was said before, and otherwise", "say it once")
		case !ok:
			r.mend(n.at, fmt.Sprintf("this is %s; expected true or false", n.Kind), "it was left out; send true or false")
			return
		case n.Kind != jcs.Bool:
			r.mend(n.at, "this was sent as "+shown(n), fmt.Sprintf("it was read as %t; send true or false", yes))
		}
		*into, said = yes, true
	}
}

func loosely(n node) (yes, ok bool) {
	if n.Kind == jcs.Bool {
		return n.Bool(), true
	}
	switch strings.ToLower(strings.TrimSpace(n.Text())) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return false, false
}

// shown quotes a short text, or the digits of a number.
func shown(n node) string {
	if n.Kind == jcs.String {
		return strconv.Quote(short(n.Text(), 20))
	}
	return n.Text()
}

// short keeps the first characters of a text.
func short(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// also reads a field by a name that others use for it.
func (r *reader) also(name string, read func(node)) func(node) {
	return func(n node) {
		r.mend(n.at, "this field has another name here", fmt.Sprintf("it was read as %q; use that name", name))
		read(n)
	}
}

const severalInOne = "several questions stand in one text"

// lint advises against several questions in one text, which get one answer
// between them (W14).
func (r *reader) lint(at string, q askback.Question) {
	if len(q.Options) == 0 && enumerates(q.Text) {
		r.mend(at, severalInOne, "it was asked as it is; send each as one of questions, with its options")
	}
}

// enumerates says whether a text counts 1) 2), or 1. 2. at the beginning of
// lines.
func enumerates(text string) bool {
	return inOrder(text, "1)", "2)", " \n\t(:：") || inOrder(text, "1.", "2.", "\n")
}

func inOrder(text, first, second, before string) bool {
	_, rest, ok := cutAfter("\n"+text, first, before)
	if !ok {
		return false
	}
	_, _, ok = cutAfter(rest, second, before)
	return ok
}

// cutAfter is strings.Cut at the first mark that stands behind one of these
// characters.
func cutAfter(text, mark, before string) (head, rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return text, "", false
		}
		i += from
		if r, _ := utf8.DecodeLastRuneInString(text[:i]); i > 0 && strings.ContainsRune(before, r) {
			return text[:i], text[i+len(mark):], true
		}
		from = i + len(mark)
	}
}
