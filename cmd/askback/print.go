package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/terminal"
)

// printJSON writes what the API gives, indented.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printAnswers writes what a script takes: the answer to one question, one
// value a line, or an object by question for several.
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

// plain is a value as it is for a program, and made safe for a terminal.
func plain(w io.Writer, value string) string {
	if terminal.Is(w) {
		return safetext.Block(value).String()
	}
	return value
}

// printObject writes {"<question>": "<answer>" | ["…"]} in the order of the
// questions.
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
	_, err := w.Write(b.Bytes())
	return err
}

func member(b *bytes.Buffer, name string, value any) error {
	for i, v := range []any{name, value} {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		b.WriteString([]string{"\n  ", ": "}[i])
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line feed of Encode
	}
	return nil
}
