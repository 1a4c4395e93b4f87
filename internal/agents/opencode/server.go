package opencode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// callTime is how long a request may take, except for the stream of events. The first
	// request in a folder starts OpenCode there.
	callTime = 2 * time.Minute
	// streamTime is how long the stream of events may take to begin. OpenCode 1.18 never replies to a request
	// that arrives just when it begins to listen.
	streamTime = 10 * time.Second
	// idleTime is the longest time between two events. OpenCode sends an event every 10 seconds.
	idleTime = time.Minute
	// maxReply is the maximum size of a reply and of an event in bytes.
	maxReply = 32 << 20
)

// A server is the HTTP API of opencode serve.
type server struct {
	url      string // without a slash at the end
	user     string
	password string // "" without authentication
	client   *http.Client
}

func newServer(f *Follower) *server {
	return &server{
		url: strings.TrimRight(f.URL, "/"), user: f.User, password: f.Password,
		// A redirect would send the password to another address.
		client: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// An errStatus is the error for a reply that is not a success.
type errStatus struct {
	path   string
	status int
}

func (e errStatus) Error() string {
	return fmt.Sprintf("%s: %d %s", e.path, e.status, http.StatusText(e.status))
}

// send sends a request for a folder, or for the folder in which the server was started if folder is "". The
// error is an [errStatus] if the reply is not a success. The caller closes the body of the reply.
func (s *server) send(ctx context.Context, method, path, folder string, body any) (*http.Response, error) {
	address := s.url + path
	if folder != "" {
		address += "?" + url.Values{"directory": {folder}}.Encode()
	}
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.password != "" {
		req.SetBasicAuth(s.user, s.password)
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		_ = reply.Body.Close()
		return nil, errStatus{path, reply.StatusCode}
	}
	return reply, nil
}

// call sends a request and reads its reply into out, unless out is nil.
func (s *server) call(ctx context.Context, method, path, folder string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	reply, err := s.send(ctx, method, path, folder, body)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if out == nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(reply.Body, maxReply+1))
	if err != nil {
		return err
	}
	if len(raw) > maxReply {
		return fmt.Errorf("%s: the reply is too long", path)
	}
	return json.Unmarshal(raw, out)
}

// An event is an event of OpenCode in a folder.
type event struct {
	Folder  string `json:"directory"`
	Payload struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	} `json:"payload"`
}

var (
	errForeign = errors.New("it sends no events")
	errSilent  = errors.New("it does not reply")
)

// events calls handle for each event until the stream ends. It ignores lines that are not events. The error
// is errSilent if the server sends nothing for streamTime at first, or for idleTime later.
func (s *server) events(ctx context.Context, handle func(event)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(streamTime, func() { cancel(errSilent) })
	defer late.Stop()
	err := s.stream(ctx, late, handle)
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// stream is like events, but does not end a silent stream. It resets late whenever a line arrives.
func (s *server) stream(ctx context.Context, late *time.Timer, handle func(event)) error {
	reply, err := s.send(ctx, http.MethodGet, "/global/event", "", nil)
	if err != nil {
		return err
	}
	late.Reset(idleTime)
	defer func() { _ = reply.Body.Close() }()
	if kind := reply.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return errForeign
	}
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		late.Reset(idleTime)
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		var ev event
		if ok && json.Unmarshal([]byte(strings.TrimSpace(data)), &ev) == nil {
			handle(ev)
		}
	}
	return lines.Err()
}

// open returns the open requests of a folder.
func (s *server) open(ctx context.Context, folder string) (all []Event, err error) {
	var at struct {
		Directory string `json:"directory"`
	}
	if err := s.call(ctx, http.MethodGet, "/path", folder, nil, &at); err != nil {
		return nil, err
	}
	for path, name := range map[string]string{"/question": QuestionAsked, "/permission": PermissionAsked} {
		var list []json.RawMessage
		if err := s.call(ctx, http.MethodGet, path, at.Directory, nil, &list); err != nil {
			return nil, err
		}
		for _, raw := range list {
			if ev, ok := readEvent(name, at.Directory, raw); ok {
				all = append(all, ev)
			}
		}
	}
	return all, nil
}

// isID reports whether an id has the form of OpenCode's ids. Another id, such as "..", could change the path
// of a request.
func isID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && rest != "" &&
		strings.Trim(rest, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// readEvent reads the properties of an event. It returns false if the event makes no ask, or if its ids do
// not have the form of OpenCode's ids.
func readEvent(name, folder string, properties json.RawMessage) (Event, bool) {
	var p Properties
	if name == ToolCall || json.Unmarshal(properties, &p) != nil {
		return Event{}, false
	}
	ev, err := NewEvent(name, p)
	ev.Folder = folder
	prefix := map[string]string{QuestionAsked: "que_", PermissionAsked: "per_"}[name]
	return ev, err == nil && isID(ev.ID, prefix) && isID(ev.SessionID, "ses_")
}

// arguments returns the arguments of the tool call of a permission. It returns nil if they are unknown, or
// if several calls have this id.
func (s *server) arguments(ctx context.Context, ev Event) json.RawMessage {
	if !isID(ev.MessageID, "msg_") || ev.CallID == "" {
		return nil
	}
	var message struct {
		Parts []struct {
			CallID string `json:"callID"`
			State  struct {
				Input json.RawMessage `json:"input"`
			} `json:"state"`
		} `json:"parts"`
	}
	path := "/session/" + ev.SessionID + "/message/" + ev.MessageID
	if s.call(ctx, http.MethodGet, path, ev.Folder, nil, &message) != nil {
		return nil
	}
	var found []json.RawMessage
	for _, part := range message.Parts {
		if part.CallID == ev.CallID {
			found = append(found, part.State.Input)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// reply sends the reply to a question or a permission. Only an approval is sent as an approval, and never for
// later calls.
func (s *server) reply(ctx context.Context, ev Event, r Reply) error {
	path, body := "/permission/"+ev.ID+"/reply", any(map[string]string{"reply": "reject", "message": r.Message})
	switch {
	case ev.Name == QuestionAsked && r.Rejected:
		path, body = "/question/"+ev.ID+"/reject", nil
	case ev.Name == QuestionAsked:
		path, body = "/question/"+ev.ID+"/reply", map[string]json.RawMessage{"answers": r.Answers}
	case r.IsApproval():
		body = map[string]string{"reply": "once"}
	}
	return s.call(ctx, http.MethodPost, path, ev.Folder, body, nil)
}
