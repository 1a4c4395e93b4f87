package post

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A Request is the POST that carries a message to a service.
type Request struct {
	URL    string
	Header map[string]string
	Body   []byte
	Whole  bool // it has the whole of the ask, and not only the link
}

// Render returns the request that shows an ask to a receiver after an event: as it is now, or
// how it ended. The receiver passes [Receiver.Check]. The buttons are those of
// [notice.Choices], in their order, and are left out if they do not fit together with the whole
// ask, or if the service has none.
//
// A message has the whole ask, or says that the whole does not fit and has the link (F3).
func Render(r Receiver, event askback.EventType, a askback.Ask, buttons []notice.Button) (Request, error) {
	if r.Template != Ntfy {
		buttons = nil // no other service has buttons that send a request
	}
	switch {
	case event.Settles() || a.Settled():
		return first(r, notice.Settled(a, true, len(buttons) > 0), notice.Settled(a, false, len(buttons) > 0))
	case event == askback.EventQuestionReassigned:
		return first(r, notice.Reassigned(a))
	}
	request, err := first(r, notice.Pending(a, buttons), notice.Pending(a, nil))
	if err == nil {
		request.Whole = true
		return request, nil
	}
	return first(r, notice.Short(a, true), notice.Short(a, false))
}

// RenderTest returns the request of a test message.
func RenderTest(r Receiver) (Request, error) { return first(r, notice.Test()) }

// errDoesNotFit is returned if a message is larger than the service accepts, or has text that
// the service would change.
var errDoesNotFit = fmt.Errorf("the message does not fit")

// first returns the request of the first message that fits.
func first(r Receiver, messages ...notice.Message) (Request, error) {
	for _, m := range messages {
		content, fits := drawings[r.Template](r, m)
		if !fits {
			continue
		}
		body, err := encode(content.body)
		if err != nil {
			return Request{}, err
		}
		if content.maxBody > 0 && len(body) > content.maxBody {
			continue
		}
		header := map[string]string{"Content-Type": "application/json"}
		if content.header != "" {
			header[content.header] = content.secret
		}
		return Request{URL: content.url, Header: header, Body: body}, nil
	}
	return Request{}, errDoesNotFit
}

// A content is what a template makes of a message.
type content struct {
	url            string
	header, secret string // a header with the token; "" for none
	body           any    // encoded as JSON
	maxBody        int    // bytes of the JSON; 0: no maximum
}

// drawings are the templates. Each returns the content of a message, and whether the message
// fits the limits of the service.
var drawings = map[Template]func(Receiver, notice.Message) (content, bool){
	Ntfy: drawNtfy, Pushover: drawPushover, Gotify: drawGotify, Discord: drawDiscord,
	Teams: drawTeams, Mattermost: drawMattermost, HomeAssistant: drawHomeAssistant,
}

// encode returns a value as JSON, with < and > as they are: escapes count against the limits
// of services.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// bearer returns the value of an Authorization header.
func bearer(token string) (header, secret string) {
	if token == "" {
		return "", ""
	}
	return "Authorization", "Bearer " + token
}
