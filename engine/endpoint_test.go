package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// signingReceiver is a receiver that records the secrets that sign its messages.
type signingReceiver struct {
	receiver
	secrets [][]string
	tests   []string
}

func (r *signingReceiver) Send(ctx context.Context, n askback.Notification) (string, error) {
	r.mu.Lock()
	r.secrets = append(r.secrets, n.Secrets)
	r.mu.Unlock()
	return r.receiver.Send(ctx, n)
}

func (r *signingReceiver) SendTest(_ context.Context, id, endpoint, address string, secrets []string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tests = append(r.tests, fmt.Sprint(id[:5], endpoint[:4], address, len(secrets)))
	return 503, errors.New("the reply was 503 Service Unavailable")
}

// newEndpoints returns a fixture that sends webhooks to a channel, and the client of an operator.
func newEndpoints(t *testing.T, s engine.Store, to engine.Channel, o engine.Options) (p *fixture, ops askback.Client) {
	t.Helper()
	o.Channels = map[string]engine.Channel{"webhook": to}
	p = newFixture(t, s, &o)
	return p, p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
}

// endpoint returns the only endpoint that a principal sees.
func endpoint(t *testing.T, c askback.Client) askback.Endpoint {
	t.Helper()
	page, err := c.Endpoints(t.Context(), askback.EndpointQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("got %+v, %v, want one endpoint", page, err)
	}
	return page.Items[0]
}

// An endpoint is made when its receiver is first used. Only its owner and operators can see and change it
// (E10).
func TestEndpointBelongsToItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &signingReceiver{}
		p, ops := newEndpoints(t, memstore.New(), to, engine.Options{})
		defer p.run()()
		p.ask(calledBack())
		p.ask(calledBack())
		synctest.Wait()
		e := endpoint(t, p.agent)
		if e != endpoint(t, ops) || e.Owner != "bot" || e.Origin != "https://agents.example.com" ||
			e.Status != askback.EndpointActive || !e.SecretAt.IsZero() {
			t.Errorf("got %+v", e)
		}
		other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		if page, err := other.Endpoints(t.Context(), askback.EndpointQuery{Owner: "bot"}); err != nil ||
			len(page.Items) != 0 {
			t.Errorf("another agent: got %+v, %v", page, err)
		}
		for name, c := range map[string]struct {
			who  askback.Client
			want error
		}{"another agent": {other, askback.ErrNotFound}, "a person": {p.ana, askback.ErrForbidden}} {
			ctx := t.Context()
			_, pause := c.who.PauseEndpoint(ctx, e.ID)
			_, resume := c.who.ResumeEndpoint(ctx, e.ID)
			_, _, rotate := c.who.RotateEndpoint(ctx, e.ID)
			_, test := c.who.TestEndpoint(ctx, e.ID)
			_, resend := c.who.ResendToEndpoint(ctx, e.ID, time.Time{})
			_, remove := c.who.DeleteEndpoint(ctx, e.ID)
			for i, err := range []error{pause, resume, rotate, test, resend, remove} {
				if !errors.Is(err, c.want) {
					t.Errorf("%s, call %d: got %v, want %v", name, i+1, err, c.want)
				}
			}
		}
		_, err := p.ana.Endpoints(t.Context(), askback.EndpointQuery{})
		_, _, create := p.ana.CreateEndpoint(t.Context(),
			askback.EndpointRequest{URL: "https://ana.example.com/", Owner: "bot"})
		if !errors.Is(err, askback.ErrForbidden) || !errors.Is(create, askback.ErrForbidden) {
			t.Errorf("a person: the list gives %v, a new one %v", err, create)
		}
		if got := endpoint(t, ops); got != e || len(to.tests) != 0 {
			t.Errorf("got %+v, tests %q, want no change", got, to.tests)
		}
	})
}

// Deliveries to a paused endpoint are kept for days and over a restart, without any attempt. They are not
// given up. When the endpoint is resumed, they are sent in order.
func TestPausedDeliveriesAreSentOnResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, db := &receiver{}, memstore.New()
		p, ops := newEndpoints(t, db, to, engine.Options{})
		stop := p.run()
		a := p.ask(calledBack())
		synctest.Wait()
		e := endpoint(t, ops)
		paused, err := ops.PauseEndpoint(t.Context(), e.ID)
		if err != nil || paused.Status != askback.EndpointPaused || paused.By != "ops" {
			t.Fatalf("got %+v, %v", paused, err)
		}
		p.answer(p.ana, a, "SQLite")
		b := p.ask(calledBack())
		p.answer(p.ana, b, "SQLite")
		<-time.After(24 * time.Hour)
		stop()
		p, ops = newEndpoints(t, db, to, engine.Options{})
		defer p.run()()
		<-time.After(10 * 24 * time.Hour)
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending")
		if failed, err := ops.Deliveries(t.Context(),
			askback.DeliveryQuery{Status: askback.DeliveryFailed}); err != nil || len(failed.Items) > 0 {
			t.Errorf("given up: got %+v, %v", failed, err)
		}
		queued, err := ops.Deliveries(t.Context(), askback.DeliveryQuery{})
		if err != nil || len(queued.Items) != 3 || queued.Items[0].Attempts != 0 {
			t.Errorf("not sent: got %+v, %v, want three without an attempt", queued, err)
		}
		own, err := p.agent.Deliveries(t.Context(), askback.DeliveryQuery{AskID: b.ID})
		if err != nil || len(own.Items) != 2 {
			t.Errorf("of one ask: got %+v, %v", own, err)
		}
		for _, d := range append(queued.Items, own.Items...) {
			if d.EndpointID != e.ID || d.EndpointStatus != askback.EndpointPaused {
				t.Errorf("got %+v, want the endpoint that holds it", d)
			}
		}
		if _, err := ops.ResumeEndpoint(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := to.events()
		if len(got) != 4 || slices.Index(got[1:], "question_pending") > slices.Index(got[1:], "question_answered")+1 {
			t.Errorf("got %q", got)
		}
		of := map[string]string{}
		for _, d := range to.got {
			of[d.AskID] += string(d.Event) + " "
		}
		for _, ask := range []askback.Ask{a, b} {
			if of[ask.ID] != "question_pending question_answered " {
				t.Errorf("%s: got %q, want both events in order", ask.ID, of[ask.ID])
			}
		}
	})
}

// After status 410, no further message is sent to a receiver, and all its waiting deliveries are given up.
// After the endpoint is resumed, new messages are sent. The old messages can then be sent again, in order.
func TestEndpointOfGoneReceiverIsDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		gone := false
		to.reply = func(n int) error {
			switch {
			case gone:
				return &askback.SendError{Err: errors.New("the reply was 410 Gone"), Final: true, Gone: true}
			case n == 1:
				return errors.New("no reply")
			}
			return nil
		}
		p, ops := newEndpoints(t, memstore.New(), to, engine.Options{})
		defer p.run()()
		waits := p.ask(calledBack()) // the next attempt is in 5 s
		synctest.Wait()
		gone = true
		p.answer(p.ana, waits, "SQLite")
		other := p.ask(calledBack())
		<-time.After(time.Second)
		synctest.Wait()
		if len(to.got) != 2 {
			t.Errorf("got %d attempts, want 2", len(to.got))
		}
		e := endpoint(t, ops)
		if e.Status != askback.EndpointDisabled || e.Reason != "it answered 410 Gone" {
			t.Errorf("got %+v, want it disabled", e)
		}
		failed, err := ops.Deliveries(t.Context(), askback.DeliveryQuery{Status: askback.DeliveryFailed})
		if err != nil || len(failed.Items) != 3 {
			t.Fatalf("given up: got %+v, %v, want three", failed, err)
		}
		for _, d := range failed.Items {
			if d.EndpointID != e.ID || d.EndpointStatus != askback.EndpointDisabled {
				t.Errorf("got %+v, want the endpoint that holds it", d)
			}
			if d.AskID == waits.ID && !strings.HasPrefix(d.Error, "not sent: this receiver is disabled since ") {
				t.Errorf("got error %q", d.Error)
			}
		}
		p.answer(p.ana, other, "SQLite")
		synctest.Wait()
		gone = false
		if _, err := p.agent.ResumeEndpoint(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if len(to.got) != 2 {
			t.Errorf("got %d attempts after it was resumed, want 2: what was given up stays so", len(to.got))
		}
		if n, err := p.agent.ResendToEndpoint(t.Context(), e.ID, time.Now()); n != 0 || err != nil {
			t.Errorf("since now: got %d, %v, want none", n, err)
		}
		if n, err := p.agent.ResendToEndpoint(t.Context(), e.ID, time.Time{}); n != 4 || err != nil {
			t.Errorf("got %d, %v, want 4", n, err)
		}
		synctest.Wait()
		of := map[string]string{}
		for _, d := range to.got[2:] {
			of[d.AskID] += string(d.Event) + " "
		}
		if want := "question_pending question_answered "; of[waits.ID] != want || of[other.ID] != want {
			t.Errorf("sent again: got %q, want both events of each ask in order", of)
		}
	})
}

// A receiver that accepts nothing for five days is disabled.
func TestEndpointThatFailsForDaysIsDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{reply: func(int) error { return errors.New("no reply") }}
		p, ops := newEndpoints(t, memstore.New(), to, engine.Options{})
		defer p.run()()
		a := p.ask(calledBack())
		p.answer(p.ana, a, "SQLite")
		for range 4 {
			<-time.After(28 * time.Hour)
			if e := endpoint(t, ops); e.Status != askback.EndpointActive || e.FailingSince.IsZero() {
				t.Fatalf("got %+v, want it active and failing", e)
			}
		}
		<-time.After(40 * time.Hour)
		synctest.Wait()
		if e := endpoint(t, ops); e.Status != askback.EndpointDisabled ||
			e.Reason != "it has accepted no message for five days" {
			t.Errorf("got %+v, want it disabled", e)
		}
		before := len(to.got)
		p.ask(calledBack())
		<-time.After(28 * time.Hour)
		if len(to.got) != before {
			t.Errorf("got %d more attempts", len(to.got)-before)
		}
	})
}

// The secret of an endpoint is returned once, signs the next message, and is stored only encrypted. After a
// rotation both secrets sign for a day (T23).
func TestEndpointSecretIsEncryptedAndRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, db := &signingReceiver{}, memstore.New()
		o := engine.Options{
			SecretKey: func() ([]byte, error) { return []byte("0123456789abcdef0123456789abcdef"), nil },
		}
		p, ops := newEndpoints(t, db, to, o)
		defer p.run()()
		e, first, err := p.agent.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: callback})
		if err != nil || !strings.HasPrefix(first, "whsec_") || e.SecretAt.IsZero() {
			t.Fatalf("got %+v, %v", e, err)
		}
		if _, _, err := ops.CreateEndpoint(t.Context(),
			askback.EndpointRequest{URL: callback, Owner: "bot"}); !errors.Is(err, askback.ErrExists) {
			t.Errorf("again: got %v, want ErrExists", err)
		}
		signs := func(want ...string) {
			t.Helper()
			p.ask(calledBack())
			synctest.Wait()
			if got := to.secrets[len(to.secrets)-1]; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		signs(first)
		_, second, err := ops.RotateEndpoint(t.Context(), e.ID)
		if err != nil || second == first {
			t.Fatal(second, err)
		}
		signs(second, first)
		<-time.After(limits.OldSecretTime)
		signs(second)
		rows, err := db.List(t.Context(), store.Query{Kind: "endpoint"})
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		for _, secret := range []string{first, second} {
			if strings.Contains(fmt.Sprintf("%s %s", rows[0].Fixed, rows[0].State),
				strings.TrimPrefix(secret, "whsec_")) {
				t.Errorf("the store has the secret: %s", rows[0].State)
			}
		}
		// With another key the secret cannot be read. The error contains neither the secret nor the key.
		o.SecretKey = func() ([]byte, error) { return []byte("0123456789abcdef0123456789abcdeX"), nil }
		p, _ = newEndpoints(t, db, to, o)
		if got, err := p.agent.TestEndpoint(t.Context(), e.ID); err != nil ||
			!strings.Contains(got.Error, "rotate the secret") || got.Accepted {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// If the channel has no secret, each endpoint gets its own secret when it is first used. The first rotation
// returns a secret. The receiver can then verify the messages that it did not accept before.
func TestEndpointSecretIsMadeOnFirstUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &signingReceiver{}
		p, _ := newEndpoints(t, memstore.New(), to, engine.Options{EndpointSecrets: true})
		defer p.run()()
		p.ask(calledBack())
		synctest.Wait()
		if got := to.secrets; len(got) != 1 || len(got[0]) != 1 || !strings.HasPrefix(got[0][0], "whsec_") {
			t.Fatalf("got secrets %q, want one", got)
		}
		if e := endpoint(t, p.agent); e.SecretAt.IsZero() {
			t.Errorf("got %+v, want the time of its secret", e)
		}
		// The result is the same if the settings had a secret until now.
		to, db := &signingReceiver{}, memstore.New()
		p, _ = newEndpoints(t, db, to, engine.Options{})
		stop := p.run()
		p.ask(calledBack())
		synctest.Wait()
		stop()
		p, _ = newEndpoints(t, db, to, engine.Options{EndpointSecrets: true})
		defer p.run()()
		p.ask(calledBack())
		synctest.Wait()
		if got := to.secrets; len(got) != 2 || !slices.Equal(got[0], []string{""}) ||
			len(got[1]) != 1 || got[1][0] == "" {
			t.Errorf("got secrets %q, want the secret of the settings, and then its own", got)
		}
	})
}

// The address of the settings is an endpoint of the server, and its waiting deliveries keep their secret.
func TestConfiguredReceiverIsAnEndpointOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &signingReceiver{}
		p, ops := newEndpoints(t, memstore.New(), to, engine.Options{Settings: engine.Settings{CallbackURL: callback}})
		defer p.run()()
		_, secret, err := ops.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: "https://agents.example.com/"})
		if err != nil {
			t.Fatal(err)
		}
		p.ask(question())
		synctest.Wait()
		if len(to.secrets) != 1 || !slices.Equal(to.secrets[0], []string{secret}) {
			t.Errorf("got %q, want the secret of the endpoint", to.secrets)
		}
		if e := endpoint(t, ops); e.Owner != "" {
			t.Errorf("got owner %q, want none", e.Owner)
		}
		if page, err := p.agent.Endpoints(t.Context(), askback.EndpointQuery{}); err != nil || len(page.Items) != 0 {
			t.Errorf("an agent sees %+v, %v", page, err)
		}
	})
}

// A test message is sent without delay, even to a paused endpoint, but not twice in a second.
func TestTestMessageReachesPausedEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &signingReceiver{}
		p, _ := newEndpoints(t, memstore.New(), to, engine.Options{})
		e, _, err := p.agent.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: callback})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.agent.PauseEndpoint(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		got, err := p.agent.TestEndpoint(t.Context(), e.ID)
		if err != nil || got.Accepted || got.Code != 503 || got.Error != "the reply was 503 Service Unavailable" {
			t.Errorf("got %+v, %v", got, err)
		}
		if want := []string{"test_whe_" + callback + "1"}; !slices.Equal(to.tests, want) {
			t.Errorf("got tests %q, want %q", to.tests, want)
		}
		var wait *askback.RetryError
		if _, err := p.agent.TestEndpoint(t.Context(), e.ID); !errors.Is(err, askback.ErrTooFast) ||
			!errors.As(err, &wait) || wait.After != time.Second {
			t.Errorf("again: got %v, want ErrTooFast for a second", err)
		}
		<-time.After(time.Second)
		if _, err := p.agent.TestEndpoint(t.Context(), e.ID); err != nil {
			t.Error(err)
		}
	})
}

// Endpoints in SQLite are the same after a restart.
func TestEndpointsSurviveRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	db := openSQLite(t, path)
	p, _ := newEndpoints(t, db, &signingReceiver{}, engine.Options{})
	var made []askback.Endpoint
	for i := range 3 {
		e, _, err := p.agent.CreateEndpoint(t.Context(),
			askback.EndpointRequest{URL: fmt.Sprintf("https://a%d.example.com/x", i)})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, e)
	}
	slices.SortFunc(made, func(a, b askback.Endpoint) int { return strings.Compare(b.ID, a.ID) }) // newest first
	if _, err := p.agent.DeleteEndpoint(t.Context(), made[2].ID); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	p, ops := newEndpoints(t, openSQLite(t, path), &signingReceiver{}, engine.Options{})
	for name, who := range map[string]askback.Client{"agent": p.agent, "operator": ops} {
		var got []askback.Endpoint
		for q := (askback.EndpointQuery{Limit: 1}); ; {
			page, err := who.Endpoints(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page.Items...)
			if q.Cursor = page.NextCursor; q.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, made[:2]) {
			t.Errorf("%s: got %+v, want %+v", name, got, made[:2])
		}
	}
}

// A repeated request returns its ask or its session, even if the server has lost its webhooks since the first
// request. A new request is rejected.
func TestRepeatedRequestWithCallbackIsAcceptedWithoutChannel(t *testing.T) {
	db := memstore.New()
	p, _ := newEndpoints(t, db, &receiver{}, engine.Options{})
	r := calledBack()
	r.Key = "k"
	first := p.ask(r)
	start := askback.SessionRequest{Key: "run", CallbackURL: callback}
	session, err := p.agent.Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	p = newFixture(t, db, nil)
	if again := p.ask(r); again.ID != first.ID || !again.Repeated {
		t.Errorf("got %s, repeated %v, want %s", again.ID, again.Repeated, first.ID)
	}
	if again, err := p.agent.Start(t.Context(), start); err != nil || again.ID != session.ID {
		t.Errorf("got session %s, %v, want %s", again.ID, err, session.ID)
	}
	var invalid askback.Invalid
	r.Key = "another"
	if _, err := p.agent.Ask(t.Context(), r); !errors.As(err, &invalid) || invalid[0].Pointer != "/callback_url" {
		t.Errorf("a new ask: got %v, want an error at /callback_url", err)
	}
	start.CallbackURL += "2"
	if _, err := p.agent.Start(t.Context(), start); !errors.As(err, &invalid) {
		t.Errorf("another callback: got %v, want an error", err)
	}
}

// The clean-up does not delete an ask or a session with open deliveries. Its deliveries are first sent or
// given up.
func TestAskWithUnsentDeliveryIsNotDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		down := true
		to.reply = func(int) error {
			if down {
				return errors.New("no reply")
			}
			return nil
		}
		p, _ := newEndpoints(t, memstore.New(), to, engine.Options{Settings: engine.Settings{Retention: time.Hour}})
		defer p.run()()
		a := p.ask(calledBack())
		p.answer(p.ana, a, "SQLite")
		<-time.After(48 * time.Hour)
		if _, err := p.agent.Get(t.Context(), a.ID); err != nil {
			t.Errorf("while its receiver is down: got %v", err)
		}
		to.mu.Lock()
		down = false
		to.mu.Unlock()
		<-time.After(24 * time.Hour)
		if got := to.events(); got[len(got)-1] != "question_answered" {
			t.Errorf("got %q", got)
		}
		if _, err := p.agent.Get(t.Context(), a.ID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("after everything was sent: got %v, want ErrNotFound", err)
		}
	})
}

// A process with the option NoEffects sends nothing, and a process without the channel makes no attempt. A
// later process with the channel makes the first attempt.
func TestOnlyProcessesWithTheChannelSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, db := &receiver{}, memstore.New()
		p, _ := newEndpoints(t, db, to, engine.Options{NoEffects: true})
		stop := p.run()
		p.ask(calledBack())
		<-time.After(time.Hour)
		stop()
		p = newFixture(t, db, &engine.Options{Performer: &performer{}})
		stop = p.run()
		<-time.After(time.Hour)
		stop()
		if len(to.got) != 0 {
			t.Fatalf("got %d attempts, want none", len(to.got))
		}
		p, _ = newEndpoints(t, db, to, engine.Options{})
		defer p.run()()
		<-time.After(time.Hour)
		if len(to.got) != 1 || to.got[0].Attempts != 0 {
			t.Errorf("got %+v, want one first attempt", to.got)
		}
	})
}
