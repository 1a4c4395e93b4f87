package claudehook_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/store/memstore"
)

// room is a process where hooks wait. All is seen from inside of a bubble: what can
// happen has happened before the next step.
type room struct {
	t       *testing.T
	engine  *engine.Engine
	waiting claudehook.Waiting
}

func newRoom(t *testing.T) *room {
	return &room{t: t, engine: engine.New(memstore.New(), nil)}
}

func (r *room) seat() askback.Client {
	return r.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
}

// hook begins to wait, and has asked by the return.
func (r *room) hook(ev claudehook.Event) (leave func(), said <-chan claudehook.Reply) {
	<-time.After(time.Second) // so that asks have an order
	ctx, cancel := context.WithCancel(r.t.Context())
	out := make(chan claudehook.Reply, 1)
	go func() {
		reply, err := r.waiting.Run(ctx, "bot", r.seat(), ev)
		if err != nil {
			r.t.Error(err)
		}
		out <- reply
	}()
	synctest.Wait()
	return cancel, out
}

// want sees that asks of all states are these, oldest first.
func (r *room) want(when string, status ...askback.Status) []askback.Ask {
	r.t.Helper()
	synctest.Wait()
	page, err := r.seat().List(r.t.Context(), askback.Query{Status: askback.AnyStatus})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.SortFunc(page.Items, func(a, b askback.Ask) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var got []askback.Status
	for _, a := range page.Items {
		got = append(got, a.Status)
	}
	if !slices.Equal(got, status) {
		r.t.Fatalf("%s: got %v, want %v", when, got, status)
	}
	return page.Items
}

func (r *room) answer(ask askback.Ask, a askback.Answer) {
	r.t.Helper()
	if _, err := r.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(r.t.Context(), ask.ID, a); err != nil {
		r.t.Fatal(err)
	}
}

// Two identical calls share a card. Whoever leaves first does not take it from the
// other; the last one does, and what comes then is asked anew (F9).
func TestTheLastHookTakesTheCard(t *testing.T) {
	for name, ev := range map[string]claudehook.Event{
		"a permission": event(t, runBash),
		"a gate":       event(t, strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1)),
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t)
			first, _ := r.hook(ev)
			second, said := r.hook(ev)
			r.want(name+", two wait", askback.Pending)
			first()
			ask := r.want(name+", one left", askback.Pending)[0]
			third, _ := r.hook(ev)
			second()
			if reply := <-said; reply.Output != nil {
				t.Errorf("%s: who left is told %s", name, reply.Output)
			}
			r.want(name+", the second left", askback.Pending)
			third()
			if last := r.want(name+", all left", askback.Cancelled)[0]; last.ID != ask.ID {
				t.Errorf("%s: got %s, want %s", name, last.ID, ask.ID)
			}
		})
	}
}

// Whoever stays hears the answer, and leaves nothing behind.
func TestWhoStaysHearsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		first, _ := r.hook(event(t, runBash))
		_, said := r.hook(event(t, runBash))
		first()
		r.answer(r.want("one left", askback.Pending)[0], askback.Decide(askback.Approve, ""))
		wantOutput(t, <-said, nil, `"allow"`)
		again, _ := r.hook(event(t, runBash))
		again()
		r.want("asked again, and left", askback.Answered, askback.Cancelled)
	})
}

// slow is a seat where withdrawing takes a while.
type slow struct{ askback.Client }

func (s slow) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	<-time.After(3 * time.Second)
	return s.Client.Cancel(ctx, id, reason)
}

// Who comes while a card is withdrawn does not wait for that card.
func TestWhoComesDuringTheWithdrawalAsksAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		ctx, cancel := context.WithCancel(t.Context())
		go r.waiting.Run(ctx, "bot", slow{r.seat()}, event(t, runBash)) //nolint:errcheck // it has nothing to say
		synctest.Wait()
		cancel()
		synctest.Wait()
		_, said := r.hook(event(t, runBash))
		r.want("during the withdrawal", askback.Pending)
		<-time.After(5 * time.Second)
		r.answer(r.want("after the withdrawal", askback.Cancelled, askback.Pending)[1], askback.Decide(askback.Deny, "no"))
		wantOutput(t, <-said, nil, `"deny"`)
	})
}

// failing is a seat where waiting fails after all.
type failing struct {
	askback.Client
	when chan struct{}
}

func (f failing) Wait(context.Context, string) (askback.Ask, error) {
	<-f.when
	return askback.Ask{}, askback.ErrTooMany
}

// A call that was put off stays, whoever else gave it up, before or after.
func TestACallThatWasPutOffStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		leave, said := r.hook(headless(t, runBash))
		if _, err := r.waiting.Run(t.Context(), "bot", full{r.seat()}, headless(t, runBash)); !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		r.want("one cannot wait", askback.Pending)
		last, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := r.waiting.Run(t.Context(), "bot", failing{r.seat(), last}, headless(t, runBash))
			ended <- err
		}()
		synctest.Wait()
		leave()
		wantOutput(t, <-said, nil, `"defer"`)
		close(last)
		if err := <-ended; !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		r.want("the other is put off", askback.Pending)
	})
}

// The same call of two tokens is two cards: nobody takes or keeps those of others (E10).
func TestHooksOfTwoTokensAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		leave, _ := r.hook(event(t, runBash))
		go r.waiting.Run(t.Context(), "other", r.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"}), event(t, runBash)) //nolint:errcheck // it ends with the test
		synctest.Wait()
		leave()
		r.want("mine", askback.Cancelled)
	})
}

// A gate that was put off is the same ask where its session goes on at a desk, and
// the other way round (F9).
func TestAGateIsFoundWhereverItIsResumed(t *testing.T) {
	for _, headlessFirst := range []bool{true, false} {
		desk := askbacktest.New(t)
		ana := desk.Person("ana")
		seat, ev := desk.Agent("local"), headless(t, runBash)
		ev.Headless = headlessFirst
		r, _ := claudehook.Request(ev)
		ask, err := seat.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ana.Answer(t.Context(), ask.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		ev.Headless = !headlessFirst
		reply, err := claudehook.Run(t.Context(), seat, ev)
		wantOutput(t, reply, err, `"permissionDecision":"allow"`)
		if n := len(desk.Asks()); n != 1 {
			t.Errorf("headless first: %t, got %d asks, want 1", headlessFirst, n)
		}
		other := event(t, strings.Replace(strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1), `"make"`, `"rm"`, 1))
		if reply, err := claudehook.Run(t.Context(), seat, other); reply.Output != nil || err == nil {
			t.Errorf("other arguments under the same id: got %s, %v; want an error", reply.Output, err)
		}
	}
}

// Cards of other calls stay (F4).
func TestAToolThatRanRetiresNoOtherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		of := func(name, agent, id string) claudehook.Event {
			ev := event(t, runBash)
			ev.Name, ev.Subagent, ev.ToolUseID = name, agent, id
			return ev
		}
		r.hook(of(claudehook.PermissionRequest, "reviewer", ""))
		r.hook(of(claudehook.PreToolUse, "", "toolu_9"))
		for _, name := range []string{claudehook.PostToolUse, claudehook.PostToolUseFailure} {
			if err := claudehook.Retire(t.Context(), r.seat(), of(name, "builder", "toolu_1")); err != nil {
				t.Error(err)
			}
		}
		r.want("another call ran", askback.Pending, askback.Pending)
		if err := claudehook.Retire(t.Context(), r.seat(), of(claudehook.PostToolUse, "reviewer", "toolu_2")); err != nil {
			t.Error(err)
		}
		r.want("the first ran", askback.Cancelled, askback.Pending)
		if err := claudehook.Retire(t.Context(), r.seat(), of(claudehook.PostToolUse, "builder", "toolu_9")); err != nil {
			t.Error(err)
		}
		r.want("both ran", askback.Cancelled, askback.Cancelled)
	})
}

// Of two open forms of one server a result without a name ends neither.
func TestAResultThatMayBeOfTwoEndsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		form := `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which?","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}}}}`
		done := event(t, `{"session_id":"s1","hook_event_name":"ElicitationResult","mcp_server_name":"tickets","action":"accept"}`)
		first, _ := r.hook(event(t, form))
		r.hook(event(t, strings.Replace(form, "Which?", "And which?", 1)))
		if err := claudehook.Retire(t.Context(), r.seat(), done); err != nil {
			t.Error(err)
		}
		r.want("which of them?", askback.Pending, askback.Pending)
		first()
		r.want("the first is gone", askback.Cancelled, askback.Pending)
		if err := claudehook.Retire(t.Context(), r.seat(), done); err != nil {
			t.Error(err)
		}
		r.want("there is one left", askback.Cancelled, askback.Cancelled)
	})
}

// stuck is a seat whose list comes only when nobody wants it any more.
type stuck struct {
	askback.Client
	listed chan error
}

func (s stuck) List(ctx context.Context, _ askback.Query) (askback.Page, error) {
	s.listed <- ctx.Err()
	<-ctx.Done()
	return askback.Page{}, ctx.Err()
}

// A session that ends does not wait for its cards, and nothing works for it for
// ever (F9).
func TestRetiringOutlivesItsClientForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seat := stuck{newRoom(t).seat(), make(chan error, 1)}
		ctx, gone := context.WithCancel(t.Context())
		gone()
		done := make(chan error, 1)
		go func() {
			done <- claudehook.Retire(ctx, seat, claudehook.Event{Name: claudehook.SessionEnd, SessionID: "s1"})
		}()
		if err := <-seat.listed; err != nil {
			t.Errorf("nothing is looked for: %v", err)
		}
		select {
		case err := <-done:
			if err == nil {
				t.Error("it is said to be done")
			}
		case <-time.After(time.Minute):
			t.Fatal("it goes on and on")
		}
	})
}
