package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// addressedRunner has an agent whose asks are for the people in the field to. The outcomes that its model
// reads contain the secrets of these asks.
type addressedRunner struct {
	*scriptRunner
	to []string
}

func (r addressedRunner) Asks(conversation.Run) (to []string, asks bool, err error) {
	return r.to, true, nil
}

func (r addressedRunner) Question(run conversation.Run, call conversation.Call) (askback.Request, error) {
	q, err := r.scriptRunner.Question(run, call)
	q.To = r.to
	return q, err
}

func (r addressedRunner) Outcome(run conversation.Run, call conversation.Call, a askback.Ask) conversation.AskSettled {
	in := r.scriptRunner.Outcome(run, call, a)
	if !in.Approved {
		in.Text = "secret-answer of secret-name"
	}
	return in
}

// newAddressedHost returns an engine with the agent poem. The asks of poem are for the people in to, and its
// model gives these replies.
func newAddressedHost(t *testing.T, to []string, replies ...conversation.ModelReplied) *host {
	t.Helper()
	r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
		"poem":  replies,
		"child": {says("secret-text", call("ask", `{"question":"secret-question?"}`)), says("Child done.")},
	}}
	h := &host{t: t, runner: r, wrapped: addressedRunner{r, to}}
	h.start(memstore.New())
	return h
}

func (h *host) person(name string) askback.Principal {
	return askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}
}

// everything returns all that a principal can read about a session: events, history, messages, lists, figures
// and deliveries.
func (h *host) everything(p askback.Principal, id string) string {
	h.t.Helper()
	var all strings.Builder
	c := h.engine.As(p)
	for _, session := range []string{id, ""} {
		for _, after := range []askback.Cursor{askback.Beginning, ""} {
			ctx, stop := context.WithTimeout(h.t.Context(), time.Second)
			for ev, err := range c.Events(ctx, session, after) {
				if err != nil {
					break
				}
				fmt.Fprintf(&all, "%s %s\n", ev.Type, ev.Data)
			}
			stop()
		}
	}
	if events, _, err := h.engine.Reports(p).SessionHistory(h.t.Context(), id); err == nil {
		for _, ev := range events {
			fmt.Fprintf(&all, "history %s %s\n", ev.Type, ev.Data)
		}
	}
	add := func(v any, err error) {
		h.t.Helper()
		raw, wrong := json.Marshal(v)
		if wrong != nil {
			h.t.Fatal(wrong)
		}
		fmt.Fprintf(&all, "%s %v\n", raw, err)
	}
	add(c.Session(h.t.Context(), id))
	add(c.Sessions(h.t.Context(), askback.SessionQuery{}))
	add(c.Messages(h.t.Context(), id, "", 0))
	add(c.Messages(h.t.Context(), id, "", 1))
	add(c.(interface {
		LastMessage(ctx context.Context, id string) (string, error)
	}).LastMessage(h.t.Context(), id))
	add(c.List(h.t.Context(), askback.Query{Status: askback.AnyStatus}))
	add(c.List(h.t.Context(), askback.Query{Status: askback.SettledStatus, Search: "secret"}))
	add(c.Grants(h.t.Context(), askback.GrantQuery{}))
	add(c.Stats(h.t.Context()))
	add(c.Deliveries(h.t.Context(), askback.DeliveryQuery{}))
	late, _, err := h.engine.Reports(p).LateAnswers(h.t.Context(), id)
	add(late, err)
	return all.String()
}

// sees requires that a principal in want can read the secrets of a session if its value is true, and cannot
// read them if it is false.
func (h *host) sees(what, id string, want map[string]bool) {
	h.t.Helper()
	for name, may := range want {
		kind := askback.Responder
		switch name {
		case "bot", "other":
			kind = askback.Agent
		case "root":
			kind = askback.Admin
		case "op":
			kind = askback.Operator
		}
		got := h.everything(askback.Principal{Kind: kind, Name: name, Channel: askback.ChannelWeb}, id)
		if i := strings.Index(got, "secret"); (i >= 0) != may {
			h.t.Errorf("%s: %s sees the secrets: %t, want %t\n%s", what, name, i >= 0, may,
				got[max(0, i-300):min(len(got), max(0, i)+200)])
		}
	}
}

const secretQuestion = `{"question":"secret-question?"}`

// The content of a hosted run's ask is shown to its recipients and to the agent that started the run. This
// holds for every list and stream. The content includes the calls, the messages with the calls, their
// results, and the text that the model is writing (T10, F10).
func TestAsksOfARunAreShownOnlyToRecipients(t *testing.T) {
	cases := map[string]struct {
		replies []conversation.ModelReplied
		then    func(t *testing.T, h *host, a askback.Ask)
	}{
		"a question waits": {replies: []conversation.ModelReplied{says("secret-text", call("ask", secretQuestion))}},
		"a call waits": {
			replies: []conversation.ModelReplied{says("", call("confirmed", `{"n":"secret-argument"}`))},
		},
		"a later call waits": {
			replies: []conversation.ModelReplied{
				says("", call("ask", `{"question":"First?"}`), call("confirmed", `{"n":"secret-argument"}`)),
			},
		},
		"a question is answered": {
			replies: []conversation.ModelReplied{says("Hm.", call("ask", `{"question":"Which?"}`)), says("Done.")},
			then: func(t *testing.T, h *host, a askback.Ask) {
				_, err := h.engine.As(h.person("ben")).Answer(t.Context(), a.ID, askback.Choose("A"))
				h.check("answer", err, nil)
			},
		},
		"a question is declined": {
			replies: []conversation.ModelReplied{says("", call("ask", `{"question":"Which?"}`)), says("Done.")},
			then: func(t *testing.T, h *host, a askback.Ask) {
				_, err := h.engine.As(h.person("ben")).Decline(t.Context(), a.ID, "secret-reason")
				h.check("decline", err, nil)
			},
		},
		"a call is denied": {
			replies: []conversation.ModelReplied{says("", call("confirmed", `{"n":"secret-argument"}`)), says("Done.")},
			then: func(t *testing.T, h *host, a askback.Ask) {
				_, err := h.engine.As(h.person("ben")).Answer(t.Context(), a.ID,
					askback.Answer{Decision: askback.Deny, Reason: "secret-reason"})
				h.check("denial", err, nil)
			},
		},
		"a call runs": {
			replies: []conversation.ModelReplied{
				says("secret-text", call("confirmed", `{"n":"secret-argument"}`)), says("Done."),
			},
			then: func(t *testing.T, h *host, a askback.Ask) {
				_, err := h.engine.As(h.person("ben")).Answer(t.Context(), a.ID,
					askback.Answer{Decision: askback.ApproveAll})
				h.check("approval", err, nil)
			},
		},
		"the turn is cancelled": {
			replies: []conversation.ModelReplied{
				says("secret-text", call("ask", secretQuestion), call("confirmed", `{"n":"secret-argument"}`)),
			},
			then: func(t *testing.T, h *host, a askback.Ask) {
				_, err := h.engine.As(h.person("ana")).Send(t.Context(), a.SessionID, askback.EndTurn{})
				h.check("cancellation", err, nil)
			},
		},
		"a call is rejected before": {
			replies: []conversation.ModelReplied{
				{Text: "secret-text", Calls: []conversation.Call{{
					ID: "c", Tool: "ask", Input: json.RawMessage(secretQuestion),
					Plan: conversation.Plan{Kind: conversation.KindRejected, Error: "no options"},
				}}},
				says("", call("ask", `{"question":"Which?"}`)),
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newAddressedHost(t, []string{"ben"}, c.replies...)
				defer h.stop()
				s, err := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Start(t.Context(),
					askback.SessionRequest{Agent: "poem", Prompt: "Go."})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				page, err := h.engine.As(h.person("ben")).List(t.Context(), askback.Query{SessionID: s.ID})
				if err != nil || len(page.Items) != 1 {
					t.Fatalf("got %d asks, %v, want one", len(page.Items), err)
				}
				if c.then != nil {
					c.then(t, h, page.Items[0])
					synctest.Wait()
				}
				h.sees(name, s.ID,
					map[string]bool{"ben": true, "bot": true, "ana": false, "root": false, "op": false, "other": false})
			})
		})
	}
}

// An ask is for every person if neither the ask nor a route names people.
func TestAsksWithoutRecipientsAreShownToEveryPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newAddressedHost(t, nil, says("secret-text", call("ask", secretQuestion), call("confirmed", `{"n":2}`)))
		defer h.stop()
		s := h.run("Go.")
		h.sees("asked", s.ID, map[string]bool{"ana": true, "ben": true, "op": false, "other": false})
	})
}

// New recipients of an ask can read the ask. Former recipients cannot, even after the ask was deleted.
func TestReassignmentChangesReadersOfARunsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
			says("secret-text", call("ask", secretQuestion)), says("Next.", call("ask", `{"question":"More?"}`)),
		}}}
		h := &host{t: t, runner: r, wrapped: addressedRunner{r, []string{"ben"}}}
		h.start(kept)
		defer h.stop()
		s := h.run("Go.")
		ben := h.engine.As(h.person("ben"))
		page, err := ben.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) != 1 {
			t.Fatal(len(page.Items), err)
		}
		a := page.Items[0]
		h.sees("asked", s.ID, map[string]bool{"ben": true, "cem": false, "ana": false})
		if _, err := ben.Reassign(t.Context(), a.ID, askback.Reassignment{To: []string{"cem"}}); err != nil {
			t.Fatal(err)
		}
		h.sees("reassigned", s.ID, map[string]bool{"ben": false, "cem": true, "ana": false})
		if _, err := h.engine.As(h.person("cem")).Answer(t.Context(), a.ID, askback.Choose("A")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.sees("answered", s.ID, map[string]bool{"ben": false, "cem": true, "ana": false})

		row, err := kept.Read(t.Context(), "ask", a.ID)
		if err == nil {
			_, err = kept.Commit(t.Context(), store.Change{
				Delete: []store.Ref{{Kind: row.Kind, ID: row.ID, Version: row.Version}},
				Prune:  []store.EventFilter{{Stream: s.ID, Subject: a.ID}},
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		h.stop()
		h.engine = nil
		h.start(kept)
		h.engine.Set(engine.Settings{Retention: time.Minute})
		<-time.After(2 * time.Minute) // time of the synctest bubble
		h.sees("deleted", s.ID, map[string]bool{"ben": false, "cem": false, "ana": false, "op": false})
	})
}

// A sub-agent asks the people of the agent that started it.
func TestAsksOfASubAgentAreShownOnlyToRecipients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newAddressedHost(t, []string{"ben"}, says("", call("spawn", `{}`)))
		defer h.stop()
		s := h.run("Go.")
		children, err := h.engine.Reports(h.person("ana")).Children(t.Context(), s.ID)
		if err != nil || len(children) != 2 {
			t.Fatal(len(children), err)
		}
		h.sees("parent", s.ID, map[string]bool{"ana": false})
		for _, c := range children {
			h.sees("child", c.ID, map[string]bool{"ben": true, "ana": false, "root": false, "op": false})
		}
	})
}

// The text that a model is writing may be part of an ask. So it is shown only to principals that get all asks
// of the run. The names in a route count like the names of the agent.
func TestLiveTextIsShownOnlyToRecipientsOfAllAsks(t *testing.T) {
	for name, routes := range map[string][]askback.Route{
		"the agent names them": nil,
		"a route names them": {
			{Match: askback.Match{Agent: "other"}, To: []string{"ana"}},
			{Match: askback.Match{Tags: []string{"x"}}, To: []string{"@poets"}},
		},
		"they alone approve": {{Match: askback.Match{Kind: askback.Confirm}, Approvers: []string{"@poets"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			r := &scriptRunner{
				reply: func(_ context.Context, _ conversation.Run, piece func(string)) conversation.Input {
					piece("I ask for secret-text")
					<-over
					return says("Done.")
				},
			}
			h := &host{t: t, runner: r, wrapped: addressedRunner{r, []string{"ben"}}}
			if routes != nil {
				h.wrapped = addressedRunner{r, nil}
			}
			h.start(memstore.New())
			defer h.stop()
			h.engine.Set(engine.Settings{Groups: map[string][]string{"poets": {"ben"}}, Routes: routes})
			s := h.run("Go.")
			h.sees(name, s.ID, map[string]bool{"ben": true, "ana": false, "root": false})
			close(over)
			synctest.Wait()
		})
	}
}

// The callback of a person gets only content that this person may read.
func TestCallbackOfAPersonGetsNoAsksOfOthers(t *testing.T) {
	for _, asked := range []string{"ana", "ben"} {
		synctest.Test(t, func(t *testing.T) {
			var sent addressBook
			r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {says("", call("ask", secretQuestion)), says("Done.")},
			}}
			h := &host{
				t: t, runner: r, wrapped: addressedRunner{r, []string{asked}},
				channels: map[string]engine.Channel{"webhook": &sent},
			}
			h.start(memstore.New())
			defer h.stop()
			r.mu.Lock() // the model cannot reply before the address is set
			s, err := h.ana.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go.", Key: "k"})
			if err == nil { // the repeated request sets the callback
				s, err = h.ana.Start(t.Context(), askback.SessionRequest{
					Agent: "poem", Prompt: "Go.", Key: "k", CallbackURL: "https://ana.example.com",
				})
			}
			r.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			page, err := h.engine.As(h.person(asked)).List(t.Context(), askback.Query{SessionID: s.ID})
			if err != nil || len(page.Items) != 1 {
				t.Fatal(len(page.Items), err)
			}
			if _, err := h.engine.As(h.person(asked)).Answer(t.Context(), page.Items[0].ID,
				askback.Choose("A")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			sent.mu.Lock()
			defer sent.mu.Unlock()
			got := strings.Join(sent.got, "\n")
			if strings.Contains(got, "question_") != (asked == "ana") || !strings.Contains(got, "session_completed") {
				t.Errorf("%s is asked, and ana's program gets:\n%s", asked, got)
			}
		})
	}
}

// Every person may see and revoke a standing approval, but not read the arguments of an ask for others.
func TestGrantArgumentsAreHiddenLikeTheirAsk(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	as := func(kind askback.Kind, name string) askback.Client {
		return e.As(askback.Principal{Kind: kind, Name: name})
	}
	a, err := as(askback.Agent, "bot").Ask(t.Context(), askback.Request{
		To: []string{"ben", "cem"}, SessionKey: "run",
		Confirmation: &askback.Confirmation{ToolName: "rm", Input: json.RawMessage(`{"path":"secret-argument"}`)},
	})
	if err == nil {
		_, err = as(askback.Responder, "ben").Answer(t.Context(), a.ID, askback.Answer{Decision: askback.ApproveAll})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]askback.Kind{
		"ben": askback.Responder, "cem": askback.Responder, "ana": askback.Responder, "root": askback.Admin,
		"op": askback.Operator,
	} {
		page, err := as(kind, name).Grants(t.Context(), askback.GrantQuery{})
		if err != nil || len(page.Items) != 1 {
			t.Fatal(name, len(page.Items), err)
		}
		if got, want := len(page.Items[0].Input) > 0, name == "ben" || name == "cem"; got != want {
			t.Errorf("%s sees the arguments: %t, want %t", name, got, want)
		} else if got := page.Items[0].Digest != ""; got != want {
			t.Errorf("%s sees the digest, by which arguments can be guessed: %t, want %t", name, got, want)
		}
		if kind == askback.Operator {
			continue
		}
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		for ev, err := range as(kind, name).Events(ctx, "", askback.Beginning) {
			if err != nil {
				break
			}
			if regexp.MustCompile("secret|sha256:").Match(ev.Data) && name != "ben" && name != "cem" {
				t.Errorf("%s gets %s %s", name, ev.Type, ev.Data)
			}
		}
		stop()
	}
	g, err := as(askback.Responder, "ana").Grants(t.Context(), askback.GrantQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if revoked, err := as(askback.Responder, "ana").Revoke(t.Context(), g.Items[0].ID); err != nil ||
		len(revoked.Input) > 0 {
		t.Errorf("the reply to a revocation has %s, %v", revoked.Input, err)
	}
}
