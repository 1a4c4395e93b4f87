package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/hosted/schedule"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A scheduledRunner has one agent, poem, with a schedule that tests may change.
type scheduledRunner struct {
	*scriptRunner
	schedule atomic.Pointer[schedule.Schedule]
}

func (r *scheduledRunner) Agents() []askback.HostedAgent {
	s := r.schedule.Load()
	return []askback.HostedAgent{{Name: "poem", Schedule: s.Text(), TimeZone: s.Zone()}}
}

func (r *scheduledRunner) NextRun(_ string, after time.Time) time.Time {
	return r.schedule.Load().Next(after)
}

func (r *scheduledRunner) set(t *testing.T, line, zoneName string) {
	t.Helper()
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Parse(line, zone)
	if err != nil {
		t.Fatal(err)
	}
	r.schedule.Store(&s)
}

// A clockwork is a store with servers that host one agent with a schedule. The clock begins on Saturday, 1
// January 2000, at 0:00.
type clockwork struct {
	t      *testing.T
	store  engine.Store
	runner *scheduledRunner
	log    bytes.Buffer
}

func newClockwork(t *testing.T, line, zone string) *clockwork {
	t.Helper()
	c := &clockwork{t: t, store: memstore.New(), runner: &scheduledRunner{
		scriptRunner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {says("Done.")}}},
	}}
	c.runner.set(t, line, zone)
	return c
}

// serve starts a server, which runs until stop returns.
func (c *clockwork) serve() (e *engine.Engine, stop func()) {
	e = engine.New(c.store, &engine.Options{Runner: c.runner, Log: slog.New(slog.NewTextHandler(&c.log, nil))})
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = e.Run(ctx) }()
	return e, func() { cancel(); <-done }
}

// serveFor runs a server for a time.
func (c *clockwork) serveFor(d time.Duration) {
	_, stop := c.serve()
	<-time.After(d)
	synctest.Wait()
	stop()
}

// started returns the start times of all sessions, oldest first. It requires that a schedule started them.
func (c *clockwork) started() []string {
	c.t.Helper()
	ana := engine.New(c.store,
		&engine.Options{Runner: c.runner}).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	page, err := ana.Sessions(c.t.Context(), askback.SessionQuery{Limit: askback.MaxLimit})
	if err != nil {
		c.t.Fatal(err)
	}
	var all []string
	for _, s := range slices.Backward(page.Items) {
		var payload struct{ Time time.Time }
		if err := json.Unmarshal(s.Payload, &payload); err != nil {
			c.t.Fatal(err)
		}
		at := s.CreatedAt.Format("Mon 15:04:05")
		if !payload.Time.Equal(s.CreatedAt) {
			at += payload.Time.Format(" for 15:04")
		}
		all = append(all, at)
		if !s.Hosted || s.Owner != "hosted:poem" || s.StartedBy != "" || s.Status != askback.SessionCompleted {
			c.t.Errorf("got %+v", s)
		}
	}
	return all
}

func (c *clockwork) want(want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.started()); diff != "" {
		c.t.Errorf("runs started (-want +got):\n%s", diff)
	}
}

func TestScheduleStartsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "0 7 * * 1-5", "Europe/Berlin")
		c.serveFor(4 * 24 * time.Hour)
		c.want("Mon 06:00:00", "Tue 06:00:00")
		ana := engine.New(c.store, nil).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		page, err := ana.Sessions(t.Context(), askback.SessionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		s := page.Items[1]
		payload := `{"schedule":"0 7 * * 1-5","time":"2000-01-03T07:00:00+01:00","time_zone":"Europe/Berlin"}`
		if string(s.Payload) != payload || s.Title != "Scheduled for Mon 3 Jan 2000, 07:00 CET" {
			t.Errorf("got title %q and payload %s", s.Title, s.Payload)
		}
		if !c.runner.unattended(s.ID) {
			t.Error("the run may ask people, although no person started it")
		}
	})
}

// Several servers on one database start one run at each time.
func TestServersStartAScheduledRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "0 */6 * * *", "UTC")
		for range 3 {
			_, stop := c.serve()
			defer stop()
		}
		<-time.After(25 * time.Hour)
		synctest.Wait()
		c.want("Sat 06:00:00", "Sat 12:00:00", "Sat 18:00:00", "Sun 00:00:00")
		if c.log.Len() > 0 {
			t.Errorf("the log is %s", c.log.String())
		}
	})
}

// After a pause of the server, only the latest missed run starts, and only within an hour. The other missed
// runs are logged.
func TestOnlyLatestMissedRunStarts(t *testing.T) {
	for line, test := range map[string]struct {
		want []string
		log  string
	}{
		"*/20 * * * *": {
			[]string{"Sat 00:20:00", "Sat 00:40:00", "Sat 05:30:00 for 05:20", "Sat 05:40:00"},
			"skipped\" agent=poem first=2000-01-01T01:00:00.000Z before=2000-01-01T04:30:00",
		},
		"45 4 * * *":    {[]string{"Sat 05:30:00 for 04:45"}, ""},
		"15 4 * * *":    {nil, "skipped\" agent=poem first=2000-01-01T04:15:00.000Z"},
		"15,45 4 * * *": {[]string{"Sat 05:30:00 for 04:45"}, "skipped\" agent=poem first=2000-01-01T04:15:00.000Z"},
		"0,15 5 * * *":  {[]string{"Sat 05:30:00 for 05:15"}, "skipped\" agent=poem at=2000-01-01T05:00:00.000Z"},
		"30 5 * * *":    {[]string{"Sat 05:30:00"}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClockwork(t, line, "UTC")
			c.serveFor(50 * time.Minute)
			<-time.After(4*time.Hour + 40*time.Minute) // until 5:30
			c.serveFor(15 * time.Minute)
			t.Log(line)
			c.want(test.want...)
			if got := c.log.String(); !strings.Contains(got, test.log) ||
				test.log == "" && strings.Contains(got, "skipped") {
				t.Errorf("the log is %s", got)
			}
		})
	}
}

// While a run waits for a person, its schedule starts no other run, even after a restart. The first skipped run is
// logged.
func TestScheduleSkipsRunWhileOneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "*/20 * * * *", "UTC")
		c.runner.scripts["poem"] = []conversation.ModelReplied{
			says("", call("ask", `{"question":"Red?"}`)), says("Done."),
		}
		c.serveFor(50 * time.Minute) // skips 0:40
		ana := engine.New(c.store, nil).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		page, err := ana.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("got %d asks, %v", len(page.Items), err)
		}
		c.serveFor(20 * time.Minute) // skips 1:00
		if _, err := ana.Answer(t.Context(), page.Items[0].ID, askback.Choose("A")); err != nil {
			t.Fatal(err)
		}
		c.serveFor(5 * time.Minute)
		c.runner.scripts["poem"] = []conversation.ModelReplied{says("Done.")}
		c.serveFor(50 * time.Minute)
		c.want("Sat 00:20:00", "Sat 01:20:00", "Sat 01:40:00", "Sat 02:00:00")
		if n := strings.Count(c.log.String(), "until the last one has ended"); n != 1 {
			t.Errorf("the log has %d warnings of skipped runs, want 1: %s", n, c.log.String())
		}
	})
}

// A changed definition takes effect without a restart, and starts no run for earlier times.
func TestChangedScheduleTakesEffectWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "0 3 * * *", "UTC")
		_, stop := c.serve()
		defer stop()
		<-time.After(2*time.Hour + 59*time.Minute)
		c.runner.set(t, "0 2,4 * * *", "UTC")
		<-time.After(3 * time.Hour)
		synctest.Wait()
		c.want("Sat 04:00:00")
		c.runner.set(t, "0 7 * * *", "Asia/Tokyo")
		<-time.After(24 * time.Hour)
		synctest.Wait()
		c.want("Sat 04:00:00", "Sat 22:00:00")
	})
}

// A losingStore fails to store the next time of a schedule, as if the process ended before that commit.
type losingStore struct {
	engine.Store
	loses atomic.Int64
}

func (s *losingStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	for _, r := range c.Put {
		if r.Kind == "schedule" && r.Version > 0 && s.loses.Add(-1) >= 0 {
			return 0, errors.New("the process ends")
		}
	}
	return s.Store.Commit(ctx, c)
}

func TestRunStartsOnceAlthoughItsScheduleWasNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "0 3 * * *", "UTC")
		lossy := &losingStore{Store: c.store}
		lossy.loses.Store(5)
		c.store = lossy
		c.serveFor(3*time.Hour + 30*time.Second)
		c.serveFor(time.Hour)
		c.want("Sat 03:00:00")
		if left := lossy.loses.Load(); left >= 0 {
			t.Errorf("%d commits were not tried", left)
		}
	})
}

func TestHostedAgentsAreListedWithTheirNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, "0 3 * * *", "Europe/Berlin")
		ana := engine.New(c.store,
			&engine.Options{Runner: c.runner}).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		got, err := ana.HostedAgents(t.Context())
		want := []askback.HostedAgent{{
			Name: "poem", Schedule: "0 3 * * *", TimeZone: "Europe/Berlin",
			NextRun: time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC),
		}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
