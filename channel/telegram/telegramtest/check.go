package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var commandForm = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// Limits of messages.
const (
	maxText     = 4096
	maxEntities = 100
	maxRow      = 8
	maxButtons  = 100
	maxData     = 64
)

// setText sets the text as Telegram does. It trims the text, rejects entities outside of the text, and
// records text that Telegram would turn into links, mentions and commands.
func (m *Message) setText(in content) error {
	text := strings.TrimRight(in.Text, " \n")
	switch {
	case strings.TrimSpace(text) == "":
		return bad("message text is empty")
	case units(text) > maxText:
		return bad("message is too long")
	case strings.TrimLeft(text, " \n") != text:
		m.Damage = append(m.Damage, "the beginning is trimmed")
	case !in.Preview.Disabled:
		m.Damage = append(m.Damage, "a link may have a preview")
	}
	if len(in.Entities) > maxEntities {
		m.Damage = append(m.Damage, fmt.Sprintf("%d entities are ignored", len(in.Entities)-maxEntities))
		in.Entities = in.Entities[:maxEntities]
	}
	end := 0
	for _, e := range in.Entities {
		if _, ok := part(in.Text, e); !ok {
			return bad("can't parse entities: entity of type %s at %d with length %d", e.Type, e.Offset, e.Length)
		}
		if e.Offset < end { // this server rejects nested entities
			return bad("can't parse entities: entities overlap at %d", e.Offset)
		}
		end = e.Offset + e.Length
		switch e.Type {
		case "bold", "code", "pre":
		case "text_link":
			if !isURL(e.URL) {
				m.Damage = append(m.Damage, "this is not the address of a link: "+e.URL)
			}
		default:
			return bad("can't parse entities: unsupported type %s", e.Type)
		}
	}
	m.Text, m.Entities = text, in.Entities
	m.Damage = append(m.Damage, active(text, in.Entities)...)
	return nil
}

// actives matches text outside of code that Telegram turns into links: addresses, mentions, commands,
// hashtags and mail addresses.
var actives = regexp.MustCompile(`(?i)\b(https?|tg)://\S+|\b[\w-]+(\.[\w-]+)*\.(com|org|net|io|dev|me|example|ai)\b|(^|[^\w/@])(@\w{3,}|/[a-z0-9_]+|#\w+)|[\w.+-]+@[\w-]+\.\w+`)

// active returns the text on which a tap would act, although the bot has not marked the text as an entity.
func active(text string, entities []Entity) (found []string) {
	rest := text
	for _, e := range entities {
		if e.Type != "bold" {
			s, _ := part(text, e)
			rest = strings.Replace(rest, s, strings.Repeat("\x00", len(s)), 1)
		}
	}
	return actives.FindAllString(rest, -1)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(u.Hostname(), ".")
}

// setMarkup sets the buttons of a message or, for a new message, the request for a reply.
func (m *Message) setMarkup(raw json.RawMessage, isNew bool) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var in struct {
		Rows        *[][]Button `json:"inline_keyboard"`
		Force       bool        `json:"force_reply"`
		Placeholder string      `json:"input_field_placeholder"`
	}
	if err := strict(raw, &in); err != nil {
		return err
	}
	switch {
	case in.Rows == nil && in.Force && isNew:
		if n := len([]rune(in.Placeholder)); n > 64 {
			return bad("the placeholder has %d characters", n)
		}
		m.Force = true
		return nil
	case in.Rows == nil || in.Force:
		return bad("object expected as reply markup")
	}
	count := 0
	for _, row := range *in.Rows {
		if len(row) > maxRow {
			return bad("reply markup is too long: %d buttons in a row", len(row))
		}
		for _, b := range row {
			if count++; count > maxButtons {
				return bad("reply markup is too long")
			}
			if err := b.check(); err != nil {
				return err
			}
		}
	}
	if count > 0 {
		m.Buttons = *in.Rows
	}
	return nil
}

func (b Button) check() error {
	switch {
	case strings.TrimSpace(b.Text) == "":
		return bad("can't parse inline keyboard button: text buttons are unallowed in the inline keyboard")
	case (b.Data == "") == (b.URL == ""):
		return bad("can't parse inline keyboard button: exactly one field is expected besides text")
	case len(b.Data) > maxData:
		return bad("BUTTON_DATA_INVALID")
	case b.URL != "" && !isURL(b.URL):
		return bad("inline keyboard button URL '%s' is invalid: Wrong HTTP URL", b.URL)
	}
	return nil
}
