package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/text/safetext"
)

// The types of the Bot API (core.telegram.org/bots/api), with the fields that this package uses.
type (
	update struct {
		ID           int64          `json:"update_id"`
		Message      *message       `json:"message"`
		Callback     *callbackQuery `json:"callback_query"`
		MyChatMember *memberUpdate  `json:"my_chat_member"`
	}

	message struct {
		ID       int64     `json:"message_id"`
		From     *user     `json:"from"`
		Chat     chat      `json:"chat"`
		Date     int64     `json:"date"`
		Text     string    `json:"text"`
		Entities []entity  `json:"entities"`
		ReplyTo  *message  `json:"reply_to_message"`
		Markup   *keyboard `json:"reply_markup"`
		MovedTo  int64     `json:"migrate_to_chat_id"`
	}

	callbackQuery struct {
		ID      string   `json:"id"`
		From    user     `json:"from"`
		Message *message `json:"message"`
		Data    string   `json:"data"`
	}

	memberUpdate struct {
		Chat chat `json:"chat"`
		From user `json:"from"`
		New  struct {
			Status string `json:"status"`
		} `json:"new_chat_member"`
	}

	user struct {
		ID        int64  `json:"id"`
		IsBot     bool   `json:"is_bot"`
		FirstName string `json:"first_name"`
		Username  string `json:"username"`
	}

	chat struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	}

	// An entity is a part of a text. Offset and Length are in UTF-16 code units.
	entity struct {
		Type   string `json:"type"`
		Offset int    `json:"offset"`
		Length int    `json:"length"`
		URL    string `json:"url,omitempty"`
	}

	keyboard struct {
		Rows [][]button `json:"inline_keyboard"`
	}

	button struct {
		Text string `json:"text"`
		Data string `json:"callback_data,omitempty"`
		URL  string `json:"url,omitempty"`
	}

	forceReply struct {
		Force       bool   `json:"force_reply"`
		Placeholder string `json:"input_field_placeholder,omitempty"`
	}

	replyParameters struct {
		MessageID int64 `json:"message_id"`
		// AllowWithout makes Telegram send the message even if the person has deleted the message to which it
		// replies.
		AllowWithout bool `json:"allow_sending_without_reply"`
	}

	// An outgoing is the content of sendMessage and editMessageText. It never has a parse_mode: bold text and
	// code are entities that this package computes.
	outgoing struct {
		ChatID    int64            `json:"chat_id"`
		MessageID int64            `json:"message_id,omitempty"`
		Text      string           `json:"text"`
		Entities  []entity         `json:"entities,omitempty"`
		Preview   linkPreview      `json:"link_preview_options"`
		ReplyTo   *replyParameters `json:"reply_parameters,omitempty"`
		Markup    any              `json:"reply_markup,omitempty"`
		Silent    bool             `json:"disable_notification,omitempty"`
	}

	linkPreview struct {
		Disabled bool `json:"is_disabled"`
	}
)

// private reports whether a chat is a private chat of one user with the bot. The id of a private chat is the
// id of the user.
func (c chat) private() bool { return c.Type == "private" }

const (
	// maxReply is the maximum number of bytes that are read of a reply. It suffices for a hundred updates.
	// Each update may have a message of 4096 characters and the message to which it replies.
	maxReply = 8 << 20
	// pollTime is the maximum time for which Telegram delays the reply to getUpdates.
	pollTime = 50 * time.Second
	// callTime is the time limit for every other call, including the upload of a long question as a file.
	callTime = 2 * time.Minute
)

// An api calls methods of the Bot API. The token is a part of the URL, so no error contains the URL.
type api struct {
	base   string // "https://api.telegram.org/bot<token>/"
	client *http.Client
}

func newAPI(base, token string, allow []egress.Allowed) *api {
	client := egress.NewClient(allow, nil)
	client.Timeout = 0 // each call has its own timeout
	if t, ok := client.Transport.(*http.Transport); ok {
		t.ResponseHeaderTimeout = 0
	}
	return &api{strings.TrimSuffix(base, "/") + "/bot" + token + "/", client}
}

// An apiError is a reply of Telegram that is not ok. Its Error method returns no text of the service.
type apiError struct {
	method      string
	code        int
	description string // text of the service, for the log only
	retryAfter  time.Duration
	movedTo     int64 // id of the supergroup that replaces the group
}

// Error implements error.
func (e *apiError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("Telegram replied %d %s to %s", e.code, http.StatusText(e.code), e.method))
}

// mentions reports whether the description contains one of the phrases, ignoring case. Telegram returns no other
// code for the cause.
func (e *apiError) mentions(phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(strings.ToLower(e.description), strings.ToLower(p)) {
			return true
		}
	}
	return false
}

// call calls a method with the JSON of in. It decodes the result into out, unless out is nil.
func (a *api) call(ctx context.Context, method string, in, out any) error {
	body, err := encode(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return a.post(ctx, method, "application/json", bytes.NewReader(body), out)
}

// encode returns v as JSON. It does not escape < and >.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func (a *api) post(ctx context.Context, method, contentType string, body io.Reader, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+method, body)
	if err != nil {
		return errors.New("the address of the Bot API is not valid") // err contains the token
	}
	r.Header.Set("Content-Type", contentType)
	reply, err := a.client.Do(r)
	if err != nil {
		return egress.NoReply(err)
	}
	defer func() { _ = reply.Body.Close() }()
	var in struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  struct {
			RetryAfter int64 `json:"retry_after"`
			MovedTo    int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, maxReply)).Decode(&in); err != nil {
		in.OK, in.Code = false, 0 // a proxy replied, or the connection broke
	}
	if !in.OK {
		e := &apiError{method: method, code: in.Code, description: in.Description, movedTo: in.Parameters.MovedTo}
		if e.code == 0 {
			e.code = reply.StatusCode
		}
		e.retryAfter = time.Duration(in.Parameters.RetryAfter) * time.Second
		return e
	}
	if out == nil {
		return nil
	}
	if json.Unmarshal(in.Result, out) != nil {
		return fmt.Errorf("the reply of Telegram to %s cannot be read", method)
	}
	return nil
}

// send sends a message and returns its id.
func (a *api) send(ctx context.Context, m outgoing) (int64, error) {
	m.Preview.Disabled = true
	var sent message
	err := a.call(ctx, "sendMessage", m, &sent)
	return sent.ID, err
}

// edit replaces the text and the buttons of a message. If the message already has this text, edit returns
// nil. If the person has deleted the message, the error is [errGone].
func (a *api) edit(ctx context.Context, m outgoing) error {
	m.Preview.Disabled = true
	err := a.call(ctx, "editMessageText", m, nil)
	var failed *apiError
	if !errors.As(err, &failed) || failed.code != http.StatusBadRequest {
		return err
	}
	switch {
	case failed.mentions("message is not modified"):
		return nil
	case failed.mentions("message to edit not found", "message can't be edited", "MESSAGE_ID_INVALID"):
		return errGone
	}
	return err
}

// errGone is returned by edit for a message that no longer exists.
var errGone = errors.New("the message was deleted")

// sendFile sends text as a file, as a reply to a message.
func (a *api) sendFile(ctx context.Context, chatID, replyTo int64, name, caption string, content []byte) error {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	reply, err := encode(replyParameters{MessageID: replyTo, AllowWithout: true})
	if err != nil {
		return err
	}
	for _, field := range [][2]string{
		{"chat_id", strconv.FormatInt(chatID, 10)},
		{"caption", caption},
		{"reply_parameters", string(reply)},
		{"disable_notification", "true"},
	} {
		if err := w.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	part, err := w.CreateFormFile("document", name)
	if err != nil {
		return err
	}
	if _, err := part.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return a.post(ctx, "sendDocument", w.FormDataContentType(), &b, nil)
}

// answer shows the result to the person who pressed a button. The text is truncated to 200 characters. If the
// query is too old, answer returns nil.
func (a *api) answer(ctx context.Context, queryID, text string, alert bool) error {
	err := a.call(ctx, "answerCallbackQuery", struct {
		ID    string `json:"callback_query_id"`
		Text  string `json:"text,omitempty"`
		Alert bool   `json:"show_alert,omitempty"`
	}{queryID, cut(text, maxPopup), alert}, nil)
	var failed *apiError
	if errors.As(err, &failed) && failed.mentions("query is too old", "query id is invalid") {
		return nil
	}
	return err
}

// maxPopup is the maximum number of characters of an answer to a callback query.
const maxPopup = 200

// updates waits for the updates whose id is at least offset. The call confirms all updates before offset.
func (a *api) updates(ctx context.Context, offset int64) (all []update, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTime+15*time.Second)
	defer cancel()
	body, err := encode(struct {
		Offset  int64    `json:"offset"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}{offset, int(pollTime.Seconds()), []string{"message", "callback_query", "my_chat_member"}})
	if err != nil {
		return nil, err
	}
	err = a.post(ctx, "getUpdates", "application/json", bytes.NewReader(body), &all)
	return all, err
}

// sendError returns the error for an attempt to send a delivery. An [apiError] becomes an
// [askback.SendError]. The error is final if Telegram would reject the message again. Gone is set if the
// person has blocked the bot, or the group has removed the bot.
func sendError(err error) error {
	var failed *apiError
	if !errors.As(err, &failed) {
		return err
	}
	out := &askback.SendError{Err: failed, RetryAfter: failed.retryAfter}
	if failed.description != "" {
		out.Cause = errors.New(safetext.Line(failed.description).String())
	}
	switch failed.code {
	case http.StatusUnauthorized, http.StatusNotFound:
		out.Err = fmt.Errorf("%w: check channels.telegram.token in the settings", failed)
	case http.StatusForbidden:
		out.Final, out.Gone = true, failed.mentions(goneChats...)
	case http.StatusBadRequest:
		out.Final = true
	}
	return out
}

// goneChats are phrases in the errors for chats that have blocked or removed the bot. Other errors with the
// same code also occur after the token was replaced by the token of another bot. These errors must not unlink
// people.
var goneChats = []string{"bot was blocked by the user", "user is deactivated", "bot was kicked"}
