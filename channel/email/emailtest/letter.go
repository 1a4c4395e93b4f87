package emailtest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"strings"
	"testing"

	"github.com/emersion/go-message"
)

// A Letter is a decoded message with its plain text and its HTML.
type Letter struct {
	Header       mail.Header
	Text, Markup string
}

// Field returns a decoded field of the header.
func (l Letter) Field(name string) string {
	s, _ := (&mime.WordDecoder{}).DecodeHeader(l.Header.Get(name))
	return s
}

// ReplyTo returns the address for replies without the name, or "".
func (l Letter) ReplyTo() string {
	a, err := mail.ParseAddress(l.Header.Get("Reply-To"))
	if err != nil {
		return ""
	}
	return a.Address
}

// Decode decodes a message. The test fails unless the message has only a text part and an HTML part.
func (m Message) Decode(t testing.TB) Letter {
	t.Helper()
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := message.Read(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	parts := whole.MultipartReader()
	if parts == nil {
		t.Fatalf("the message has no parts:\n%s", m.Raw)
	}
	out := Letter{Header: parsed.Header}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(body), "\r\n", "\n")
		switch kind, _, _ := part.Header.ContentType(); kind {
		case "text/plain":
			out.Text = text
		case "text/html":
			out.Markup = text
		default:
			t.Errorf("a part is %s", kind)
		}
	}
}
