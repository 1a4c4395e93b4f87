package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
)

// maxSubject is the maximum number of characters of the subject of a run. Each ask of the run stores the subject.
const maxSubject = 100

// maxFirst is the maximum number of characters of the prompt in a subject. A sentence with at least minSentence
// characters is enough.
const (
	maxFirst    = 60
	minSentence = 24
)

// subject returns the subject of a run, for people who read its asks: the title of its session or, without one,
// the beginning of its prompt and of its payload.
func (e *Service) subject(ctx context.Context, id string) (string, error) {
	row, err := e.Store.Read(ctx, txn.KindSession, id)
	if err != nil {
		return "", txn.FromStore(err)
	}
	s, err := txn.DecodeSession(row)
	if err != nil || s.Session.Title != "" {
		return s.Session.Title, err
	}
	prompt, err := e.firstPrompt(ctx, id)
	if err != nil {
		return "", err
	}
	if len(s.Session.Payload) > 0 {
		prompt, _, _ = strings.Cut(prompt, payloadHead+"\n")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	words := []string{firstWords(strings.TrimSpace(first)), payloadWords(s.Session.Payload)}
	return cutWords(strings.Trim(strings.Join(words, " · "), " ·"), maxSubject), nil
}

// firstPrompt returns the first message of a run, or "" if its history does not begin with one.
func (e *Service) firstPrompt(ctx context.Context, id string) (string, error) {
	rows, err := e.Store.History(ctx, id, 0, txn.HistoryChunk)
	if err != nil {
		return "", txn.FromStore(err)
	}
	for _, row := range rows {
		if row.Type != string(conversation.EventMessage) {
			continue
		}
		if h, ok := e.DecodeEvent(row); ok && conversation.Role(h.Role) == conversation.RoleUser {
			return h.Text, nil
		}
	}
	return "", nil
}

// payloadWords returns the simple values of a payload with their names, in one line. It returns other JSON as it
// was sent, and "" for no payload.
func payloadWords(payload json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return strings.Join(strings.Fields(string(payload)), " ")
	}
	var words []string
	for d.More() {
		name, err := d.Token()
		var value any
		if err != nil || d.Decode(&value) != nil {
			break
		}
		switch value := value.(type) {
		case string:
			words = append(words, name.(string)+": "+strings.Join(strings.Fields(value), " "))
		case json.Number:
			words = append(words, name.(string)+": "+value.String())
		}
	}
	if len(words) == 0 {
		return strings.Join(strings.Fields(string(payload)), " ")
	}
	return strings.Join(words, ", ")
}

// firstWords returns the first sentences of a line, or their beginning.
func firstWords(line string) string {
	n := 0
	for at, r := range line {
		if n > maxFirst {
			break
		}
		if n >= minSentence && r == ' ' && strings.ContainsAny(line[at-1:at], ".!?") {
			return line[:at]
		}
		n++
	}
	return cutWords(line, maxFirst)
}

// cutWords returns the beginning of a text, at most n characters. It cuts between words, unless a word is long.
func cutWords(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:n-1])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = strings.TrimRight(cut[:at], " ,;:·")
	}
	return cut + "…"
}
