package appserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// newRecorded returns a session and the messages that it sends. All requests of the session are denied.
func newRecorded(messages ...string) (*session, *recording) {
	return newRecordedOf(&hooktest.Client{Outcome: askback.Outcome{Status: askback.Answered, Decision: askback.Deny}},
		messages...)
}

func newRecordedOf(asks hook.Client, messages ...string) (*session, *recording) {
	r := &recording{}
	for _, m := range messages {
		r.messages = append(r.messages, []byte(m))
	}
	f := &Follower{Asks: asks, Note: func(string) {}}
	s := newSession(f, f.asker(), r)
	r.atEnd = s.dialogs.Wait // the asks must not end with the connection
	return s, r
}

// answered returns the ids of the requests that were answered.
func (r *recording) answered(t *testing.T) (ids []int) {
	t.Helper()
	for _, m := range r.parsed(t) {
		if m.Method == "" {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// lists returns the cursors of the lists of threads that were requested.
func (r *recording) lists(t *testing.T) (cursors []string) {
	t.Helper()
	for _, m := range r.parsed(t) {
		if m.Method == "thread/loaded/list" {
			cursors = append(cursors, m.Params.Cursor)
		}
	}
	return cursors
}

type sentMessage struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Cursor string `json:"cursor"`
	} `json:"params"`
}

func (r *recording) parsed(t *testing.T) (all []sentMessage) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, raw := range r.sent {
		var m sentMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("sent %s: %v", raw, err)
		}
		all = append(all, m)
	}
	return all
}

const (
	turnEnded      = `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u"}}}`
	otherTurnEnded = `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"v"}}}`
)

func TestEarlierMessagesDecideWhichRequestsAreAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages []string
		want     []int // the ids of the requests that are answered
	}{
		"a request":                            {[]string{initialized, listed, resumed, editAsk}, []int{2}},
		"a request before its thread is known": {[]string{initialized, listed, editAsk, resumed}, []int{2}},
		"the edits of a turn that has ended":   {[]string{initialized, listed, resumed, turnEnded, editAsk}, nil},
		"the edits of a turn that has not ended": {
			[]string{initialized, listed, resumed, otherTurnEnded, editAsk}, []int{2},
		},
	} {
		s, r := newRecorded(c.messages...)
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.answered(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: the requests %v are answered, want %v", name, got, c.want)
		}
	}
}

// After the connection or this process has ended, people are not asked, because their answer could not be
// delivered.
func TestNothingIsAskedAfterTheEnd(t *testing.T) {
	t.Parallel()
	s, r := newRecorded()
	m, _, _ := jsonrpc2.Read([]byte(commandAsk))
	s.threads["t"] = &thread{followed: true}
	s.dialogs.EndAll(errDetached)
	s.handle(t.Context(), m)
	s.dialogs.Wait()
	if got := r.answered(t); got != nil {
		t.Errorf("the requests %v are answered, want none", got)
	}
}

// An ackCounter counts the acks.
type ackCounter struct {
	hooktest.Client
	n atomic.Int32
}

func (c *ackCounter) Ack(context.Context, string) (askback.Ask, error) {
	c.n.Add(1)
	return askback.Ask{}, nil
}

// If an answer cannot be sent, its outcome is not acknowledged. The outcome is delivered when the request is
// made again.
func TestUndeliverableAnswerIsNotAcked(t *testing.T) {
	t.Parallel()
	for broken, want := range map[string]int32{"nothing": 1, `"result"`: 0} {
		c := &ackCounter{}
		c.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Deny}
		s, r := newRecordedOf(c, initialized, listed, resumed, editAsk)
		r.broken = broken
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.n.Load(); got != want {
			t.Errorf("if %s cannot be sent: %d acks, want %d", broken, got, want)
		}
	}
}

// A consumer is a client whose Consume calls during.
type consumer struct {
	hooktest.Client
	during func()
}

func (c *consumer) Consume(context.Context, string, string) (askback.Ask, error) {
	c.during()
	return askback.Ask{}, nil
}

// If the terminal answers before the answer of Askback is sent, the answer of Askback is dropped.
func TestAnswerAfterTheEndOfItsRequestIsNotSent(t *testing.T) {
	t.Parallel()
	for ends, want := range map[bool][]int{true: nil, false: {2}} {
		c := &consumer{}
		c.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Approve}
		s, r := newRecordedOf(c, initialized, listed, resumed, editAsk)
		c.during = func() {
			if ends {
				s.notice(t.Context(), "serverRequest/resolved", json.RawMessage(`{"threadId":"t","requestId":2}`))
			}
		}
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.answered(t); !slices.Equal(got, want) {
			t.Errorf("ended %t: the requests %v are answered, want %v", ends, got, want)
		}
	}
}

func TestEachPageOfThreadsIsListed(t *testing.T) {
	t.Parallel()
	s, r := newRecorded(initialized, `{"id":2,"result":{"data":[],"nextCursor":"c"}}`,
		`{"id":3,"result":{"data":[],"nextCursor":null}}`)
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := r.lists(t), []string{"", "c"}; !slices.Equal(got, want) {
		t.Errorf("listed from the cursors %q, want %q", got, want)
	}
}

// Following a thread can fail, so the threads are listed repeatedly until the connection ends.
func TestThreadsAreListedRepeatedly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, r := newRecorded(initialized)
		r.atEnd = func() { <-time.After(2*listEvery + time.Second) }
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(listEvery)
		if got := len(r.lists(t)); got != 3 {
			t.Errorf("listed %d times, want 3", got)
		}
	})
}
