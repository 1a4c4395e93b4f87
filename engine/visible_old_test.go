package engine_test

import (
	"context"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// oldEvents is a store whose call events have no kind, like the events of older releases.
type oldEvents struct{ engine.Store }

var kindMember = regexp.MustCompile(`,?"kind":"[a-z]+"`)

func withoutKinds(events []store.Event, err error) ([]store.Event, error) {
	for i, ev := range events {
		events[i].Data = kindMember.ReplaceAll(ev.Data, nil)
	}
	return events, err
}

func (s oldEvents) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	return withoutKinds(s.Store.History(ctx, stream, after, limit))
}

func (s oldEvents) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	return withoutKinds(s.Store.Recent(ctx, stream, before, limit))
}

// Events of older releases do not record how a call was handled. The ask of the call determines who may see
// such an event. Without an ask, the run determines who may see the event. A call that asks no person is
// shown to every person.
func TestCallsOfOlderReleaseAreShownOnlyToRecipients(t *testing.T) {
	for _, answered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
				says("Look.", call("read", `{"n":"plain-argument"}`)),
				says("secret-text", call("confirmed", `{"n":"secret-argument"}`), call("ask", secretQuestion),
					call("read", `{}`)),
				says("Done."),
			}}}
			h := &host{t: t, runner: r, wrapped: addressedRunner{r, []string{"ben"}}}
			h.start(oldEvents{memstore.New()})
			defer h.stop()
			s := h.run("Go.")
			if answered {
				page, err := h.engine.As(h.person("ben")).List(t.Context(), askback.Query{})
				if err != nil || len(page.Items) != 1 {
					t.Fatal(len(page.Items), err)
				}
				_, err = h.engine.As(h.person("ben")).Answer(t.Context(), page.Items[0].ID,
					askback.Answer{Decision: askback.Deny, Reason: "secret-reason"})
				h.check("denial", err, nil)
				synctest.Wait()
			}
			h.sees("old", s.ID, map[string]bool{"ben": true, "ana": false, "root": false, "op": false})
			if got := h.everything(h.person("ana"),
				s.ID); !regexp.MustCompile(`tool_input_ready .*plain-argument`).MatchString(got) {
				t.Error("ana does not see a call that asks no one")
			}
		})
	}
}
