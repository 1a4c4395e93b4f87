package askback

import (
	"bytes"
	"encoding/json"

	"github.com/askback/askback/internal/wire/codec"
)

//go:generate go run ./internal/wire/codecgen

// marshal returns the JSON of a value like json.Marshal, but does not escape <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// appendDefault appends the default of a question: a list if the question allows several answers, else a
// string. Without a default, it appends null.
func (q Question) appendDefault(b []byte) []byte {
	switch {
	case len(q.Default) == 0:
		return append(b, "null"...)
	case q.MultiSelect:
		return codec.AppendStrings(b, q.Default)
	}
	return codec.AppendString(b, q.Default[0])
}

// readDefault reads the output of appendDefault.
func (q *Question) readDefault(r *codec.Reader) {
	if r.Kind() == '"' {
		q.Default = []string{r.String()}
		return
	}
	q.Default = r.Strings()
}
