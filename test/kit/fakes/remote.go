package fakes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/askback/askback/channel/channeltest"
)

// A remote is a service in another process.
type remote struct {
	control     string // the address of its control
	description Description
}

// call calls the control, and decodes the reply.
func (s *remote) call(ctx context.Context, method, path string, form url.Values, out any) error {
	address := s.control + "/" + s.description.Name + path
	var body io.Reader
	if method == http.MethodGet && len(form) > 0 {
		address += "?" + form.Encode()
	} else if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s at %s: %s", path, s.description.Name, strings.TrimSpace(string(text)))
	}
	return json.Unmarshal(text, out)
}

// Describe implements [Service].
func (s *remote) Describe() Description { return s.description }

// Messages implements [Service].
func (s *remote) Messages(person string, texts ...string) (all []Message, err error) {
	return all, s.call(context.Background(), http.MethodGet, "/"+person, url.Values{"text": texts}, &all)
}

// Press implements [Service].
func (s *remote) Press(ctx context.Context, person, message string, b Button) (string, error) {
	var out shown
	err := s.call(ctx, http.MethodPost, "/"+person+"/press",
		url.Values{"message": {message}, "button": {b.Label}, "value": {b.Value}}, &out)
	return out.Reply, err
}

// Write implements [Service].
func (s *remote) Write(ctx context.Context, person, message, text string) (string, error) {
	var out shown
	err := s.call(ctx, http.MethodPost, "/"+person+"/write", url.Values{"message": {message}, "text": {text}}, &out)
	return out.Reply, err
}

// Subscribe implements [Subscriber].
func (s *remote) Subscribe(person, key string) (string, error) {
	var out json.RawMessage
	err := s.call(context.Background(), http.MethodPost, "/"+person+"/subscribe", url.Values{"key": {key}}, &out)
	return string(out), err
}

// Fail implements [Service].
func (s *remote) Fail(how channeltest.Failure, skip, count int) error {
	form := url.Values{"how": {string(how)}, "skip": {strconv.Itoa(skip)}, "count": {strconv.Itoa(count)}}
	return s.call(context.Background(), http.MethodPost, "/fail", form, &struct{}{})
}

// State implements [Service].
func (s *remote) State() (out State, err error) {
	return out, s.call(context.Background(), http.MethodGet, "", nil, &out)
}

// started is the line that the program prints once the services run.
type started struct {
	Control  string        `json:"control"` // the address of [Control]
	Services []Description `json:"services"`
}

// connect returns the services of a program, from the line that it printed.
func connect(line []byte) (all []Service, err error) {
	var s started
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	if s.Control == "" || len(s.Services) == 0 {
		return nil, errors.New("the program did not print its services")
	}
	for _, d := range s.Services {
		all = append(all, &remote{s.Control, d})
	}
	return all, nil
}
