package mcpserver

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/askback/askback/internal/mac"
)

// stateTime is how long a client may take to show the page of an ask and repeat the call.
const stateTime = 10 * time.Minute

// errState is returned for a requestState that has a wrong signature, belongs to another
// agent or call, or has expired.
var errState = errors.New("this requestState is not valid, or has expired; call the tool again without it")

// A signer is a secret that signs values which clients keep for the server.
type signer []byte

// A state is the content of a requestState, which a client sends back after it has shown a
// page. The signature also covers the agent and the call.
type state struct {
	Ask     string `json:"ask"`
	Expires int64  `json:"expires"` // Unix time
}

// newState returns a requestState for an ask. It is valid only for the agent with this name
// and for the call with the key base.
func (s signer) newState(name, base, ask string, now time.Time) string {
	return s.sign(state{ask, now.Add(stateTime).Unix()}, "state", name, base)
}

// parseState returns the id of the ask in a requestState, or errState if it is not valid.
func (s signer) parseState(text, name, base string, now time.Time) (string, error) {
	var st state
	if !s.verify(text, &st, "state", name, base) || now.Unix() >= st.Expires {
		return "", errState
	}
	return st.Ask, nil
}

// A session is the content of a session id. Only the client stores it, so it survives a
// restart.
type session struct {
	Random string `json:"random"`
	Client string `json:"client"`
	// Started is the time at which the session began, in Unix milliseconds. It is 0 in an id of an older
	// release.
	Started int64 `json:"started,omitempty"`
}

// sign returns a value with a signature that is valid only for this use.
func (s signer) sign(v any, use ...string) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // every type in this file can be marshalled
	}
	body := base64.RawURLEncoding.EncodeToString(raw)
	return body + "." + s.code(body, use)
}

// verify decodes a signed value. It reports whether the signature is valid for this use and
// the value could be decoded.
func (s signer) verify(text string, into any, use ...string) bool {
	body, sum, _ := strings.Cut(text, ".")
	if !hmac.Equal([]byte(sum), []byte(s.code(body, use))) && !hmac.Equal([]byte(sum), []byte(s.oldCode(body, use))) {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(raw, into) == nil
}

func (s signer) code(body string, use []string) string {
	return base64.RawURLEncoding.EncodeToString(mac.Sum(s, "mcp", append([]string{body}, use...)...))
}

// oldCode returns the code as earlier releases made it. Clients keep a session id while the server is
// upgraded. Without the client's name in the id, the waits of the session would have another length.
func (s signer) oldCode(body string, use []string) string {
	sum := mac.Bare(s, digest(append([]string{"askback mcp", body}, use...)...))
	return base64.RawURLEncoding.EncodeToString(sum)
}
