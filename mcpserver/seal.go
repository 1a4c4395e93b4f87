package mcpserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// stateTime is how long a round with the page of an ask may take.
const stateTime = 10 * time.Minute

// errState is for what a client was given to keep and sends back: signed by
// somebody else, for somebody else, changed, or too old.
var errState = errors.New("this requestState is not valid, or no longer; call the tool again without it")

// A seal signs what a client keeps for the server.
type seal []byte

// A state is what a client sends back after a round: which ask it is about. The
// signature also covers whose it is and which call.
type state struct {
	Ask     string `json:"ask"`
	Expires int64  `json:"expires"` // in seconds of Unix
}

// state makes the requestState of a call.
func (s seal) state(name, base, ask string, now time.Time) string {
	return s.close(state{ask, now.Add(stateTime).Unix()}, "state", name, base)
}

// openState returns the id of the ask in a requestState.
func (s seal) openState(text, name, base string, now time.Time) (string, error) {
	var st state
	if !s.open(text, &st, "state", name, base) || now.Unix() >= st.Expires {
		return "", errState
	}
	return st.Ask, nil
}

// A session is what the id of a client's session says. It is kept by the client
// alone, so that it means the same after a restart.
type session struct {
	Random string `json:"random"`
	Client string `json:"client"`
}

// close writes a value so that only this seal can have made it, for exactly
// this use.
func (s seal) close(v any, use ...string) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // a type of this file that cannot be written
	}
	body := base64.RawURLEncoding.EncodeToString(raw)
	return body + "." + s.sign(body, use)
}

// open reads what close wrote, and says whether it was that.
func (s seal) open(text string, into any, use ...string) bool {
	body, sum, _ := strings.Cut(text, ".")
	if !hmac.Equal([]byte(sum), []byte(s.sign(body, use))) {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(raw, into) == nil
}

func (s seal) sign(body string, use []string) string {
	h := hmac.New(sha256.New, s)
	h.Write([]byte(digest(append([]string{"askback mcp", body}, use...)...)))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
