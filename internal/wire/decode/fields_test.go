package decode_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// Each field that an error about an unknown field lists is known. In a body, %s is replaced
// by a field.
func TestListedFieldsAreKnown(t *testing.T) {
	request := func(b []byte) error { _, err := decode.Request(b); return err }
	answer := func(b []byte) error { _, err := decode.Answer(b); return err }
	for _, tt := range []struct {
		body  string
		parse func([]byte) error
	}{
		{"{%s}", request},
		{`{"questions": [{%s}]}`, request},
		{`{"questions": [{"options": [{%s}]}]}`, request},
		{`{"confirmation": {%s}}`, request},
		{`{"warnings": [{%s}]}`, request},
		{"{%s}", func(b []byte) error { _, err := decode.Questions(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.Confirm(b); return err }},
		{"{%s}", answer},
		{`{"answers": [{%s}]}`, answer},
		{`{"grant": {%s}}`, answer},
		{"{%s}", func(b []byte) error { _, err := decode.SessionRequest(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.Message(b, askback.RoleUser); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.Complete(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.Todos(b); return err }},
		{`{"todos": [{%s}]}`, func(b []byte) error { _, err := decode.Todos(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.TokenRequest(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.EndpointRequest(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.Resend(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.ContactRequest(b); return err }},
		{"{%s}", func(b []byte) error { _, err := decode.ContactCode(b); return err }},
	} {
		list := unknownFields(tt.parse(fmt.Appendf(nil, tt.body, `"z": 1`)))
		if len(list) != 1 {
			t.Errorf("%s: got problems %v, want one unknown field", tt.body, list)
			continue
		}
		_, names, _ := strings.Cut(list[0].Fix, " is ")
		if list, ok := strings.CutPrefix(list[0].Fix, "the fields are "); ok {
			names = list
		}
		for _, name := range strings.Split(names, ", ") {
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
