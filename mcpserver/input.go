package mcpserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// An inputError is a mistake in the input of a tool of this package, written for the model.
type inputError string

func (m inputError) Error() string { return string(m) }

// An input has the parsed fields of the input of a tool of this package.
type input struct {
	id      string
	reason  string
	cursor  string
	seconds int64 // -1 if not given
}

// maxWaitSeconds bounds max_wait_s. A day is longer than any client waits, and does not
// overflow a time.Duration.
const maxWaitSeconds = 24 * 60 * 60

// maxName is the maximum number of characters of a name or an id from a client that are copied to a message
// or a session id.
const maxName = 60

const exampleID = `Example: {"question_id": "ask_01k8gkzv9x2n4p6r8t0v2w4y6z"}`

// readInput parses the input of a tool with the given fields. If fields contains question_id, the input must
// have it. Unknown fields are rejected, because the model expects them to have an effect.
func readInput(raw []byte, fields ...string) (input, error) {
	in := input{seconds: -1}
	v, err := jcs.Parse(raw)
	if err != nil || v.Kind != jcs.Object {
		return in, inputError("The input must be one JSON object. " + example(fields))
	}
	for _, m := range v.Members() {
		if !slices.Contains(fields, m.Name) {
			return in, inputError(fmt.Sprintf("/%s: unknown field; known fields: %s. %s", clip(m.Name, maxName),
				strings.Join(fields, " and "), example(fields)))
		}
		if err := in.set(m); err != nil {
			return in, err
		}
	}
	if slices.Contains(fields, "question_id") && in.id == "" {
		return in, inputError("/question_id: missing; it is in the pending result. " + exampleID)
	}
	return in, nil
}

func (in *input) set(m jcs.Member) error {
	if m.Name == "max_wait_s" {
		return in.setSeconds(m.Value)
	}
	if m.Value.Kind != jcs.String {
		return inputError(fmt.Sprintf("/%s: must be a string, not %s. %s", m.Name, m.Value.Kind, exampleID))
	}
	switch text := m.Value.Text(); m.Name {
	case "reason":
		in.reason = text
	case "cursor":
		in.cursor = text
	default:
		in.id = strings.TrimSpace(text)
	}
	return nil
}

// setSeconds sets the seconds from max_wait_s. Models also send a number in quotes, or null, which has the
// same meaning as no value.
func (in *input) setSeconds(v jcs.Value) error {
	n, ok := v.Int()
	if v.Kind == jcs.String {
		var err error
		n, err = strconv.ParseInt(strings.TrimSpace(v.Text()), 10, 64)
		ok = err == nil
	}
	switch {
	case v.Kind == jcs.Null:
		return nil
	case !ok || n < 0:
		return inputError(`/max_wait_s: must be a number of seconds, 0 or more. Example: {"question_id": "ask_01k8gkzv9x2n4p6r8t0v2w4y6z", "max_wait_s": 40}`)
	}
	in.seconds = min(n, maxWaitSeconds)
	return nil
}

func example(fields []string) string {
	if !slices.Contains(fields, "question_id") {
		return "Example: {}"
	}
	return exampleID
}

// clip returns text, or its first limit characters followed by "…" if it has more.
func clip(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}
