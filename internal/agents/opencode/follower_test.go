package opencode

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
)

// patience is the deadline of each wait.
const patience = 2 * time.Minute

// A fake is a server of OpenCode that follows its OpenAPI document.
type fake struct {
	*httptest.Server
	events  chan string // the events for the follower; "" ends the stream
	replies chan string // the path and the body of each reply

	mu   sync.Mutex
	open map[string]string // the lists of open requests in /srv/app, keyed by path
}

const password = "secret"

func newFake(t *testing.T) *fake {
	f := &fake{events: make(chan string, 9), replies: make(chan string, 99), open: map[string]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.CloseClientConnections)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if user, given, _ := r.BasicAuth(); user != "opencode" || given != password {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	switch path := r.URL.Path; {
	case path == "/global/event":
		w.Header().Set("Content-Type", "text/event-stream")
		for next := `{"payload":{"type":"server.connected","properties":{}}}`; next != ""; {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", next)
			w.(http.Flusher).Flush()
			select {
			case next = <-f.events:
			case <-r.Context().Done():
				return
			}
		}
	case path == "/path":
		_, _ = fmt.Fprintf(w, `{"directory":%q}`, cmp.Or(r.URL.Query().Get("directory"), "/srv"))
	case path == "/session/ses_1/message/msg_1":
		_, _ = io.WriteString(w, `{"parts":[{"type":"text"},{"callID":"call_1","state":{"input":{"number":7}}}]}`)
	case path == "/session/ses_1/message/msg_3":
		_, _ = io.WriteString(w, `{"parts":[{"callID":"call_1","state":{"input":{"number":7}}},{"callID":"call_1","state":{"input":{"number":8}}}]}`)
	case r.Method == "GET":
		f.mu.Lock()
		defer f.mu.Unlock()
		if list, ok := f.open[path]; ok && r.URL.Query().Get("directory") == "/srv/app" {
			_, _ = io.WriteString(w, list)
			return
		}
		_, _ = io.WriteString(w, "[]")
	default:
		body, _ := io.ReadAll(r.Body)
		f.replies <- strings.TrimSpace(path + " " + string(body))
		_, _ = io.WriteString(w, "true")
	}
}

// An attachment is a follower of a fake, with a person.
type attachment struct {
	*fake
	t        *testing.T
	instance *askbacktest.Instance
	person   *askbacktest.Person
	notes    chan string
	detach   func()
}

func newAttachment(t *testing.T) *attachment {
	t.Helper()
	a := &attachment{fake: newFake(t), t: t, instance: askbacktest.New(t), notes: make(chan string, 99)}
	a.person = a.instance.Person("ana")
	return a
}

// follow starts the follower.
func (a *attachment) follow(folders ...string) {
	ctx, cancel := context.WithCancel(a.t.Context())
	f := &Follower{
		Asks: a.instance.Agent("local"), URL: a.URL, User: "opencode", Password: password, Folders: folders,
		Note: func(text string) { a.notes <- text }, Retry: 10 * time.Millisecond,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(ctx); err != nil {
			a.t.Errorf("Run: %v", err)
		}
	}()
	a.detach = func() { cancel(); <-ended }
	a.t.Cleanup(a.detach)
}

func attach(t *testing.T) *attachment {
	t.Helper()
	a := newAttachment(t)
	a.follow()
	if got, want := wait(t, a.notes,
		"a note"), "Attached to OpenCode at "+a.URL+". Its requests are in the inbox as well."; got != want {
		t.Errorf("got the note %q, want %q", got, want)
	}
	return a
}

func (a *attachment) bounded() context.Context {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	a.t.Cleanup(cancel)
	return ctx
}

// permission sends the event of a permission.
func (a *attachment) permission(id, rest string) {
	a.events <- `{"directory":"/srv/app","payload":{"type":"permission.asked","properties":{"id":"` + id +
		`","sessionID":"ses_1","permission":"bash"` + rest + `}}}`
}

const makeIt = `,"patterns":["make"],"metadata":{"command":"make"}`

// next waits for the next ask and returns it.
func (a *attachment) next() askback.Ask {
	a.t.Helper()
	ask, err := a.person.Next(a.bounded())
	if err != nil {
		a.t.Fatalf("no ask: %v", err)
	}
	return ask
}

func (a *attachment) answer(id string, with askback.Answer) {
	a.t.Helper()
	if _, err := a.person.Answer(a.bounded(), id, with); err != nil {
		a.t.Fatal(err)
	}
}

// receives requires that the next reply to OpenCode is want.
func (a *attachment) receives(want string) {
	a.t.Helper()
	if got := wait(a.t, a.replies, "a reply"); got != want {
		a.t.Errorf("OpenCode got %s, want %s", got, want)
	}
}

// withdrawn waits until an ask is settled, and requires that it was cancelled with the reason.
func (a *attachment) withdrawn(id, reason string) {
	a.t.Helper()
	ask, err := a.person.Wait(a.bounded(), id)
	if err != nil || ask.Status != askback.Cancelled || !strings.Contains(ask.Outcome.Reason, reason) {
		a.t.Errorf("got %s, %+v, %v; want it withdrawn", ask.Status, ask.Outcome, err)
	}
}

func wait[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not arrive", what)
		panic("unreachable")
	}
}

// Only an approval is sent as an approval, and for one call. Without an answer nothing is sent (T49).
func TestOnlyApprovalsAreSent(t *testing.T) {
	a := attach(t)
	for i, c := range []struct {
		answer askback.Answer
		want   string
	}{
		{askback.Answer{Decision: askback.Approve}, `{"reply":"once"}`},
		{askback.Answer{Decision: askback.ApproveAll}, `{"reply":"once"}`},
		{
			askback.Answer{Decision: askback.Deny, Reason: "once"},
			`{"message":"Denied by \"ana\": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: \"once\".","reply":"reject"}`,
		},
	} {
		id := fmt.Sprintf("per_%d", i)
		a.permission(id, fmt.Sprintf(`,"metadata":{"command":"make %d"}`, i))
		a.answer(a.next().ID, c.answer)
		a.receives("/permission/" + id + "/reply " + c.want)
	}
	a.permission("per_8", makeIt)
	ask := a.next()
	if _, err := a.person.Decline(a.bounded(), ask.ID, ""); err != nil {
		t.Fatal(err)
	}
	a.receives(`/permission/per_8/reply {"message":"\"ana\" declined to decide. This is not consent: do not do this, and do not reach the same end in another way, such as with another tool or command.","reply":"reject"}`)
	a.events <- `{"directory":"/srv/app","payload":{"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which?","header":"W","options":[{"label":"a","description":""},{"label":"b","description":""}]}]}}}`
	a.answer(a.next().ID, askback.Choose("b"))
	a.receives(`/question/que_1/reply {"answers":[["b"]]}`)
	select {
	case got := <-a.replies:
		t.Errorf("OpenCode also got %s", got)
	default:
	}
}

// An ask ends when OpenCode decides first, when its turn ends, and when Askback is detached.
func TestAskEndsWithTheDialog(t *testing.T) {
	a := attach(t)
	for _, end := range []string{
		`"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}`,
		`"type":"session.idle","properties":{"sessionID":"ses_1"}`,
		`"type":"server.instance.disposed","properties":{"directory":"/srv/app"}`,
	} {
		a.permission("per_1", makeIt)
		ask := a.next()
		a.events <- `{"directory":"/srv/app","payload":{` + end + `}}`
		a.withdrawn(ask.ID, "Decided in OpenCode")
	}
	a.permission("per_2", makeIt)
	ask := a.next()
	a.detach()
	a.withdrawn(ask.ID, "detached")
	select {
	case got := <-a.replies:
		t.Errorf("OpenCode got %s", got)
	default:
	}
}

// openList is a list of open requests, some of which Askback does not understand.
const openList = `[{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["make"],"metadata":{"command":"make"}}, {"id":7}, "x"]`

// Requests that were open in the given folders before the first connection are asked about.
func TestOpenRequestsInFoldersAreAsked(t *testing.T) {
	a := newAttachment(t)
	a.open["/permission"] = openList
	a.follow("/srv/app")
	if ask := a.next(); string(ask.Confirmation.Input) != `{"command":"make","patterns":["make"]}` {
		t.Errorf("asked about %s", ask.Confirmation.Input)
	}
}

// When the connection is lost, the ask stays open. Its answer is sent when the request is found again in the
// same folder.
func TestReconnectFindsTheOpenRequest(t *testing.T) {
	a := attach(t)
	a.mu.Lock()
	a.open["/permission"] = openList
	a.mu.Unlock()
	a.permission("per_1", makeIt)
	ask := a.next()
	a.events <- ""
	a.permission("per_9", `,"metadata":{"command":"after"}`) // arrives in the next connection
	if later := a.next(); !strings.Contains(string(later.Confirmation.Input), "after") {
		t.Errorf("the same request was asked about again: %+v", later)
	}
	a.answer(ask.ID, askback.Answer{Decision: askback.Approve})
	a.receives(`/permission/per_1/reply {"reply":"once"}`)
}

// The model makes the ids of calls. Only OpenCode asks about calls that share an id, because people could see
// the arguments of another call (T49).
func TestCallsWithTheSameIDAreNotConfused(t *testing.T) {
	a := attach(t)
	call := func(message string) string {
		return `,"metadata":{},"tool":{"messageID":"` + message + `","callID":"call_1"}`
	}
	a.permission("per_1", call("msg_3"))
	if note := wait(t, a.notes, "a note"); !strings.Contains(note, "arguments of the tool are unknown") {
		t.Errorf("got the note %q", note)
	}
	a.permission("per_2", call("msg_1"))
	ask := a.next()
	a.permission("per_3", call("msg_1"))
	a.withdrawn(ask.ID, "several calls with the same id")
	a.permission("per_4", call("msg_1"))
	a.permission("per_5", makeIt)
	if ask := a.next(); !strings.Contains(string(ask.Confirmation.Input), "make") {
		t.Errorf("asked about %s", ask.Confirmation.Input)
	}
}

// Events that Askback does not understand are ignored. The permission of a tool of an MCP server has the
// arguments of its call. If they are unknown, only OpenCode asks.
func TestUnknownEventsAreIgnored(t *testing.T) {
	a := attach(t)
	for _, event := range []string{
		`nonsense`, `[]`, `{"payload":7}`, `{"payload":{"type":"permission.asked","properties":[]}}`,
		`{"payload":{"type":"permission.asked"}}`,
		`{"payload":{"type":"tool.execute.before","properties":{"tool":"bash","sessionID":"s","callID":"c","args":{}}}}`,
		`{"payload":{"type":"permission.replied","properties":{}}}`, `{"payload":{"type":"session.idle"}}`,
	} {
		a.events <- event
	}
	a.permission("per_1", `,"metadata":{},"tool":{"messageID":"msg_2","callID":"call_1"}`)
	if note := wait(t, a.notes, "a note"); !strings.Contains(note, "arguments of the tool are unknown") {
		t.Errorf("got the note %q", note)
	}
	a.permission("per_2", `,"metadata":{},"tool":{"messageID":"msg_1","callID":"call_1"}`)
	if ask := a.next(); string(ask.Confirmation.Input) != `{"number":7}` {
		t.Errorf("got %s", ask.Confirmation.Input)
	}
	if n := len(a.instance.Asks()); n != 1 {
		t.Errorf("got %d asks, want 1", n)
	}
}

// A missing or wrong password ends the command.
func TestPasswordIsRequired(t *testing.T) {
	for given, want := range map[string]string{
		"":      "requires a password: set OPENCODE_SERVER_PASSWORD",
		"other": "rejects the password: check OPENCODE_SERVER_PASSWORD",
	} {
		f := &Follower{
			Asks: askbacktest.New(t).Agent("local"), URL: newFake(t).URL, User: "opencode", Password: given,
			Note: func(string) {},
		}
		if err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the password %q, got %v, want %q", given, err, want)
		}
	}
}
