package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A guard ends within its limit, whatever the server does. After the timeout of the hook, an agent runs the
// tool (T48).
func TestGuardsEndWithinTheirLimit(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	announced, _ := s.place.Last()
	target, err := url.Parse(announced.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	ended := make(chan struct{})
	stalling := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/asks" && r.Method == http.MethodPost {
			forward.ServeHTTP(w, r)
			return
		}
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	t.Cleanup(func() {
		close(ended)
		stalling.Close()
	})
	env := append(s.env[:len(s.env):len(s.env)], "ASKBACK_URL="+stalling.URL, "ASKBACK_TOKEN="+s.agent)
	const limit, grace = 3 * time.Second, 5 * time.Second // if the limit had no effect, the end would take 7 seconds
	t.Run("no time", func(t *testing.T) {
		t.Parallel()
		p := launch(t, env, "hook", "codex", "--gate", "--limit", "0s")
		sendEvent(t, p, codexCall)
		if !within(time.Minute, p.hasEnded) {
			t.Fatal("the hook still runs, although it has no time")
		}
		if exitCode(p.result) != exitBlock || p.out.String() != "" {
			t.Errorf("got %v, %q, %q; want the call blocked", p.result, p.out.String(), p.err.String())
		}
	})
	for flags, event := range map[string]string{
		"gemini --limit": geminiCall, "cursor --limit": cursorCall, "codex --limit": codexCall,
		"copilot --wait": copilotEvent, "gemini --gate --limit": "",
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			p := launch(t, env, append([]string{"hook"}, append(strings.Fields(flags), limit.String(), "--gate")...)...)
			if event != "" { // without an event, the input stays open
				sendEvent(t, p, event)
			}
			if !within(limit+grace, p.hasEnded) {
				t.Fatalf("the hook still runs, %s after its limit", grace)
			}
			if exitCode(p.result) != exitBlock || p.out.String() != "" {
				t.Errorf("got %v, %q, %q; want the call blocked", p.result, p.out.String(), p.err.String())
			}
		})
	}
}

// A hook stops waiting before its limit and ends at the limit. If it has printed a decision, this decision is
// its result. It prints no decision after the limit.
func TestHookEndsAtItsLimit(t *testing.T) {
	blocked := errors.New("blocked")
	for _, c := range []struct {
		limit, waits time.Duration
		print        bool
		want         error
	}{
		{time.Minute, 50 * time.Second, false, blocked},
		{time.Minute, 50 * time.Second, true, nil},
		{4 * time.Second, 2 * time.Second, false, blocked},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, late := time.Now(), make(chan error, 1)
			var printed strings.Builder
			err := withinLimit(t.Context(), streams{out: &printed},
				c.limit, func() error { return blocked }, func(ctx context.Context, in streams) error {
					<-ctx.Done()
					if waited := time.Since(begun); waited != c.waits {
						t.Errorf("limit %s: waited for %s, want %s", c.limit, waited, c.waits)
					}
					if c.print {
						_, _ = io.WriteString(in.out, "yes")
					}
					<-time.After(time.Hour)
					_, err := io.WriteString(in.out, " or no")
					late <- err
					return nil
				})
			if took := time.Since(begun); !errors.Is(err, c.want) || took != c.limit {
				t.Errorf("limit %s: got %v after %s, want %v", c.limit, err, took, c.want)
			}
			if <-late == nil || printed.String() == "yes" != c.print || strings.Contains(printed.String(), "no") {
				t.Errorf("limit %s: got %q", c.limit, printed.String())
			}
		})
	}
}
