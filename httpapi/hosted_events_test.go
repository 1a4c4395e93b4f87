package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// A slowModel writes each piece of its reply when it receives the piece, until pieces is closed.
type slowModel struct{ pieces chan string }

func (m slowModel) Reply(ctx context.Context, _ agent.ModelRequest, text func(string)) (agent.ModelReply, error) {
	var reply agent.ModelReply
	for {
		select {
		case p, more := <-m.pieces:
			if !more {
				return reply, nil
			}
			text(p)
			reply.Text += p
		case <-ctx.Done():
			return reply, ctx.Err()
		}
	}
}

// line returns an event in one line.
func line(ev askback.Event) string {
	var data struct {
		Type, Text string
		Offset     int
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s%s", ev.Seq, ev.Type, data.Type, data.Text))
}

// Live text of a model is in the stream of its session and has no position of its own. Live text has the
// cursor of the event before the text. A client that reconnects with this cursor misses nothing (A5, F11).
func TestLiveTextDoesNotMoveTheCursor(t *testing.T) {
	model := slowModel{make(chan string)}
	runner, err := agent.NewRunner(agent.Definition{Name: "slow", Prompt: "Write.", Model: model})
	if err != nil {
		t.Fatal(err)
	}
	db := memstore.New()
	w := newFixtureOn(t, engine.New(db, &engine.Options{Runner: runner}), db, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); _ = w.engine.Run(ctx) }()
	defer func() { cancel(); <-done }()
	client := httpapi.NewClient(w.server.URL, w.token(ana), nil)
	s, err := client.Start(ctx, askback.SessionRequest{Agent: "slow", Prompt: "A poem."})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var last, live askback.Cursor
	for ev, err := range client.Events(ctx, s.ID, askback.Beginning) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line(ev))
		if ev.Type == askback.EventMessageDelta {
			if live = ev.Cursor; live != last {
				t.Errorf("the cursor of a piece is %q, and the cursor of the event before it is %q", live, last)
			}
			if len(got) == 5 {
				break
			}
			model.pieces <- " A frog."
			continue
		}
		if last = ev.Cursor; strings.HasSuffix(got[len(got)-1], "llm_requesting") {
			model.pieces <- "Old pond."
		}
	}
	want := []string{
		"1 session_started", "2 message A poem.", "3 state_change llm_requesting", "0 message_delta Old pond.",
		"0 message_delta  A frog.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	got, ended := nil, false
	for ev, err := range client.Events(ctx, s.ID, live) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, line(ev)); ev.Type == askback.EventMessageDelta && !ended {
			ended = true
			close(model.pieces)
		}
		if ev.Type == askback.EventSessionCompleted {
			break
		}
	}
	want = []string{
		"0 message_delta Old pond. A frog.", "4 message Old pond. A frog.", "5 state_change idle", "6 agent_complete",
		"7 session_completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events after a reconnection (-want +got):\n%s", diff)
	}
}
