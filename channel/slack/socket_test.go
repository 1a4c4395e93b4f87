package slack

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/channel/slack/slacktest"
)

// overSocket makes actions arrive over Socket Mode.
func (f *fixture) overSocket(e Engine) (stop func()) {
	f.Helper()
	f.slack.SendTo("")
	ctx, cancel := context.WithCancel(f.Context())
	var group sync.WaitGroup
	group.Go(func() { f.Run(ctx, e) })
	stop = func() { cancel(); group.Wait() }
	f.Cleanup(stop)
	f.slack.Wait("a connection", func() bool { return f.slack.Sockets() == 1 })
	return stop
}

func socketMode(o *Options) { o.AppToken, o.SigningSecret = slacktest.AppToken, "" }

// Slack asks to reconnect about once an hour, and a network may fail silently. After each break there is a
// new connection, and the next answer arrives over it.
func TestSocketModeConnectsAgain(t *testing.T) {
	f := newFixture(t, socketMode)
	f.overSocket(f.engine)
	for i, end := range []func(){
		func() { f.slack.Disconnect("warning") },
		func() { f.slack.Disconnect("refresh_requested") },
		f.slack.Cut,
		func() {
			f.slack.Fail(slacktest.Fault{Method: "apps.connections.open", Status: 503})
			f.slack.Cut()
		},
	} {
		a := f.ask(choice("PostgreSQL", "SQLite"))
		m := f.live(a)
		before := f.slack.Connections()
		end()
		f.slack.Wait("a new connection",
			func() bool { return f.slack.Connections() > before && f.slack.Sockets() == 1 })
		if ack := f.slack.Press(slacktest.Ana, m, "SQLite", nil); !ack.OK || f.pending(a) {
			t.Errorf("end %d: acknowledged: %v, pending: %v", i, ack.OK, f.pending(a))
		}
	}
}

// If Slack rejects a token for a while, as during an installation of the app, the library gives up. Run
// connects again, and the next answer arrives.
func TestRunConnectsAgainAfterARejectedToken(t *testing.T) {
	f := newFixture(t, func(o *Options) { socketMode(o); o.Reconnect = time.Millisecond })
	f.overSocket(f.engine)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	for range 3 {
		f.slack.Fail(slacktest.Fault{Method: "apps.connections.open", Error: "invalid_auth"})
	}
	before := f.slack.Connections()
	f.slack.Cut()
	f.slack.Wait("a new connection", func() bool { return f.slack.Connections() > before && f.slack.Sockets() == 1 })
	if n := strings.Count(f.log.text(), "Socket Mode has no connection"); n != 3 {
		t.Errorf("the log has %d rejections, want 3:\n%s", n, f.log.text())
	}
	if ack := f.slack.Press(slacktest.Ana, m, "SQLite", nil); !ack.OK || f.pending(a) {
		t.Errorf("acknowledged: %v, pending: %v", ack.OK, f.pending(a))
	}
}

// Slack sends an envelope again if it got no acknowledgement. A repeated answer is recorded once, and the
// repeat is not an error.
func TestRepeatedActionIsHarmless(t *testing.T) {
	f := newFixture(t, socketMode)
	f.overSocket(f.engine)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	for range 3 {
		if ack := f.slack.Press(slacktest.Ana, m, "SQLite", nil); !ack.OK {
			t.Errorf("got %+v", ack)
		}
	}
	if got := f.told(slacktest.Ana); got != "" {
		t.Errorf("ana was told %q", got)
	}
	if o := f.outcome(a); o.Answers[0].Selected[0] != "SQLite" {
		t.Errorf("got %+v", o)
	}
}

// Events and commands are acknowledged, so that Slack does not send them again.
func TestEventsAreAcknowledged(t *testing.T) {
	f := newFixture(t, socketMode)
	f.overSocket(f.engine)
	if ack, _ := f.slack.Event(
		[]byte(`{"type":"event_callback","team_id":"T0000001","event":{"type":"app_home_opened","user":"U1"}}`),
	); !ack.OK {
		t.Errorf("got %+v", ack)
	}
}

// A rejected token is an error in the log, with the action to take.
func TestRejectedTokenIsExplained(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.AppToken = "xapp-wrong" })
	err := f.failed("apps.connections.open", f.connect(t.Context(), f.engine))
	if err == nil || !strings.Contains(err.Error(), "invalid_auth") {
		t.Errorf("got %v", err)
	}
}

// The token of another workspace is rejected, because messages would be posted there.
func TestTokenOfAnotherWorkspaceIsReported(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Team = "T0000002" })
	if err := f.SendTest(t.Context()); err == nil || !strings.Contains(err.Error(), "team: T0000002") {
		t.Errorf("got %v", err)
	}
	if got := f.slack.Messages(); len(got) > 0 {
		t.Errorf("got messages %+v", got)
	}
	f = newFixture(t, nil)
	must(t, f.SendTest(t.Context()))
	if got := f.slack.Messages(); len(got) != 1 || !strings.Contains(got[0].Shown(), "Test") {
		t.Errorf("got messages %+v", got)
	}
}
