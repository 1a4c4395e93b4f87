package decode

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// maxStrings is the maximum number of times that JSON may be encoded as a string. Models have encoded the
// body, and a list in the body, but never more (W1–W3).
const maxStrings = 2

// warn adds a warning about a repair of the value that is being read.
func (r *reader) warn(detail, fix string) {
	if len(r.warnings) < limits.MaxProblems {
		r.warnAt(r.pointer(), detail, fix)
	}
}

// warnAt adds a warning about a repair. It does nothing if there are already [limits.MaxProblems] warnings.
func (r *reader) warnAt(pointer, detail, fix string) {
	if len(r.warnings) < limits.MaxProblems {
		r.warnings = append(r.warnings, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
	}
}

// parseRepaired is like parse for a body that may contain questions. It adds missing closing brackets and
// decodes a body that was sent as a string. exact reports whether the body has a confirmation, which must not
// be repaired. If such a body is truncated, parseRepaired returns the error of parse.
func parseRepaired(raw []byte) (r *reader, n node, exact bool, err error) {
	r, n, err = parse(raw)
	if err != nil {
		whole, ok := r.closeBrackets(raw, err)
		if !ok {
			return r, n, false, err
		}
		if n = whole; hasConfirmation(n.Value) {
			return r, n, true, err
		}
	}
	n, ok := r.unpack(n)
	if !ok {
		return r, n, false, r.err()
	}
	return r, n, hasConfirmation(n.Value), nil
}

func hasConfirmation(v jcs.Value) bool {
	_, ok := v.Get("confirmation")
	return ok
}

// closeBrackets adds the missing closing brackets to truncated JSON and parses the result (W11). It returns
// false if the JSON is wrong in another way, or if more than brackets may be missing.
func (r *reader) closeBrackets(raw []byte, err error) (node, bool) {
	syntax, ok := err.(*jcs.SyntaxError)
	if !ok || syntax.Offset < len(raw) {
		return node{}, false
	}
	missing, ok := missingBrackets(raw)
	if !ok {
		return node{}, false
	}
	whole := slices.Concat(raw, missing)
	v, err := jcs.Parse(whole)
	if err != nil {
		return node{}, false
	}
	r.warnAt("", "closing brackets are missing at the end of the JSON",
		fmt.Sprintf("%q was added; send complete JSON", missing))
	return node{Value: v, src: whole}, true
}

// missingBrackets returns the missing closing brackets of truncated JSON, innermost first. It returns false
// if no bracket is missing, or if another value must follow. It also returns false if the text ends in a
// number, whose last digits may be missing. It does not detect an unclosed string, because the parser does.
func missingBrackets(raw []byte) (missing []byte, ok bool) {
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
			missing = missing[:len(missing)-1] // the parser checks whether the brackets match
		}
	}
	slices.Reverse(missing)
	raw = bytes.TrimRight(raw, " \t\r\n")
	const last = `"}]el` // the last bytes of a string, an object, a list, true or false, and null
	return missing, len(missing) > 0 && strings.IndexByte(last, raw[len(raw)-1]) >= 0
}

// unpack parses JSON that was sent inside a string (W1, W2, W3). If the JSON is invalid, or inside more than
// maxStrings strings, unpack adds a problem and returns false. It returns any other value unchanged.
func (r *reader) unpack(n node) (node, bool) {
	for n.Kind == jcs.String && looksLikeJSON(n.Text()) {
		if n.strings == maxStrings {
			r.problem("this is JSON inside three strings", "send the JSON itself")
			return n, false
		}
		inner, err := r.parseString(n)
		if err != nil {
			r.problem(fmt.Sprintf("the JSON in this string cannot be read: line %d, column %d: %s", err.Line,
				err.Column, err.Detail),
				"send the JSON itself, not in a string")
			return n, false
		}
		n = inner
	}
	return n, true
}

// looksLikeJSON reports whether text begins like an array, an object, or a string that may contain an array
// or an object.
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`[{"`, text[0]) >= 0
}

// parseString parses the content of a string as JSON, adds missing closing brackets, and
// adds a warning.
func (r *reader) parseString(n node) (node, *jcs.SyntaxError) {
	src := []byte(n.Text())
	v, err := jcs.Parse(src)
	inner := node{Value: v, src: src}
	if err != nil {
		whole, ok := r.closeBrackets(src, err)
		if !ok {
			return n, err.(*jcs.SyntaxError)
		}
		inner = whole
	}
	r.warn("this is JSON inside a string", "it was parsed; send the JSON itself, without quotes around it")
	inner.strings = n.strings + 1
	return inner, nil
}

// lenientText reads an optional string of a question. It ignores a value of another kind, with a warning
// (W9).
func (r *reader) lenientText(n node, into *string) {
	if n.Kind != jcs.String {
		r.warn("expected a string, got "+n.Kind.String(), "it was ignored; send a string")
		return
	}
	*into = r.stringOf(n)
}

// lenientFlag reads a flag that may be a string or a number (W9). It ignores any other value with a warning.
// If the flag was seen before with another value, it adds a problem.
func (r *reader) lenientFlag(n node, into, seen *bool) {
	yes, ok := parseFlag(n)
	switch {
	case *seen && ok && yes != *into:
		r.problem("this flag was given twice, with different values", "send it once")
	case !ok:
		r.warn("expected true or false, got "+n.Kind.String(), "it was ignored; send true or false")
		return
	case n.Kind != jcs.Bool:
		r.warn("expected true or false, got "+excerpt(n), fmt.Sprintf("it was read as %t; send true or false", yes))
	}
	*into, *seen = yes, true
}

// parseFlag returns the value of a flag that is a boolean, a string such as "yes", or a number such as 1. ok
// is false for any other value.
func parseFlag(n node) (yes, ok bool) {
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

// excerpt returns the beginning of a string in quotes, or a number as it was sent.
func excerpt(n node) string {
	if n.Kind == jcs.String {
		return strconv.Quote(truncate(n.Text(), 20))
	}
	return n.Text()
}

// truncate returns s, truncated to limit characters. If s is longer, the last character of the result is an
// ellipsis.
func truncate(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// warnAlias adds a warning about a field that was sent under a name that other programs use.
func (r *reader) warnAlias(name string) {
	r.warn("this field has a different name here", fmt.Sprintf("it was read as %q; use that name", name))
}

const severalQuestions = "this text asks several questions"

// warnSeveralQuestions adds a warning if q has no options and its text enumerates several
// questions, which would get one answer (W14).
func (r *reader) warnSeveralQuestions(q *askback.Question) {
	if len(q.Options) == 0 && isEnumeration(q.Text) {
		r.enter("question")
		r.warn(severalQuestions, "it was asked as one question; send each as an entry of questions, with its options")
		r.leave()
	}
}

// isEnumeration reports whether text contains 1) and then 2), or lines that begin with 1.
// and then 2.
func isEnumeration(text string) bool {
	return containsInOrder(text, "1)", "2)", " \n\t(:：") || containsInOrder(text, "1.", "2.", "\n")
}

func containsInOrder(text, first, second, before string) bool {
	if !strings.Contains(text, first) {
		return false
	}
	rest, ok := after("\n"+text, first, before)
	if ok {
		_, ok = after(rest, second, before)
	}
	return ok
}

// after returns the text after the first mark that follows one of the characters in before.
func after(text, mark, before string) (rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return "", false
		}
		i += from
		if r, _ := utf8.DecodeLastRuneInString(text[:i]); i > 0 && strings.ContainsRune(before, r) {
			return text[i+len(mark):], true
		}
		from = i + len(mark)
	}
}
