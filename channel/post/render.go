package post

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A Request is the POST that sends a message to a service.
type Request struct {
	URL    string
	Header map[string]string
	Body   []byte
	Whole  bool // true if the message has the whole ask, and not only the link
}

// Render returns the request that shows an ask to a receiver after an event. The message has the outcome of a
// settled ask, or the whole ask. If the ask does not fit, the message has a notice and the link (F3). The
// receiver must pass [Receiver.Check]. The buttons are the choices of [notice.Choices], in their order. The
// message has no buttons if they do not fit together with the whole ask, or if the service has no buttons.
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

// RenderTest returns the request with a test message.
func RenderTest(r Receiver) (Request, error) { return first(r, notice.Test()) }

// errDoesNotFit is returned if all messages are larger than the service accepts, or if the service would
// change their text.
var errDoesNotFit = fmt.Errorf("the message does not fit")

// first returns the request with the first of messages that fits. If none fits, the error is errDoesNotFit.
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

// A content is a message in the form of a template.
type content struct {
	url            string
	header, secret string // header with the token, and its value; "" for no header
	body           any    // body encoded as JSON
	maxBody        int    // maximum number of bytes of the JSON; 0 for no maximum
}

// drawings maps each template to a function. The function returns the content of a message, and reports
// whether the message fits the limits of the service.
var drawings = map[Template]func(Receiver, notice.Message) (content, bool){
	Ntfy: drawNtfy, Pushover: drawPushover, Gotify: drawGotify, Discord: drawDiscord,
	Teams: drawTeams, Mattermost: drawMattermost, HomeAssistant: drawHomeAssistant,
}

// encode returns v as JSON. It does not escape < and >, because escapes count against the limits of services.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// bearer returns the name and the value of the header with a token. Without a token, both are "".
func bearer(token string) (header, secret string) {
	if token == "" {
		return "", ""
	}
	return "Authorization", "Bearer " + token
}
