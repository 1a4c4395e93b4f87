package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// printJSON writes v as indented JSON. If w is a terminal, it escapes control characters.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeJSON(w, b.Bytes(), terminal.IsTerminal(w))
}

// writeJSON writes raw, which must be JSON. If escape is true, it escapes the control and
// format characters that encoding/json leaves unchanged. The value is the same.
func writeJSON(w io.Writer, raw []byte, escape bool) error {
	if escape {
		raw = escaped(raw)
	}
	_, err := w.Write(raw)
	return err
}

func escaped(raw []byte) []byte {
	var out []byte
	for _, r := range string(raw) {
		switch {
		case r != 0x7f && (r < 0x80 || r > 0x9f) && !unicode.Is(unicode.Cf, r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// printLine writes one line for people, safe for a terminal.
func printLine(w io.Writer, text string) {
	_, _ = fmt.Fprintln(w, safetext.Line(text))
}

// printAnswers writes answers for scripts: one value per line for one question, or a JSON
// object for several.
func printAnswers(w io.Writer, answers []askback.QuestionAnswer, questions []askback.Question) error {
	if len(answers) > 1 {
		return printObject(w, answers, questions)
	}
	for _, a := range answers {
		for _, value := range a.Values() {
			if _, err := fmt.Fprintln(w, plain(w, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain returns value unchanged or, if w is a terminal, in a form that is safe there.
func plain(w io.Writer, value string) string {
	if terminal.IsTerminal(w) {
		return safetext.Block(value).String()
	}
	return value
}

// printObject writes a JSON object with the answer to each question, in the order of the
// questions. The answer to a multi-select question is an array.
func printObject(w io.Writer, answers []askback.QuestionAnswer, questions []askback.Question) error {
	var b bytes.Buffer
	b.WriteString("{")
	for i, a := range answers {
		if i > 0 {
			b.WriteString(",")
		}
		var value any = a.String()
		if questions[i].MultiSelect {
			value = append([]string{}, a.Values()...)
		}
		if err := member(&b, a.Question, value); err != nil {
			return err
		}
	}
	b.WriteString("\n}\n")
	return writeJSON(w, b.Bytes(), terminal.IsTerminal(w))
}

func member(b *bytes.Buffer, name string, value any) error {
	for i, v := range []any{name, value} {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		b.WriteString([]string{"\n  ", ": "}[i])
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode adds a line feed
	}
	return nil
}
