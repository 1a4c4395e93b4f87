package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// While a model writes a long text, at most one megabyte of the text can be read. The message has the whole
// text.
func TestLiveTextIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece, pieces = 1 << 16, 40
		next := make(chan struct{})
		h := newHost(t,
			&scriptRunner{reply: func(_ context.Context, _ conversation.Run, write func(string)) conversation.Input {
				for range pieces {
					write(strings.Repeat("x", piece))
				}
				<-next
				return says(strings.Repeat("x", piece*pieces))
			}})
		defer h.stop()
		s := h.run("Go.")
		live, whole := 0, 0
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ev, err := range h.ana.Events(ctx, s.ID, "") {
				var d struct{ Text, Role string }
				if err != nil || json.Unmarshal(ev.Data, &d) != nil {
					return
				}
				switch {
				case ev.Type == askback.EventMessageDelta:
					live += len(d.Text)
				case ev.Type == askback.EventMessage && d.Role == "assistant":
					whole += len(d.Text)
				}
			}
		}()
		synctest.Wait()
		close(next)
		h.settled(s.ID)
		stop()
		h.check("live and whole", fmt.Sprint(live, whole), fmt.Sprint(1<<20, piece*pieces))
	})
}
