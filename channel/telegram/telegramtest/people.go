package telegramtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// AddUser adds a user who has not yet written to the bot. The id of the user is also the id of the private
// chat.
func (s *Server) AddUser(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id] = &chat{id: id, kind: "private"}
}

// AddGroup adds a group with the bot. The id must be negative.
func (s *Server) AddGroup(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id] = &chat{id: id, kind: "supergroup", started: true}
}

// Migrate replaces a group by a supergroup with another id.
func (s *Server) Migrate(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[from].movedTo = to
	s.chats[to] = &chat{id: to, kind: "supergroup", started: true}
}

// Block makes a user block the bot, or a group remove the bot. The bot gets an update.
func (s *Server) Block(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id].blocked = true
	s.put("my_chat_member", map[string]any{
		"chat": map[string]any{"id": id, "type": s.chats[id].kind},
		"from": map[string]any{"id": id, "is_bot": false, "first_name": "User"}, "date": 0,
		"new_chat_member": map[string]any{"status": "kicked"},
	})
}

// BlockSilently is like Block, but the bot gets no update.
func (s *Server) BlockSilently(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id].blocked = true
}

// Messages returns the messages of a chat that are not deleted.
func (s *Server) Messages(chatID int64) (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chatID]; c != nil {
		for _, m := range c.messages {
			if !m.Deleted {
				all = append(all, *m)
			}
		}
	}
	return all
}

// Message returns a message of a chat.
func (s *Server) Message(chatID, id int64) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.chats[chatID].message(id)
}

// Last returns the last message of the bot in a chat.
func (s *Server) Last(chatID int64) (last Message) {
	for _, m := range s.Messages(chatID) {
		if m.From == 0 {
			last = m
		}
	}
	return last
}

// Wait waits until a chat has a message of the bot for which ok returns true. It returns this message.
func (s *Server) Wait(chatID int64, ok func(Message) bool) (found Message, err error) {
	done := s.until(func() bool {
		for _, m := range s.chats[chatID].messages {
			if m.From == 0 && !m.Deleted && ok(*m) {
				found = *m
				return true
			}
		}
		return false
	})
	if !done {
		return found, errors.New("no such message came")
	}
	return found, nil
}

// Delete deletes a message, as a person can.
func (s *Server) Delete(chatID, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chatID].message(id).Deleted = true
}

// Write sends a text of a user to a chat, as a reply unless replyTo is 0. It returns the id of the message
// and the id of the update.
func (s *Server) Write(userID, chatID int64, text string, replyTo int64) (messageID, updateID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	c.started = true
	m := &Message{From: userID, Text: strings.TrimSpace(text), ReplyTo: replyTo}
	c.add(m)
	return m.ID, s.put("message", s.message(c, m))
}

// A Popup is the text that the app shows a person after a press.
type Popup struct {
	Text  string
	Alert bool
}

// Press presses the button of a message whose label is the text label, with or without the number of an
// option. It waits for the reply of the bot.
func (s *Server) Press(userID, chatID, messageID int64, label string) (Popup, error) {
	for _, row := range s.Message(chatID, messageID).Buttons {
		for _, b := range row {
			if b.Data != "" && hasLabel(b.Text, label) {
				return s.PressData(userID, chatID, messageID, b.Data)
			}
		}
	}
	return Popup{}, fmt.Errorf("the message has no button %q", label)
}

// hasLabel reports whether the text of a button is label, with or without the number and the mark of an
// option.
func hasLabel(text, label string) bool {
	text = strings.TrimLeft(text, "☐☑● ")
	_, rest, _ := strings.Cut(text, ". ")
	return text == label || rest == label
}

// PressData sends the update of a button with this data, whether or not the message has such a button. It
// waits for the reply of the bot.
func (s *Server) PressData(userID, chatID, messageID int64, data string) (Popup, error) {
	s.mu.Lock()
	q := &query{answered: make(chan struct{})}
	id := strconv.Itoa(len(s.queries) + 9001)
	s.queries[id] = q
	c := s.chats[chatID]
	s.put("callback_query", map[string]any{
		"id": id, "from": map[string]any{"id": userID, "is_bot": false, "first_name": "User"}, "chat_instance": "1",
		"data":    data,
		"message": s.message(c, c.message(messageID)),
	})
	s.mu.Unlock()
	if !s.until(func() bool { return q.done }) {
		return Popup{}, errors.New("the bot has not answered the query")
	}
	return Popup{q.text, q.alert}, nil
}
