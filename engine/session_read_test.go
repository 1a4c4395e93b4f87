package engine_test

import (
	"context"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A session records that its agent has read its messages or followed its events. Reads of people and of other
// agents record nothing, and neither do reads of other sessions.
func TestSessionRecordsThatItsAgentReads(t *testing.T) {
	ana := askback.Principal{Kind: askback.Responder, Name: "ana"}
	bot := askback.Principal{Kind: askback.Agent, Name: "bot"}
	other := askback.Principal{Kind: askback.Agent, Name: "other"}
	messages := func(ctx context.Context, c askback.Client, id string) { _, _ = c.Messages(ctx, id, "", 0) }
	follow := func(ctx context.Context, c askback.Client, id string) {
		for range c.Events(ctx, id, askback.Beginning) {
			return
		}
	}
	look := func(ctx context.Context, c askback.Client, id string) { _, _ = c.Session(ctx, id) }
	all := func(ctx context.Context, c askback.Client, _ string) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		for range c.Events(ctx, "", askback.Beginning) {
			return
		}
	}
	for name, c := range map[string]struct {
		who  askback.Principal
		read func(context.Context, askback.Client, string)
		want bool
	}{
		"messages":            {bot, messages, true},
		"events":              {bot, follow, true},
		"events of all":       {bot, all, false},
		"a person":            {ana, messages, false},
		"a person's events":   {ana, follow, false},
		"another agent":       {other, messages, false},
		"the session, by bot": {bot, look, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.New(memstore.New(), nil)
			s, err := e.As(bot).Start(t.Context(), askback.SessionRequest{Key: "run"})
			if err != nil {
				t.Fatal(err)
			}
			c.read(t.Context(), e.As(c.who), s.ID)
			got, err := e.As(ana).Session(t.Context(), s.ID)
			if err != nil || got.ReadsMessages != c.want || !got.UpdatedAt.Equal(s.UpdatedAt) {
				t.Errorf("got %+v, %v; want reads %v", got, err, c.want)
			}
		})
	}
}
