//go:build unix

package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// BenchmarkCommit measures the commit of an ask and of its answer by concurrent callers. An ask writes a
// record with a Fixed of 700 bytes and a State of 300 bytes, and an event of 120 bytes. Its answer keeps the
// Fixed. The processor time depends less on the disk and on other programs than the elapsed time.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("ask/callers=%d", callers), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "askback.db"))
			b.ResetTimer()
			asks(b, s, callers)
		})
		b.Run(fmt.Sprintf("answer/callers=%d", callers), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "askback.db"))
			asks(b, s, 256)
			b.ResetTimer()
			runParallel(b, s, callers, func(n int) error { return answer(b, s, n) })
		})
	}
}

// BenchmarkCycle measures an ask, its answer and its ack, with one commit each. Each of the concurrent
// callers has one ask at a time.
func BenchmarkCycle(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "askback.db"))
			b.ResetTimer()
			runParallel(b, s, callers, func(n int) error {
				r := benchRecord(n)
				r.Due = time.Time{}
				for _, what := range []string{"asked", "answered", "acked"} {
					r.Open, r.Unacked = what == "asked", what == "answered"
					if _, err := s.Commit(b.Context(),
						store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, what)}}); err != nil {
						return err
					}
					r.Version, r.Fixed = r.Version+1, nil
				}
				return nil
			})
		})
	}
}

func asks(b *testing.B, s *sqlite.Store, callers int) {
	runParallel(b, s, callers, func(n int) error {
		r := benchRecord(n)
		_, err := s.Commit(b.Context(), store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "asked")}})
		return err
	})
}

// benchRecord returns a record with a separate stream, as most asks have.
func benchRecord(n int) store.Record {
	r := record(n)
	r.Stream = "ses_" + r.ID[len("ask_"):]
	return r
}

func answer(b *testing.B, s *sqlite.Store, n int) error {
	r := benchRecord(n)
	r.Version, r.Open, r.Status, r.Fixed = 1, false, "answered", nil
	r.Due = time.Time{}
	_, err := s.Commit(b.Context(), store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "answered")}})
	return err
}

// runParallel calls run b.N times, from several goroutines concurrently.
func runParallel(b *testing.B, s *sqlite.Store, callers int, run func(n int) error) {
	b.ReportAllocs()
	cpu, batches := cpuTime(b), s.Stats().Batches
	var next atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
				if err := run(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	n := float64(b.N)
	b.ReportMetric(float64((cpuTime(b)-cpu).Nanoseconds())/1000/n, "cpu-µs/change")
	b.ReportMetric(n/float64(s.Stats().Batches-batches), "changes/batch")
	b.ReportMetric(n/b.Elapsed().Seconds(), "changes/s")
}

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkRead(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "askback.db"))
	if _, err := s.Commit(b.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(b.Context(), "ask", record(1).ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPerform measures claims of 100 effects and the completion of each in a
// separate change.
func BenchmarkPerform(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "askback.db"))
	r := record(1)
	for n := 0; n < b.N; r.Version++ {
		c := store.Change{Put: []store.Record{r}}
		for ; n < b.N && len(c.Effects) < 1000; n++ {
			c.Effects = append(c.Effects, store.Effect{
				ID: fmt.Sprintf("eff_%09d", n), Kind: "send", SubjectKind: r.Kind, Subject: r.ID, Due: r.Created,
			})
		}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for {
		effects, err := s.Claim(b.Context(), "node", r.Created, 100)
		if err != nil {
			b.Fatal(err)
		}
		if len(effects) == 0 {
			break
		}
		for _, e := range effects {
			wg.Go(func() {
				c := store.Change{
					Events: []store.Event{event(r, "sent")},
					Done:   []store.Completion{{ID: e.ID, Node: "node"}},
				}
				if _, err := s.Commit(b.Context(), c); err != nil {
					b.Error(err)
				}
			})
		}
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "effects/s")
}
