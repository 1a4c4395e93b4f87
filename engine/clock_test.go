package engine_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// An engine logs once that the clock is behind a stored time (T27). The stored time may come from a record
// that was stored with the wrong clock. The clock may also be set back while the engine runs.
func TestClockThatIsBehindIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		var set atomic.Int64
		var log bytes.Buffer
		warnings := func(f func(p *fixture)) (n int) {
			log.Reset()
			p := newFixture(t, db, &engine.Options{
				Now: func() time.Time { return time.Now().Add(time.Duration(set.Load())) },
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			stop := p.run()
			synctest.Wait()
			f(p)
			<-time.After(2 * time.Minute)
			stop()
			return strings.Count(log.String(), "the clock is behind the latest time")
		}
		ask := func(p *fixture) { p.ask(question()) }
		if n := warnings(ask); n != 0 {
			t.Errorf("got %d warnings with a right clock:\n%s", n, &log)
		}
		set.Store(int64(-4 * time.Second))
		if n := warnings(ask); n != 0 {
			t.Errorf("got %d warnings four seconds behind:\n%s", n, &log)
		}
		set.Store(int64(-48 * time.Hour))
		for _, when := range []string{"at first", "after something was stored"} {
			if n := warnings(ask); n != 1 {
				t.Errorf("%s: got %d warnings two days behind, want 1:\n%s", when, n, &log)
			}
		}
		set.Store(0)
		if n := warnings(func(*fixture) { set.Store(int64(-time.Hour)) }); n != 1 {
			t.Errorf("got %d warnings when the clock was set back, want 1:\n%s", n, &log)
		}
	})
}
