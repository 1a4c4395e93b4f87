package telegramtest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A chat is a private chat or a group.
type chat struct {
	id       int64
	kind     string
	started  bool // the user has written to the bot
	blocked  bool // the user has blocked the bot, or the group has removed it
	movedTo  int64
	messages []*Message
}

// A Message is a message as Telegram shows it.
type Message struct {
	ID       int64
	From     int64 // id of the user; 0 for the bot
	Text     string
	Entities []Entity
	Buttons  [][]Button
	ReplyTo  int64
	Force    bool // whether the message requests a reply
	Silent   bool
	FileName string
	File     string
	Deleted  bool
	Edits    int
	Damage   []string // text that Telegram changed, or text without an entity of the bot on which a tap would act
}

// An Entity is a part of a text. Offset and Length are in UTF-16 code units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

// A Button is a button of a message. It has data or a URL.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Live reports whether the message has a button that sends data to the bot.
func (m Message) Live() bool {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Data != "" {
				return true
			}
		}
	}
	return false
}

// Links returns the URLs in the buttons and entities of the message.
func (m Message) Links() (all []string) {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.URL != "" {
				all = append(all, b.URL)
			}
		}
	}
	for _, e := range m.Entities {
		if e.URL != "" {
			all = append(all, e.URL)
		}
	}
	return all
}

// content has the parameters of sendMessage and editMessageText.
type content struct {
	ChatID    int64    `json:"chat_id"`
	MessageID int64    `json:"message_id"`
	Text      string   `json:"text"`
	Entities  []Entity `json:"entities"`
	Preview   struct {
		Disabled bool `json:"is_disabled"`
	} `json:"link_preview_options"`
	ReplyTo *replyParameters `json:"reply_parameters"`
	Markup  json.RawMessage  `json:"reply_markup"`
	Silent  bool             `json:"disable_notification"`
}

type replyParameters struct {
	MessageID    int64 `json:"message_id"`
	AllowWithout bool  `json:"allow_sending_without_reply"`
}

// chatOf returns the chat with this id. It returns an error if the bot may not send messages to the chat. The
// caller holds the lock.
func (s *Server) chatOf(id int64) (*chat, error) {
	c := s.chats[id]
	switch {
	case c == nil:
		return nil, bad("chat not found")
	case c.movedTo != 0:
		return nil, &apiError{
			code: http.StatusBadRequest, description: "Bad Request: group chat was upgraded to a supergroup chat",
			movedTo: c.movedTo,
		}
	case c.blocked && id > 0:
		return nil, forbidden("bot was blocked by the user")
	case c.blocked:
		return nil, forbidden("bot was kicked from the supergroup chat")
	case id > 0 && !c.started:
		return nil, forbidden("bot can't initiate conversation with a user")
	}
	return c, nil
}

func (s *Server) sendMessage(body []byte) (any, error) {
	var in content
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	m := &Message{Silent: in.Silent}
	if err := m.setText(in); err != nil {
		return nil, err
	}
	if err := m.setMarkup(in.Markup, true); err != nil {
		return nil, err
	}
	return s.post(in.ChatID, m, in.ReplyTo)
}

// post adds a message of the bot to a chat. It returns an error if the bot may not send to the chat now.
func (s *Server) post(chatID int64, m *Message, to *replyParameters) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.chatOf(chatID)
	if err != nil {
		return nil, err
	}
	if err := c.reply(m, to); err != nil {
		return nil, err
	}
	if wait := s.limit.take(chatID, time.Now()); wait > 0 {
		return nil, tooMany(wait)
	}
	c.add(m)
	s.notify()
	return s.message(c, m), nil
}

// reply sets the message to which m replies.
func (c *chat) reply(m *Message, to *replyParameters) error {
	if to == nil {
		return nil
	}
	if original := c.message(to.MessageID); original != nil && !original.Deleted {
		m.ReplyTo = to.MessageID
	} else if !to.AllowWithout {
		return bad("message to be replied not found")
	}
	return nil
}

func (c *chat) add(m *Message) {
	m.ID = int64(len(c.messages)) + 101
	c.messages = append(c.messages, m)
}

func (c *chat) message(id int64) *Message {
	if n := id - 101; n >= 0 && n < int64(len(c.messages)) {
		return c.messages[n]
	}
	return nil
}

func (s *Server) editMessageText(body []byte) (any, error) {
	var in content
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.chatOf(in.ChatID)
	if err != nil {
		return nil, err
	}
	m := c.message(in.MessageID)
	switch {
	case m == nil || m.Deleted:
		return nil, bad("message to edit not found")
	case m.From != 0:
		return nil, bad("message can't be edited")
	case m.File != "":
		return nil, bad("there is no text in the message to edit")
	}
	next := *m
	next.Buttons, next.Damage = nil, nil
	if err := next.setText(in); err != nil {
		return nil, err
	}
	if err := next.setMarkup(in.Markup, false); err != nil {
		return nil, err
	}
	if next.Text == m.Text && reflect.DeepEqual(next.Entities, m.Entities) &&
		reflect.DeepEqual(next.Buttons, m.Buttons) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the " +
			"same as a current content and reply markup of the message")
	}
	next.Edits++
	*m = next
	s.notify()
	return s.message(c, m), nil
}

func (s *Server) sendDocument(r *http.Request) (any, error) {
	const most = 50_000_000
	if err := r.ParseMultipartForm(most + 1<<20); err != nil {
		return nil, bad("%v", err)
	}
	chatID, err := strconv.ParseInt(r.FormValue("chat_id"), 10, 64)
	if err != nil {
		return nil, bad("chat_id is empty")
	}
	m := &Message{Text: r.FormValue("caption"), Silent: r.FormValue("disable_notification") == "true"}
	if units(m.Text) > 1024 {
		return nil, bad("message caption is too long")
	}
	file, header, err := r.FormFile("document")
	if err != nil {
		return nil, bad("there is no document in the request")
	}
	if header.Size > most {
		return nil, &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	}
	if m.File, err = readAll(file); err != nil {
		return nil, err
	}
	if m.FileName = header.Filename; m.File == "" {
		return nil, bad("file must be non-empty")
	}
	var to *replyParameters
	if raw := r.FormValue("reply_parameters"); raw != "" {
		if err := strict([]byte(raw), &to); err != nil {
			return nil, err
		}
	}
	return s.post(chatID, m, to)
}

func readAll(f multipart.File) (string, error) {
	b, err := io.ReadAll(f)
	return string(b), err
}

func newReader(b []byte) io.Reader { return bytes.NewReader(b) }

// message returns m as the bot gets it.
func (s *Server) message(c *chat, m *Message) map[string]any {
	out := map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(), "chat": map[string]any{"id": c.id, "type": c.kind},
	}
	if m.From == 0 {
		out["from"] = map[string]any{"id": botID, "is_bot": true, "first_name": "Askback", "username": Username}
	} else {
		out["from"] = map[string]any{
			"id": m.From, "is_bot": false, "first_name": "User " + strconv.FormatInt(m.From, 10),
		}
	}
	if m.File != "" {
		out["document"] = map[string]any{"file_name": m.FileName}
		out["caption"] = m.Text
	} else if m.Text != "" {
		out["text"] = m.Text
	}
	if len(m.Entities) > 0 {
		out["entities"] = m.Entities
	}
	if len(m.Buttons) > 0 {
		out["reply_markup"] = map[string]any{"inline_keyboard": m.Buttons}
	}
	if to := c.message(m.ReplyTo); to != nil {
		original := s.message(c, to)
		delete(original, "reply_to_message")
		out["reply_to_message"] = original
	}
	return out
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// part returns the text of an entity. It reports false if the entity is not within the text.
func part(text string, e Entity) (string, bool) {
	all := utf16.Encode([]rune(text))
	if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(all) {
		return "", false
	}
	s := string(utf16.Decode(all[e.Offset : e.Offset+e.Length]))
	return s, !strings.ContainsRune(s, '\uFFFD') || strings.ContainsRune(text, '\uFFFD')
}
