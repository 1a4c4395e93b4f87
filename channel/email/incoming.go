package email

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // registers the character sets of old mail programs
	"github.com/emersion/go-message/textproto"
)

// maxIncoming is the maximum number of bytes of a message that are read. The text is at the beginning, before
// the attachments.
const maxIncoming = 1 << 20

// maxParts is the maximum number of parts of a message that are read.
const maxParts = 100

// incoming is the decoded form of a message from the mailbox.
type incoming struct {
	header textproto.Header
	text   string // text of the body, with quotations
	cutOff bool   // whether the text continues after the part that was read
}

// errMessage is returned for a message that cannot be parsed.
var errMessage = errors.New("the message cannot be read")

// parseHeader returns the header of a message.
func parseHeader(raw []byte) (textproto.Header, error) {
	h, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return h, errMessage
	}
	return h, nil
}

// parse parses a message. The argument raw is the beginning of the message, at most maxIncoming bytes.
func parse(raw []byte) (incoming, error) {
	h, err := parseHeader(raw)
	if err != nil {
		return incoming{}, err
	}
	in := incoming{header: h}
	entity, err := message.Read(bytes.NewReader(raw))
	if err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) || entity == nil {
		return in, errMessage
	}
	t := texts{left: maxParts}
	t.read(entity, 0)
	in.text, in.cutOff = t.plain, t.plainCut
	if strings.TrimSpace(t.plain) == "" && t.markup != "" {
		in.text, in.cutOff = textOfMarkup(t.markup), t.markupCut
	}
	in.text = strings.ToValidUTF8(in.text, "\uFFFD")
	in.cutOff = in.cutOff && len(raw) >= maxIncoming
	return in, nil
}

// A texts collects the first plain text and the first HTML of a message.
type texts struct {
	plain, markup       string
	plainCut, markupCut bool
	left                int
}

// read reads the plain text and the HTML of an entity and its parts, without attachments.
func (t *texts) read(e *message.Entity, depth int) {
	if t.left--; t.left < 0 || depth > 10 {
		return
	}
	if parts := e.MultipartReader(); parts != nil {
		for {
			part, err := parts.NextPart()
			if err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) ||
				part == nil || t.left < 0 {
				return
			}
			t.read(part, depth+1)
		}
	}
	kind, _, err := e.Header.ContentType()
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	if disposition, _, _ := e.Header.ContentDisposition(); strings.EqualFold(disposition, "attachment") {
		return
	}
	switch {
	case kind == "text/plain" && t.plain == "":
		body, err := io.ReadAll(e.Body)
		t.plain, t.plainCut = unflow(e, string(body)), err != nil
	case kind == "text/html" && t.markup == "":
		body, err := io.ReadAll(e.Body)
		t.markup, t.markupCut = string(body), err != nil
	}
}

// unflow joins the lines that a mail program broke for format=flowed (RFC 3676), and returns the result. Text
// in another format is returned unchanged.
func unflow(e *message.Entity, text string) string {
	_, params, _ := e.Header.ContentType()
	if !strings.EqualFold(params["format"], "flowed") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		quoted := strings.HasPrefix(line, ">")
		line = strings.TrimPrefix(line, " ") // stuffed
		if strings.HasSuffix(line, " ") && line != "-- " && !quoted {
			if strings.EqualFold(params["delsp"], "yes") {
				line = strings.TrimSuffix(line, " ")
			}
			b.WriteString(line)
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// sender returns the address of the author of a message. If the message does not have exactly one valid
// author, it returns "".
func sender(h textproto.Header) string {
	var values []string
	for f := h.FieldsByKey("From"); f.Next(); {
		values = append(values, f.Value())
	}
	if len(values) != 1 {
		return ""
	}
	parser := mail.AddressParser{WordDecoder: &mime.WordDecoder{CharsetReader: message.CharsetReader}}
	list, err := parser.ParseList(values[0])
	if err != nil || len(list) != 1 {
		return ""
	}
	return list[0].Address
}

// recipients returns the addresses to which a message was sent, in the order of recipientFields.
func recipients(h textproto.Header) (addresses []string) {
	for _, key := range recipientFields {
		for f := h.FieldsByKey(key); f.Next(); {
			list, err := mail.ParseAddressList(f.Value())
			if err != nil {
				addresses = append(addresses, strings.Trim(strings.TrimSpace(f.Value()), "<>"))
				continue
			}
			for _, a := range list {
				addresses = append(addresses, a.Address)
			}
		}
	}
	return addresses
}

// automatic returns the reason why a message is not from a person, or "" if it may be from a person. It finds
// out-of-office notices, mailing lists, bounces and messages of this server.
func automatic(h textproto.Header) (why string) {
	field := func(key string) string { return strings.ToLower(strings.TrimSpace(h.Get(key))) }
	if v, _, _ := strings.Cut(field("Auto-Submitted"), ";"); v != "" && strings.TrimSpace(v) != "no" {
		return "it was sent automatically"
	}
	switch field("Precedence") {
	case "bulk", "junk", "list", "auto_reply":
		return "it was sent to many people"
	}
	for _, key := range []string{
		"X-Autoreply", "X-Autorespond", "X-Auto-Response", "X-Auto-Response-Suppress", "X-Failed-Recipients",
		"List-Id", "List-Unsubscribe", "Feedback-ID",
	} {
		if h.Has(key) {
			return "it has the field " + key
		}
	}
	if h.Has("Return-Path") && strings.Trim(field("Return-Path"), "<> ") == "" {
		return "its return path is empty, as in a bounce"
	}
	kind, _, _ := strings.Cut(field("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "multipart/report", "message/delivery-status", "message/disposition-notification", "text/calendar":
		return "it is a " + kind
	}
	local, _, _ := strings.Cut(strings.ToLower(sender(h)), "@")
	switch local {
	case "mailer-daemon", "postmaster", "noreply", "no-reply", "donotreply", "do-not-reply":
		return "it is from " + local
	}
	return awaySubject(h)
}

// awaySubjects are beginnings of subjects. They belong to out-of-office notices and bounces from servers that
// do not mark these messages as automatic.
var awaySubjects = []string{
	"automatic reply:", "auto:", "autoreply:", "auto-reply:", "out of office", "out of the office",
	"automatische antwort:", "abwesenheitsnotiz", "abwesend:", "réponse automatique", "absence du bureau",
	"respuesta automática", "resposta automática", "risposta automatica", "automatisch antwoord", "autosvar",
	"automatiskt svar", "odpowiedź automatyczna", "автоответ", "自動応答", "自动答复", "undeliverable:",
	"undelivered mail", "delivery status notification", "mail delivery failed", "read:", "gelesen:",
}

func awaySubject(h textproto.Header) (why string) {
	decoder := mime.WordDecoder{CharsetReader: message.CharsetReader}
	subject, err := decoder.DecodeHeader(h.Get("Subject"))
	if err != nil {
		subject = h.Get("Subject")
	}
	for _, s := range awaySubjects {
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(subject)), s) {
			return "its subject marks it as an automatic message"
		}
	}
	return ""
}
