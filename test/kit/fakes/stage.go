package fakes

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// A Stage replaces the test that the fakes need, outside of a test.
type Stage struct {
	testing.TB // nil, so that other methods panic
	ctx        context.Context

	mu       sync.Mutex
	cleanups []func()
}

// NewStage returns a Stage. [Stage.End] ends the services on it.
func NewStage(ctx context.Context) *Stage { return &Stage{ctx: ctx} }

// Helper implements [testing.TB].
func (s *Stage) Helper() {}

// Context implements [testing.TB].
func (s *Stage) Context() context.Context { return s.ctx }

// Logf implements [testing.TB].
func (s *Stage) Logf(string, ...any) {}

// Cleanup implements [testing.TB].
func (s *Stage) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

// TempDir implements [testing.TB].
func (s *Stage) TempDir() string {
	dir, err := os.MkdirTemp("", "askback-fakes-*")
	if err != nil {
		panic(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Error implements [testing.TB]. It panics.
func (s *Stage) Error(args ...any) { panic(fmt.Sprint(args...)) }

// Errorf implements [testing.TB]. It panics.
func (s *Stage) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Fatal implements [testing.TB]. It panics.
func (s *Stage) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Fatalf implements [testing.TB]. It panics.
func (s *Stage) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// End runs the clean-ups.
func (s *Stage) End() {
	s.mu.Lock()
	all := s.cleanups
	s.cleanups = nil
	s.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		all[i]()
	}
}
