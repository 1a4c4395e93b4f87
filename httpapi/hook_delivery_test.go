package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
)

// A brokenWriter is a response whose connection breaks when the decision is written.
type brokenWriter struct {
	*httptest.ResponseRecorder
	broken bool
}

func (c *brokenWriter) Write(p []byte) (int, error) {
	if c.broken && len(strings.TrimSpace(string(p))) > 0 {
		return 0, errors.New("the connection is gone")
	}
	return c.ResponseRecorder.Write(p)
}

// A decision is acknowledged if its reply was written completely, whether or not the
// header was sent before (B7, F9).
func TestDecisionIsAcknowledgedWhenDelivered(t *testing.T) {
	for _, broken := range []bool{false, true} {
		for _, begun := range []bool{false, true} {
			w := newFixture(t, nil)
			if begun {
				w.handler.SetHeartbeat(time.Millisecond, time.Minute)
			}
			r := httptest.NewRequest(http.MethodPost, claudecode.Path, strings.NewReader(asksDB))
			r.Header.Set("Authorization", "Bearer "+w.token(bot))
			r.Header.Set("Content-Type", "application/json")
			reply, done := &brokenWriter{httptest.NewRecorder(), broken}, make(chan struct{})
			go func() {
				defer close(done)
				w.handler.ServeHTTP(reply, r)
			}()
			w.open(1, askback.Pending)
			if begun {
				<-time.After(20 * time.Millisecond)
			}
			id := w.answerOpenAsk(`/answer {"answer": "SQLite"}`).ID
			<-done
			if strings.Contains(reply.Body.String(), "SQLite") == broken {
				t.Errorf("broken %t, begun %t: got %s", broken, begun, reply.Body)
			}
			ask, err := w.engine.As(bot).Get(t.Context(), id)
			if err != nil || ask.AckedAt.IsZero() != broken {
				t.Errorf("broken %t, begun %t: acked at %s, %v", broken, begun, ask.AckedAt, err)
			}
		}
	}
}
