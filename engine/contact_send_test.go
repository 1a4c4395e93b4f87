package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// pushes is a channel to contacts that records its messages.
type pushes struct {
	browsers
	mu   sync.Mutex
	got  []string // the address, person and event of each message
	fail map[string]error
}

func (p *pushes) Send(_ context.Context, n askback.Notification) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, n.Address+" "+n.Person+" "+string(n.Event))
	return "", p.fail[n.Address]
}

// take returns the messages since the last call, sorted.
func (p *pushes) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := slices.Sorted(slices.Values(p.got))
	p.got = nil
	return got
}

// contactSender is a running engine with contacts.
type contactSender struct {
	*contactFixture
	t    *testing.T
	out  *pushes
	stop func()
}

func newContactSender(t *testing.T) *contactSender {
	db := memstore.New()
	s := &contactSender{t: t, out: &pushes{fail: map[string]error{}}, contactFixture: &contactFixture{
		tokenFixture: tokenFixture{store: db},
	}}
	s.reads.Store = db
	s.Engine = engine.New(&s.reads, &engine.Options{Channels: map[string]engine.Channel{"webpush": s.out}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
	}()
	s.stop = func() {
		cancel()
		<-done
	}
	return s
}

// add adds a contact of a person with a new token, and returns the id of the token.
func (s *contactSender) add(name, address string) (c askback.Contact, token string) {
	s.t.Helper()
	who, token := s.withToken(s.t, name, 0)
	c, err := who.AddContact(context.Background(), askback.ContactRequest{Channel: "webpush", Address: address})
	if err != nil {
		s.t.Fatal(err)
	}
	return c, token
}

func (s *contactSender) ask(to ...string) askback.Ask {
	s.t.Helper()
	r := question()
	r.To = to
	a, err := s.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(context.Background(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
	return a
}

func (s *contactSender) want(why string, want ...string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.out.take(); !slices.Equal(got, want) {
		s.t.Errorf("%s: got %q, want %q", why, got, want)
	}
}

// The contacts of the people who may answer an ask get the question, and later the outcome.
func TestContactsGetQuestionAndOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newContactSender(t)
		defer s.stop()
		c, _ := s.add("ana", "https://ana")
		s.add("bob", "https://bob")
		a := s.ask("ana")
		s.want("to ana", "https://ana ana question_pending")
		if _, err := s.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), a.ID,
			askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		s.want("answered", "https://ana ana question_answered")
		s.ask()
		s.want("to every person", "https://ana ana question_pending", "https://bob bob question_pending")
		page, err := s.As(admin).Deliveries(t.Context(), askback.DeliveryQuery{AskID: a.ID})
		if err != nil || len(page.Items) != 2 || page.Items[0].Target != c.ID || page.Items[0].Person != "ana" {
			t.Errorf("got deliveries %+v, %v", page.Items, err)
		}
		if list, err := s.As(admin).Contacts(t.Context()); err != nil || list[0].UsedAt.IsZero() {
			t.Errorf("got contacts %+v, %v; want a time of use", list, err)
		}
	})
}

// Messages to a contact are given up when the contact is removed, or when its token is revoked. A new ask is
// not sent to such a contact.
func TestEndedContactGetsNothing(t *testing.T) {
	for _, how := range []string{"removed", "revoked"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newContactSender(t)
				defer s.stop()
				c, token := s.add("ana", "https://ana")
				s.out.fail["https://ana"] = errors.New("no reply")
				a := s.ask()
				s.want("the first attempt", "https://ana ana question_pending")
				err := error(nil)
				if how == "removed" {
					_, err = s.As(admin).DeleteContact(t.Context(), c.ID)
				} else {
					_, err = s.RevokeToken(t.Context(), token)
				}
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				later := s.ask()
				s.want(how)
				if page, err := s.As(admin).Deliveries(t.Context(),
					askback.DeliveryQuery{AskID: later.ID}); err != nil || len(page.Items) != 0 {
					t.Errorf("got deliveries %+v, %v of a new ask; want none", page.Items, err)
				}
				page, err := s.As(admin).Deliveries(t.Context(), askback.DeliveryQuery{AskID: a.ID})
				if err != nil || len(page.Items) != 1 || page.Items[0].Status != askback.DeliveryFailed {
					t.Errorf("got deliveries %+v, %v; want a delivery that was given up", page.Items, err)
				}
			})
		})
	}
}

// A contact is removed if its receiver no longer exists. After other failures the contact is kept.
func TestGoneContactIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newContactSender(t)
		defer s.stop()
		s.add("ana", "https://gone")
		kept, _ := s.add("ana", "https://rejects")
		s.out.fail["https://gone"] = &askback.SendError{Err: errors.New("gone"), Final: true, Gone: true}
		s.out.fail["https://rejects"] = &askback.SendError{Err: errors.New("too large"), Final: true}
		s.ask()
		if list, err := s.As(admin).Contacts(t.Context()); err != nil || len(list) != 1 || list[0].ID != kept.ID {
			t.Errorf("got %+v, %v; want only %s", list, err, kept.ID)
		}
	})
}

// When an agent asks, the engine reads no more records with contacts than without contacts.
func TestContactsCauseNoReadsWhenAnAgentAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newContactSender(t)
		s.stop()
		s.ask()
		reads := func() int64 {
			before := s.reads.reads.Load()
			s.ask()
			return s.reads.reads.Load() - before
		}
		without := reads()
		for _, address := range []string{"https://a", "https://b", "https://c"} {
			s.add("ana", address)
		}
		s.ask() // reads them
		if with := reads(); with != without {
			t.Errorf("got %d reads with contacts, want %d as without", with, without)
		}
	})
}

// If a person makes a grant through a contact, the grant ends with the token of the contact. If a person of
// the settings makes a grant through a channel, the grant ends when the person leaves the settings.
func TestGrantEndsWithItsContact(t *testing.T) {
	k, ctx := newContactFixture("bob"), t.Context()
	anas, token := k.withToken(t, "ana", 0)
	k.link(t, anas, "42")
	ana, _, err := k.ContactClient(ctx, "telegram", "42", askback.ChannelTelegram)
	if err != nil {
		t.Fatal(err)
	}
	bob, err := k.Person(ctx, "bob", askback.ChannelSlack)
	if err != nil {
		t.Fatal(err)
	}
	robot := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	for _, tt := range []struct {
		who     askback.Inbox
		tool    string
		channel askback.Channel
		end     func()
	}{
		{ana, "deploy", askback.ChannelTelegram, func() {
			if _, err := k.RevokeToken(ctx, token); err != nil {
				t.Fatal(err)
			}
		}},
		{bob, "drop", askback.ChannelSlack, func() { k.Set(settingsOf()) }},
	} {
		confirm := askback.Request{Confirmation: &askback.Confirmation{ToolName: tt.tool, Input: []byte("{}")}}
		a, err := robot.Ask(ctx, confirm)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = tt.who.Answer(ctx, a.ID, askback.Decide(askback.ApproveAll, "")); err != nil ||
			a.Outcome.Channel != tt.channel {
			t.Fatalf("got %+v, %v", a.Outcome, err)
		}
		if a, err = robot.Ask(ctx, confirm); err != nil || a.Outcome == nil {
			t.Fatalf("%s: got %+v, %v; want it approved by the grant", tt.tool, a, err)
		}
		tt.end()
		if a, err = robot.Ask(ctx, confirm); err != nil || a.Outcome != nil {
			t.Errorf("%s: got %+v, %v; want it to wait for a person", tt.tool, a.Outcome, err)
		}
	}
}

// A channel acts for people of the settings and for people with a valid token, but not for agents.
func TestChannelCannotActForUnknownPerson(t *testing.T) {
	k, ctx := newContactFixture("bob"), t.Context()
	s := settingsOf("bob")
	s.Receivers = []engine.Receiver{{Channel: "post", Name: "phone", Person: "carla"}}
	k.Set(s)
	_, token := k.withToken(t, "ana", 0)
	k.createToken(t, askback.TokenRequest{Kind: askback.Agent, Name: "robot"})
	k.createToken(t, askback.TokenRequest{Kind: askback.Operator, Name: "olga"})
	for name, want := range map[string]error{
		"ana": nil, "bob": nil, "carla": nil,
		"robot": askback.ErrForbidden, "olga": askback.ErrForbidden, "eve": askback.ErrForbidden,
		"": askback.ErrForbidden,
	} {
		if _, err := k.Person(ctx, name, askback.ChannelSlack); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", name, err, want)
		}
	}
	if _, err := k.RevokeToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person(ctx, "ana", askback.ChannelSlack); !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("without a token: got %v, want %v", err, askback.ErrForbidden)
	}
}
