package opencode

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// A recording is a transport that delivers the events of a server, which may be damaged, and records the
// replies to it.
type recording struct {
	events  string
	message string // the reply to every other request
	mu      sync.Mutex
	replies []string
}

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	reply := &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(r.message)),
	}
	if req.URL.Path == "/global/event" {
		reply.Body = io.NopCloser(strings.NewReader(r.events))
	}
	if req.Method == http.MethodPost {
		var body bytes.Buffer
		if req.Body != nil {
			_, _ = body.ReadFrom(req.Body)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.replies = append(r.replies, body.String())
	}
	return reply, nil
}

const (
	connectedEvent  = `data: {"payload":{"type":"server.connected","properties":{}}}`
	permissionEvent = `data: {"directory":"/srv/app","payload":{"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["make"],"metadata":{"command":"make"},"tool":{"messageID":"msg_1","callID":"call_1"}}}}`
	questionEvent   = `data: {"directory":"/srv/app","payload":{"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which database?","header":"DB","options":[{"label":"SQLite","description":"one file"}]}]}}}`
	repliedEvent    = `data: {"directory":"/srv/app","payload":{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}}`
	messageReply    = `{"parts":[{"callID":"call_1","state":{"input":{"command":"make"}}}]}`
)

// Whatever a server of OpenCode sends, nothing is approved without an approval (T49).
func FuzzServer(f *testing.F) {
	unapproved := hooktest.Unapproved("once")
	for i := range unapproved {
		f.Add(connectedEvent+"\n"+permissionEvent, messageReply, i)
		f.Add(permissionEvent+"\n"+repliedEvent+"\n"+permissionEvent,
			`{"parts":[{"callID":"call_1"},{"callID":"call_1"}]}`, i)
		f.Add(questionEvent, `null`, i)
		f.Add("data: []\ndata: {\n"+strings.ReplaceAll(permissionEvent, `"bash"`, `"once"`), `[`, i)
	}
	f.Fuzz(func(t *testing.T, events, message string, outcome int) {
		synctest.Test(t, func(t *testing.T) {
			r := &recording{events: events, message: message}
			a := &Follower{
				Asks: &hooktest.Client{Outcome: unapproved[uint(outcome)%uint(len(unapproved))]},
				Note: func(string) {},
			}
			a.prepare()
			a.server.client.Transport = r
			c := &connection{f: a}
			_ = a.server.events(t.Context(), func(ev event) { c.handle(t.Context(), ev) })
			c.dialogs.Wait()
			for _, body := range r.replies {
				var reply map[string]any
				if body != "" && json.Unmarshal([]byte(body), &reply) != nil {
					t.Fatalf("sent %s", body)
				}
				if decision, ok := reply["reply"]; ok && decision != "reject" {
					t.Fatalf("sent %s", body)
				}
			}
		})
	})
}
