package slacktest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A State contains the chosen options and typed texts, keyed by block and action.
type State map[string]map[string]any

// An Ack is the acknowledgement of an action by the app.
type Ack struct {
	OK     bool              // whether the acknowledgement came in time; otherwise Slack shows a warning
	Status int               // status of the reply over HTTP
	Errors map[string]string // errors of a modal, keyed by block
	Bad    error             // why Slack would reject the reply
}

// Sign returns the headers of a request with this body at a time.
func Sign(secret string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	return http.Header{
		"X-Slack-Request-Timestamp": {stamp},
		"X-Slack-Signature":         {"v0=" + hex.EncodeToString(mac.Sum(nil))},
	}
}

// Form returns the body of a request with an interaction.
func Form(payload []byte) []byte { return []byte(url.Values{"payload": {string(payload)}}.Encode()) }

// deliver sends an interaction to the app.
func (s *Server) deliver(payload []byte) (Ack, []byte) {
	if s.request == "" {
		reply, ok := s.overSocket("interactive", payload, 0)
		return Ack{OK: ok}, reply
	}
	body := Form(payload)
	return s.Send(body, "application/x-www-form-urlencoded", Sign(SigningSecret, s.Now(), body))
}

// Send posts a body with headers to the app.
func (s *Server) Send(body []byte, contentType string, header http.Header) (Ack, []byte) {
	r, err := http.NewRequest(http.MethodPost, s.request, bytes.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return Ack{}, nil
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", contentType)
	client := http.Client{Timeout: s.AckTime}
	reply, err := client.Do(r)
	if err != nil {
		return Ack{}, nil
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(reply.Body)
	return Ack{OK: err == nil && reply.StatusCode == http.StatusOK, Status: reply.StatusCode}, content
}

// Event sends an event to the app, and returns the reply. If the app does not acknowledge the event, Event
// sends it again, up to three times.
func (s *Server) Event(payload []byte) (ack Ack, reply []byte) {
	for retry := range 4 {
		if s.request == "" {
			reply, ack.OK = s.overSocket("events_api", payload, retry)
		} else {
			header := Sign(SigningSecret, s.Now(), payload)
			if retry > 0 {
				header.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
				header.Set("X-Slack-Retry-Reason", "http_timeout")
			}
			ack, reply = s.Send(payload, "application/json", header)
		}
		if ack.OK {
			break
		}
	}
	return ack, reply
}

// Button returns the button of a message whose label begins with text, and the id of its block. It reports
// false if there is no such button.
func (m Message) Button(text string) (Element, string, bool) {
	for _, b := range m.Blocks {
		for _, e := range b.Elements {
			if e.Type == "button" && strings.HasPrefix(e.Text.Text, text) {
				return e, b.BlockID, true
			}
		}
	}
	return Element{}, "", false
}

// HasElements reports whether a message has an element that a person can use.
func (m Message) HasElements() bool {
	for _, b := range m.Blocks {
		if b.Type == "actions" {
			return true
		}
	}
	return false
}

// Press presses the button of a message whose label begins with text. The message m may be an earlier version
// than the message that Slack has now.
func (s *Server) Press(u User, m Message, text string, state State) Ack {
	s.t.Helper()
	e, block, ok := m.Button(text)
	if !ok {
		s.t.Fatalf("no button %q in:\n%s", text, m.Shown())
	}
	return s.Act(u, m, block, e, state)
}

// Act sends the action of an element of a message.
func (s *Server) Act(u User, m Message, block string, e Element, state State) Ack {
	ack, _ := s.deliver(s.Action(u, m, block, e, state))
	return ack
}

// Action returns the payload of the action of an element of a message.
func (s *Server) Action(u User, m Message, block string, e Element, state State) []byte {
	s.mu.Lock()
	trigger := s.newTrigger(u)
	s.mu.Unlock()
	if state == nil {
		state = State{}
	}
	container := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": false}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "user": account(u), "api_app_id": AppID, "token": "deprecated",
		"container": container, "trigger_id": trigger, "team": map[string]any{"id": Team, "domain": "example"},
		"enterprise": nil, "is_enterprise_install": false, "channel": map[string]any{"id": m.Channel, "name": "room"},
		"message": map[string]any{"type": "message", "ts": m.TS, "text": m.Text},
		"state":   map[string]any{"values": state}, "response_url": "https://hooks.slack.com/actions/" + Team + "/1/x",
		"actions": []any{map[string]any{
			"action_id": e.ActionID, "block_id": block, "text": e.Text, "value": e.Value, "type": e.Type,
			"action_ts": "1700000000.1",
		}},
	})
	if err != nil {
		s.t.Error(err)
	}
	return payload
}

func account(u User) map[string]any {
	return map[string]any{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.Team}
}

// Submit submits a modal with the state that a person entered. If a required input is missing, Submit returns
// an error for its block, as Slack does.
func (s *Server) Submit(u User, v View, state State) Ack {
	for _, b := range v.Blocks {
		if b.Type == "input" && !b.Optional && state[b.BlockID] == nil {
			return Ack{OK: true, Errors: map[string]string{b.BlockID: "Slack itself requires this input"}}
		}
		if b.Type == "input" && state[b.BlockID] == nil {
			state.set(b.BlockID, *b.Element, empty(*b.Element))
		}
	}
	payload, err := json.Marshal(map[string]any{
		"type": "view_submission", "user": account(u), "api_app_id": AppID, "token": "deprecated",
		"trigger_id": "unused", "team": map[string]any{"id": Team, "domain": "example"}, "enterprise": nil,
		"is_enterprise_install": false, "response_urls": []any{},
		"view": map[string]any{
			"id": v.ID, "team_id": Team, "type": "modal", "private_metadata": v.Metadata, "callback_id": v.Callback,
			"hash": "1.x", "state": map[string]any{"values": state}, "blocks": []any{}, "app_id": AppID,
			"bot_id": "B0000001",
		},
	})
	if err != nil {
		s.t.Error(err)
	}
	ack, reply := s.deliver(payload)
	if ack.OK {
		ack.Errors, ack.Bad = s.answered(v, reply)
	}
	return ack
}

func (s State) set(block string, e Element, value map[string]any) {
	value["type"] = e.Type
	if s[block] == nil {
		s[block] = map[string]any{}
	}
	s[block][e.ActionID] = value
}

// empty returns the state of an element without an input.
func empty(e Element) map[string]any {
	switch e.Type {
	case "plain_text_input":
		return map[string]any{"value": nil}
	case "radio_buttons", "static_select":
		return map[string]any{"selected_option": nil}
	}
	return map[string]any{"selected_options": []any{}}
}

// Choose chooses options of an element in a block. For each of texts, it chooses the option whose label
// begins with the text.
func (s State) Choose(blocks []Block, block string, texts ...string) error {
	b := find(blocks, block)
	if b == nil {
		return fmt.Errorf("no block %s", block)
	}
	elements := b.Elements
	if b.Element != nil {
		elements = []Element{*b.Element}
	}
	for _, e := range elements {
		var chosen []any
		for _, text := range texts {
			for _, o := range e.Options {
				if strings.HasPrefix(o.Text.Text, text) {
					chosen = append(chosen, map[string]any{"text": o.Text, "value": o.Value})
				}
			}
		}
		if len(chosen) != len(texts) || len(e.Options) == 0 {
			continue
		}
		if e.Type == "radio_buttons" || e.Type == "static_select" {
			s.set(block, e, map[string]any{"selected_option": chosen[0]})
		} else {
			s.set(block, e, map[string]any{"selected_options": chosen})
		}
		return nil
	}
	return fmt.Errorf("no options %q in the block %s", texts, block)
}

// Type types a text into the input of a block.
func (s State) Type(blocks []Block, block, text string) error {
	b := find(blocks, block)
	if b == nil || b.Element == nil || b.Element.Type != "plain_text_input" {
		return fmt.Errorf("no text input %s", block)
	}
	if length(text) > 3000 || b.Element.MaxLength > 0 && length(text) > b.Element.MaxLength {
		return fmt.Errorf("too long for %s", block)
	}
	s.set(block, *b.Element, map[string]any{"value": text})
	return nil
}
