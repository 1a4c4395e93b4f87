package txn

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// maxCovered is the number at which CountCovered stops.
const maxCovered = 1000

// PendingFor returns a query for the pending asks that a grant may cover.
func PendingFor(g askback.Grant) store.Query {
	return store.Query{
		Kind: KindAsk, Owner: g.Owner, Agent: g.Agent, Stream: g.SessionID, Open: new(true), Limit: ListChunk,
	}
}

// Coverable reports whether a grant approves an ask that was pending when the grant was made. The rules are the
// same as for a new ask. In addition, no person is answering the ask: an answer that is held has precedence.
func Coverable(s *lifecycle.AskState, g askback.Grant, now time.Time) bool {
	return s.Ask.ID != g.AskID && !s.Ask.Settled() && len(s.Held) == 0 && g.Covers(s.Ask, now)
}

// CountCovered returns the number of pending asks that a new grant covers, at most maxCovered.
func (t *Tx) CountCovered(g askback.Grant) (n int, err error) {
	for row, err := range t.DB.Rows(t.ctx, PendingFor(g)) {
		if err != nil {
			return 0, err
		}
		state, err := DecodeAsk(row)
		if err != nil {
			t.DB.LogUnreadable(row, err)
			continue
		}
		if Coverable(&state, g, t.now) {
			n++
		}
		if n == maxCovered {
			break
		}
	}
	return n, nil
}
