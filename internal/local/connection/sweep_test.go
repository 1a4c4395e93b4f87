package connection

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/memstore"
)

// An ask that cannot be withdrawn is retried every second, but logged once.
func TestFailedSweepIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "attending", "ask_1") // a folder, where a file should be
	if err := os.MkdirAll(note, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newSweeper(instance.Place{Database: filepath.Join(dir, "askback.db")}, engine.New(memstore.New(), nil),
			slog.New(slog.NewTextHandler(&log, nil)))
		warned := func() int { return strings.Count(log.String(), "level=WARN") }
		ctx, stop := context.WithCancel(t.Context())
		go s.run(ctx)
		<-time.After(time.Minute)
		synctest.Wait()
		if got := warned(); got != 1 {
			t.Errorf("after a minute: got %d warnings, want 1:\n%s", got, log.String())
		}
		for _, change := range []func(string) error{
			os.Remove, func(name string) error { return os.Mkdir(name, 0o700) },
		} {
			if err := change(note); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
			synctest.Wait()
		}
		if got := warned(); got != 2 {
			t.Errorf("after it was well and failed again: got %d warnings, want 2:\n%s", got, log.String())
		}
		stop()
		synctest.Wait()
	})
}
