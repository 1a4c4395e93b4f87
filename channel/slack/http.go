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

// maxRequest is the size in bytes of the largest request that is read. Slack sends the message
// with each action.
const maxRequest = 1 << 20

// Handler returns the handler for requests of Slack: actions, forms and the check of the
// address. It performs only requests that the signing secret has signed in the last five
// minutes, each once.
func (c *Channel) Handler(engine Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "Slack sends POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, "the request cannot be read", http.StatusBadRequest)
			return
		}
		if err := c.verify(r.Header, body); err != nil {
			if c.forged.mayLog(c.options.Now()) {
				c.options.Log.Warn("a request to the address for Slack was refused", "error", err)
			}
			http.Error(w, "this request is not from Slack, or too old", http.StatusUnauthorized)
			return
		}
		c.serve(r.Context(), w, engine, r.Header.Get("Content-Type"), body)
	})
}

// serve replies to a verified request.
func (c *Channel) serve(ctx context.Context, w http.ResponseWriter, engine Engine, contentType string, body []byte) {
	if strings.HasPrefix(contentType, "application/json") {
		var event struct{ Type, Challenge string }
		if json.Unmarshal(body, &event) == nil && event.Type == "url_verification" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, event.Challenge)
		}
		return // the app subscribes to no events, so others are only acknowledged
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

// verify checks the signature and the age of a request, and that it did not come before.
func (c *Channel) verify(header http.Header, body []byte) error {
	if c.options.SigningSecret == "" {
		return errors.New("there is no signing_secret")
	}
	stamp := header.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("it has no timestamp")
	}
	given, err := hex.DecodeString(strings.TrimPrefix(header.Get("X-Slack-Signature"), "v0="))
	if err != nil || !strings.HasPrefix(header.Get("X-Slack-Signature"), "v0=") {
		return errors.New("it has no signature")
	}
	mac := hmac.New(sha256.New, []byte(c.options.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	if !hmac.Equal(given, mac.Sum(nil)) {
		return errors.New("the signature is wrong")
	}
	at := time.Unix(seconds, 0)
	if c.options.Now().Sub(at).Abs() > age {
		return errors.New("it is older than five minutes, or from the future")
	}
	return c.seen.add([sha256.Size]byte(given), at.Add(age))
}

// maxForged is how many refused requests are logged in a minute: anyone who knows the address
// could fill the log.
const maxForged = 10

// forgeries counts what is logged about refused requests.
type forgeries struct {
	mu    sync.Mutex
	since time.Time // the begin of the current minute
	lines int       // in that minute
}

// mayLog reports whether a refused request is logged now.
func (f *forgeries) mayLog(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since) >= time.Minute {
		f.since, f.lines = now, 0
	}
	f.lines++
	return f.lines <= maxForged
}

// seen has the signatures of requests that are not too old yet.
type seen struct {
	now  func() time.Time
	mu   sync.Mutex
	ends map[[sha256.Size]byte]time.Time
}

// maxSeen is more than the number of requests that Slack sends in ten minutes. Only verified
// requests are counted.
const maxSeen = 100_000

// add remembers a signature until a time. It returns an error if it was there already.
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
