package telegramtest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
)

// getUpdates returns the updates that are not confirmed, or waits for an update. A later poll ends an earlier
// poll with the status 409.
func (s *Server) getUpdates(r *http.Request) (any, error) {
	var in struct {
		Offset  int64    `json:"offset"`
		Limit   int      `json:"limit"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = strict(body, &in)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.webhook {
		s.mu.Unlock()
		return nil, &apiError{code: http.StatusConflict, description: "Conflict: can't use getUpdates method while " +
			"webhook is active; use deleteWebhook to delete the webhook first"}
	}
	s.polling++
	me := s.polling
	if s.poll != nil {
		close(s.poll)
	}
	ended := make(chan struct{})
	s.poll = ended
	s.confirm(in.Offset)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if s.polling == me {
			s.poll = nil
		}
		s.mu.Unlock()
	}()
	timeout := time.NewTimer(time.Duration(in.Timeout) * time.Second)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		found, changed := s.waiting(in.Allowed), s.changed
		s.mu.Unlock()
		if len(found) > 0 {
			return found, nil
		}
		select {
		case <-changed:
		case <-ended:
			return nil, &apiError{code: http.StatusConflict, description: "Conflict: terminated by other getUpdates " +
				"request; make sure that only one bot instance is running"}
		case <-timeout.C:
			return []any{}, nil
		case <-r.Context().Done():
			return nil, errHidden
		case <-s.stop:
			return nil, errHidden
		}
	}
}

// confirm removes the updates whose id is less than offset.
func (s *Server) confirm(offset int64) {
	s.confirms = append(s.confirms, offset)
	s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return u.id < offset })
	s.notify()
}

// waiting returns the updates of the allowed kinds.
func (s *Server) waiting(allowed []string) (all []any) {
	for _, u := range s.updates {
		if slices.Contains(allowed, u.kind) {
			all = append(all, map[string]any{"update_id": u.id, u.kind: u.body})
		}
	}
	return all
}

// put adds an update and returns its id. The caller holds the lock.
func (s *Server) put(kind string, body map[string]any) (id int64) {
	s.updates = append(s.updates, update{s.nextID, kind, body})
	s.nextID++
	s.notify()
	return s.nextID - 1
}

// Inject sends an update with this body to the bot. It returns the id of the update.
func (s *Server) Inject(kind string, body map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(kind, body)
}

// Confirmed waits until the bot has confirmed an update.
func (s *Server) Confirmed(id int64) {
	s.until(func() bool {
		return !slices.ContainsFunc(s.updates, func(u update) bool { return u.id <= id })
	})
}

// Idle waits until the bot has confirmed all updates.
func (s *Server) Idle() { s.until(func() bool { return len(s.updates) == 0 }) }

// Offsets returns the offsets of the polls of the bot.
func (s *Server) Offsets() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.confirms)
}

// until waits until ok returns true, for a minute at most. It reports whether ok returned true.
func (s *Server) until(ok func() bool) bool {
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timeout.C:
			return false
		case <-s.stop:
			return false
		}
	}
}

func (s *Server) getMe([]byte) (any, error) {
	return map[string]any{"id": botID, "is_bot": true, "first_name": "Askback", "username": Username}, nil
}

func (s *Server) setMyCommands(body []byte) (any, error) {
	var in struct {
		Commands []struct {
			Command     string `json:"command"`
			Description string `json:"description"`
		} `json:"commands"`
	}
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	var names []string
	for _, c := range in.Commands {
		if !commandForm.MatchString(c.Command) {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := len([]rune(c.Description)); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
		names = append(names, c.Command)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = names
	return true, nil
}

// Commands returns the menu of the bot.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// answerCallbackQuery stores the answer for the person who pressed a button. A query can be answered once.
func (s *Server) answerCallbackQuery(body []byte) (any, error) {
	var in struct {
		ID    string `json:"callback_query_id"`
		Text  string `json:"text"`
		Alert bool   `json:"show_alert"`
	}
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	if len([]rune(in.Text)) > 200 {
		return nil, bad("MESSAGE_TOO_LONG")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queries[in.ID]
	if q == nil || q.done {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	q.done, q.text, q.alert = true, in.Text, in.Alert
	close(q.answered)
	s.notify()
	return true, nil
}

// strict decodes the parameters of a method. Telegram ignores unknown parameters. In this server they are an
// error, because they would be spelling mistakes.
func strict(body []byte, out any) error {
	d := json.NewDecoder(newReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return bad("%v", err)
	}
	return nil
}
