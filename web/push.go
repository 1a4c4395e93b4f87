package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A Push lets people turn on notifications in their browsers.
type Push interface {
	// PublicKey returns the key with which browsers subscribe, in base64url.
	PublicKey(ctx context.Context) (string, error)
	// CheckAddress returns a subscription in the form in which it is stored, or an [askback.Invalid].
	CheckAddress(address string) (string, error)
}

// pushChannel is the channel of contacts that are browsers.
const pushChannel = "webpush"

// Paths that the script and the service worker use.
const (
	pushPath      = "/push"
	pushStatePath = "/push/state"
	openPath      = "/open"
)

// handlePush registers the paths that the script and the service worker call.
func (s *site) handlePush(mux *http.ServeMux) {
	mux.Handle("POST "+pushPath, s.authenticated(s.addPush))
	mux.Handle("POST "+pushStatePath, s.authenticated(s.pushState))
	mux.Handle("POST "+pushPath+"/{id}/remove", s.authenticated(s.removePush))
	mux.Handle("GET "+openPath, s.authenticated(s.open))
}

// maxSubscription is the maximum size of a form with a subscription in bytes.
const maxSubscription = 4 * limits.MaxContactAddress

// pushKeyTime is how long a page waits for the key of the server.
const pushKeyTime = 100 * time.Millisecond

// pushKey returns the key with which browsers subscribe. It returns "" if browsers cannot subscribe, or if
// the key is not known within pushKeyTime.
func (s *site) pushKey(ctx context.Context) string {
	if s.push == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, pushKeyTime)
	defer cancel()
	key, err := s.push.PublicKey(ctx)
	if err != nil {
		s.log.Warn("the key of push messages is not known yet", "error", err)
	}
	return key
}

// contactState describes the browser's push subscription to the page's script.
type contactState struct {
	ID string `json:"id"` // id of the contact; "" if the browser is not a contact of this person
}

// addPush adds the browser as a contact of the person.
func (s *site) addPush(w http.ResponseWriter, r request) error {
	address, err := s.subscription(w, r)
	if err != nil {
		return err
	}
	made, err := r.client.AddContact(r.Context(),
		askback.ContactRequest{Channel: pushChannel, Label: browserName(r.UserAgent()), Address: address})
	if err != nil {
		return err
	}
	return replyJSON(w, contactState{made.ID})
}

// pushState sends whether the browser is a contact of the person.
func (s *site) pushState(w http.ResponseWriter, r request) error {
	address, err := s.subscription(w, r)
	if err != nil {
		return err
	}
	c, err := s.engine.ContactAt(r.Context(), pushChannel, address)
	switch {
	case errors.Is(err, askback.ErrNotFound) || err == nil && c.Person != r.principal.Name:
		return replyJSON(w, contactState{})
	case err != nil:
		return err
	}
	return replyJSON(w, contactState{c.ID})
}

// subscription reads the submitted form and returns its subscription address as checked by the channel. It
// returns an error if the person was logged out while the form was read.
func (s *site) subscription(w http.ResponseWriter, r request) (string, error) {
	if s.push == nil {
		return "", askback.ErrNotFound
	}
	sent, err := readValues(w, r.Request, maxSubscription)
	if err != nil {
		return "", err
	}
	if err := s.reauthenticate(r); err != nil {
		return "", err
	}
	return s.push.CheckAddress(sent.Get("address"))
}

// removePush removes a contact of the person.
func (s *site) removePush(w http.ResponseWriter, r request) error {
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	_, err := r.client.DeleteContact(r.Context(), r.PathValue("id"))
	if err != nil && !errors.Is(err, askback.ErrNotFound) {
		return err
	}
	return replyJSON(w, contactState{})
}

// open sends the number of open asks of the person, at most [askback.MaxLimit], for the badge of the app.
func (s *site) open(w http.ResponseWriter, r request) error {
	page, err := r.client.List(r.Context(), askback.Query{Snoozed: new(false), Limit: askback.MaxLimit})
	if err != nil {
		return err
	}
	return replyJSON(w, struct {
		Open int `json:"open"`
	}{len(page.Items)})
}

func replyJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may have left
	return nil
}

// browserName returns the name of a browser and its system for people, from the header User-Agent. All names
// are from the tables, so no text of the header is shown.
func browserName(agent string) string {
	find := func(table [][2]string, unknown string) string {
		for _, row := range table {
			if strings.Contains(agent, row[0]) {
				return row[1]
			}
		}
		return unknown
	}
	browser := find([][2]string{
		{"EdgA/", "Edge"},
		{"EdgiOS/", "Edge"},
		{"Edg/", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"FxiOS/", "Firefox"},
		{"Firefox/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
		{"AppleWebKit/", "Safari"},
	}, "Browser")
	system := find([][2]string{
		{"Android", " on Android"},
		{"iPhone", " on iPhone"},
		{"iPad", " on iPad"},
		{"Windows", " on Windows"},
		{"CrOS", " on ChromeOS"},
		{"Mac OS X", " on Mac"},
		{"Linux", " on Linux"},
	}, "")
	return browser + system
}
