package slacktest

import (
	"encoding/json"
	"fmt"
)

// A View is a modal.
type View struct {
	ID, User                string
	Title, Submit, Metadata string
	Callback                string
	Blocks                  []Block
	Errors                  map[string]string // errors of the last submission, keyed by block
	Open                    bool
}

// Shown returns the text of the modal as Slack shows it.
func (v View) Shown() string {
	s := v.Title + "\n"
	for _, b := range v.Blocks {
		s += b.Shown()
	}
	return s
}

// viewRequest is a modal as an app sends it.
type viewRequest struct {
	Type            string          `json:"type"`
	Title           *Text           `json:"title"`
	Submit          *Text           `json:"submit,omitempty"`
	Close           *Text           `json:"close,omitempty"`
	PrivateMetadata string          `json:"private_metadata,omitempty"`
	CallbackID      string          `json:"callback_id,omitempty"`
	Blocks          json.RawMessage `json:"blocks"`
	ClearOnClose    bool            `json:"clear_on_close,omitempty"`
	NotifyOnClose   bool            `json:"notify_on_close,omitempty"`
}

// maxView is the maximum size of a modal in bytes.
const maxView = 250_000

// parseView parses a modal strictly.
func parseView(raw []byte) (v View, err error) {
	if len(raw) > maxView {
		return v, failure("view_too_large")
	}
	var r viewRequest
	if err := strict(raw, &r); err != nil {
		return v, err
	}
	if r.Type != "modal" || len(r.PrivateMetadata) > 3000 || len(r.CallbackID) > maxID {
		return v, fmt.Errorf("a modal has private_metadata of at most 3000 characters and callback_id of at most %d",
			maxID)
	}
	for i, t := range []*Text{r.Title, r.Submit, r.Close} {
		if err := plain("title, submit and close", t, 24, i == 0); err != nil {
			return v, err
		}
	}
	blocks, err := parseBlocks(string(r.Blocks), maxViewBlocks)
	if err != nil {
		return v, err
	}
	for _, b := range blocks {
		if b.Type == "input" && r.Submit == nil {
			return v, fmt.Errorf("a modal with an input has submit")
		}
	}
	v = View{Title: r.Title.Text, Metadata: r.PrivateMetadata, Callback: r.CallbackID, Blocks: blocks, Open: true}
	if r.Submit != nil {
		v.Submit = r.Submit.Text
	}
	return v, nil
}

// open implements views.open. A trigger works once, and at most [Server.TriggerTime] after the action.
func (s *Server) open(args map[string]string) (map[string]any, error) {
	id := args["trigger_id"]
	t, ok := s.triggers[id]
	switch {
	case !ok:
		return nil, failure("invalid_trigger_id")
	case t.used:
		return nil, failure("exchanged_trigger_id")
	case s.Now().After(t.until):
		return nil, failure("expired_trigger_id")
	}
	t.used = true
	s.triggers[id] = t
	v, err := parseView([]byte(args["view"]))
	if err != nil {
		return nil, err
	}
	v.ID, v.User = s.id("V"), t.user
	s.views[v.ID] = &v
	return map[string]any{"view": map[string]any{"id": v.ID}}, nil
}

// View returns the modal that a user has open. It reports false if there is no modal.
func (s *Server) View(u User) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.User == u.ID && v.Open {
			return *v, true
		}
	}
	return View{}, false
}

// newTrigger returns a trigger for a modal. The caller holds the lock.
func (s *Server) newTrigger(u User) string {
	id := s.id("trigger")
	s.triggers[id] = trigger{until: s.Now().Add(s.TriggerTime), user: u.ID}
	return id
}

// answered applies the reply of the app to a submission of a modal. It returns the errors for the inputs.
func (s *Server) answered(v View, body []byte) (map[string]string, error) {
	var reply struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &reply); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	current := s.views[v.ID]
	switch reply.Action {
	case "", "clear":
		current.Open = false
	case "errors":
		for block, text := range reply.Errors {
			b := find(v.Blocks, block)
			if b == nil || b.Type != "input" || text == "" {
				return nil, fmt.Errorf("an error for %s, which is no input", block)
			}
		}
		current.Errors = reply.Errors
		return reply.Errors, nil
	case "update":
		next, err := parseView(reply.View)
		if err != nil {
			return nil, err
		}
		next.ID, next.User = v.ID, v.User
		*current = next
	default:
		return nil, fmt.Errorf("unknown response_action %q", reply.Action)
	}
	return nil, nil
}

func find(blocks []Block, id string) *Block {
	for i := range blocks {
		if blocks[i].BlockID == id {
			return &blocks[i]
		}
	}
	return nil
}

// CheckView returns an error if Slack would reject the modal v.
func CheckView(v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = parseView(raw)
	}
	return err
}
