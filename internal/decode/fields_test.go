package decode_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
)

// Each field that an error about an unknown field lists is read. %s is the place of the
// fields in a body.
func TestListedFieldsAreRead(t *testing.T) {
	request := func(b []byte) error { _, err := decode.Request(b); return err }
	answer := func(b []byte) error { _, err := decode.Answer(b); return err }
	for _, tt := range []struct {
		body  string
		parse func([]byte) error
		count int
	}{
		{"{%s}", request, 27},
		{`{"questions": [{%s}]}`, request, 11},
		{`{"questions": [{"options": [{%s}]}]}`, request, 3},
		{`{"confirmation": {%s}}`, request, 9},
		{`{"warnings": [{%s}]}`, request, 3},
		{"{%s}", func(b []byte) error { _, err := decode.Questions(b); return err }, 12},
		{"{%s}", func(b []byte) error { _, err := decode.Confirm(b); return err }, 3},
		{"{%s}", answer, 7},
		{`{"answers": [{%s}]}`, answer, 5},
		{`{"grant": {%s}}`, answer, 2},
		{"{%s}", func(b []byte) error { _, err := decode.SessionRequest(b); return err }, 7},
		{"{%s}", func(b []byte) error { _, err := decode.Message(b, askback.RoleUser); return err }, 3},
		{"{%s}", func(b []byte) error { _, err := decode.Complete(b); return err }, 3},
		{"{%s}", func(b []byte) error { _, err := decode.Todos(b); return err }, 1},
		{`{"todos": [{%s}]}`, func(b []byte) error { _, err := decode.Todos(b); return err }, 2},
		{"{%s}", func(b []byte) error { _, err := decode.TokenRequest(b); return err }, 3},
	} {
		list := unknownFields(tt.parse(fmt.Appendf(nil, tt.body, `"z": 1`)))
		if len(list) != 1 {
			t.Errorf("%s: got problems %v, want one unknown field", tt.body, list)
			continue
		}
		names := strings.Split(strings.TrimPrefix(list[0].Fix, "the fields are "), ", ")
		if len(names) != tt.count {
			t.Errorf("%s: got %d fields, want %d: %v", tt.body, len(names), tt.count, names)
		}
		for _, name := range names {
			for _, value := range []string{"1", "null"} {
				body := fmt.Appendf(nil, tt.body, fmt.Sprintf("%q: %s", name, value))
				if got := unknownFields(tt.parse(body)); len(got) > 0 {
					t.Errorf("%s: got %v", body, got)
				}
			}
		}
	}
}

func unknownFields(err error) (out []askback.Problem) {
	bad, _ := errors.AsType[askback.Invalid](err)
	for _, p := range bad {
		if p.Detail == "unknown field" {
			out = append(out, p)
		}
	}
	return out
}
