package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRequest is the maximum size of a request in bytes. Slack sends the form or the message with each action.
// A form has at most 250 KB (the error view_too_large), and up to three times as much when encoded. The rest
// is for typed text.
const maxRequest = 1 << 20

// Handler returns the handler for requests from Slack: actions, forms and the URL verification challenge. It
// rejects a request whose signature is invalid, older than five minutes, or already used.
func (c *Channel) Handler(engine Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "Slack sends POST", http.StatusMethodNotAllowed)
			return
		}
		signed, err := c.signatureOf(r.Header)
		if err != nil { // reject the request before its body is read
			c.refuse(w, err)
			return
		}
		if r.ContentLength > maxRequest {
			http.Error(w, "Slack sends no request of this size", http.StatusRequestEntityTooLarge)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, "the request cannot be read", http.StatusBadRequest)
			return
		}
		if err := c.verify(signed, body); err != nil {
			c.refuse(w, err)
			return
		}
		c.serve(r.Context(), w, engine, r.Header.Get("Content-Type"), body)
	})
}

// refuse rejects a request that is not from Slack. It closes the connection, because the server would
// otherwise wait for the rest of the body before the reply.
func (c *Channel) refuse(w http.ResponseWriter, err error) {
	if c.forged.mayLog(c.options.Now()) {
		c.options.Log.Warn("a request to the address for Slack was refused", "error", err)
	}
	w.Header().Set("Connection", "close")
	http.Error(w, "this request is not from Slack, or too old", http.StatusUnauthorized)
}

// serve replies to a verified request.
func (c *Channel) serve(ctx context.Context, w http.ResponseWriter, engine Engine, contentType string, body []byte) {
	if strings.HasPrefix(contentType, "application/json") {
		var event struct{ Type, Challenge string }
		if json.Unmarshal(body, &event) == nil && event.Type == "url_verification" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, event.Challenge)
		}
		return // the app subscribes to no events, so other events are only acknowledged
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("payload") == "" {
		http.Error(w, "this is not an interaction", http.StatusBadRequest)
		return
	}
	reply := c.interact(context.WithoutCancel(ctx), engine, []byte(form.Get("payload")))
	if reply == nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(reply); err != nil {
		c.options.Log.Warn("Slack did not read a reply", "error", err)
	}
}

// A signature is the signature of a request whose time is at most age from now.
type signature struct {
	at    time.Time
	stamp string // time of the request, as in its header
	code  []byte
}

// signatureOf returns the signature in the header of a request. It returns an error if the header shows that
// the request is not from Slack, or that the request is too old.
func (c *Channel) signatureOf(header http.Header) (s signature, err error) {
	if c.options.SigningSecret == "" {
		return s, errors.New("there is no signing_secret")
	}
	s.stamp = header.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(s.stamp, 10, 64)
	if err != nil {
		return s, errors.New("it has no timestamp")
	}
	if s.at = time.Unix(seconds, 0); c.options.Now().Sub(s.at).Abs() > age {
		return s, errors.New("it is older than five minutes, or from the future")
	}
	code, found := strings.CutPrefix(header.Get("X-Slack-Signature"), "v0=")
	if s.code, err = hex.DecodeString(code); err != nil || !found || len(s.code) != sha256.Size {
		return s, errors.New("it has no signature")
	}
	return s, nil
}

// verify returns an error if the signature of a body is wrong, or if the request is a repeat. After a
// restart, the earlier requests are unknown, so a request of the last five minutes can be repeated. The
// repeat gives the same answer of the same person again, which settles nothing. A late answer may then be in
// the history twice.
func (c *Channel) verify(s signature, body []byte) error {
	mac := hmac.New(sha256.New, []byte(c.options.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", s.stamp, body)
	if !hmac.Equal(s.code, mac.Sum(nil)) {
		return errors.New("the signature is wrong")
	}
	return c.seen.add([sha256.Size]byte(s.code), s.at.Add(age))
}

// maxForged is the maximum number of rejected requests that are logged in a minute. Without a limit, anyone
// who knows the address could fill the log.
const maxForged = 10

// forgeries counts the rejected requests of the current minute.
type forgeries struct {
	mu    sync.Mutex
	since time.Time // the beginning of the current minute
	lines int       // rejected requests in this minute
}

// mayLog counts a rejected request and reports whether to log it.
func (f *forgeries) mayLog(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since) >= time.Minute {
		f.since, f.lines = now, 0
	}
	f.lines++
	return f.lines <= maxForged
}

// seen contains the signatures of requests that are not too old yet.
type seen struct {
	now  func() time.Time
	mu   sync.Mutex
	ends map[[sha256.Size]byte]time.Time
}

// maxSeen is more than the number of requests that Slack sends in ten minutes. Only verified requests are
// counted.
const maxSeen = 100_000

// add stores a signature until a time. It returns an error if the signature is already stored, or if there
// are too many.
func (s *seen) add(signature [sha256.Size]byte, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if _, ok := s.ends[signature]; ok {
		return errors.New("it came before")
	}
	if len(s.ends) >= maxSeen {
		for k, end := range s.ends {
			if end.Before(now) {
				delete(s.ends, k)
			}
		}
		if len(s.ends) >= maxSeen {
			return errors.New("there are too many requests")
		}
	}
	if s.ends == nil {
		s.ends = map[[sha256.Size]byte]time.Time{}
	}
	s.ends[signature] = until
	return nil
}
