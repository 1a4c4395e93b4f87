package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// runStories adds the stories of the form that starts a hosted agent, and of the timelines of hosted agents.
func runStories(b *book) {
	links := b.frame.Links
	b.frame.Links = append(slices.Clone(links), pages.PageLink{
		Name: "Run an agent", Path: pages.RunPath, About: "Start an agent of this server, and follow what it does.",
	})
	agents := view.OfHostedAgents([]askback.HostedAgent{
		{Name: "briefing", Description: "Reads the tickets of a week, and writes one page about them for the team."},
		{
			Name:        "dependency-updates-of-all-repositories-of-the-company",
			Description: strings.Repeat("Looks for new versions and what changed in them. ", 5),
		},
		{Name: "triage"},
	})
	b.add("Run", "several agents", pages.RunPath,
		pages.StartRun(b.on(pages.RunPath), pages.StartPage{Agents: agents, Agent: "triage"}))
	b.add("Run", "one agent", pages.RunPath, pages.StartRun(b.on(pages.RunPath), pages.StartPage{Agents: agents[:1]}))
	b.add("Run", "no agents", pages.RunPath, pages.StartRun(b.on(pages.RunPath), pages.StartPage{}))
	b.add("Run", "problem", pages.RunPath, pages.StartRun(b.on(pages.RunPath), pages.StartPage{
		Agents: agents, Agent: "briefing", Prompt: "The tickets of last week.",
		Problem: "The agent briefing already has 4 runs at the same time. Try again in 2 minutes.",
	}))
	b.runningStories()
	b.endedStories()
	b.frame.Links = links
}

// A runStory is a hosted session with its events.
type runStory struct {
	session  askback.Session
	events   []askback.Event
	children []askback.Session
	asks     []askback.Ask
}

// run returns the session of a run that ana started ten minutes ago.
func (b *book) run() runStory {
	began := b.frame.Now.Add(-10 * time.Minute)
	r := runStory{session: askback.Session{
		ID: "ses_01jzzzzzzzzzzzzzzzzzzzzzzz", Agent: "briefing", Owner: askback.HostedPrefix + "briefing",
		Hosted: true, Status: askback.SessionRunning, Title: "Write the briefing of this week", StartedBy: "ana",
		CreatedAt: began, UpdatedAt: b.frame.Now,
	}}
	return r.message(askback.RoleUser, "ana",
		"Write the briefing of this week. Name the three tickets that took longest.")
}

// with returns the story with another event, half a minute after the event before.
func (r runStory) with(kind askback.EventType, data map[string]any) runStory {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data are constants of this file
	}
	n := len(r.events) + 1
	r.events = append(r.events, askback.Event{
		Seq: int64(n), SessionID: r.session.ID, Type: kind,
		At: r.session.CreatedAt.Add(time.Duration(n) * 30 * time.Second), Data: raw,
	})
	return r
}

func (r runStory) message(role askback.Role, by, text string) runStory {
	return r.with(askback.EventMessage, map[string]any{"role": role, "by": by, "text": text})
}

// call returns the story with a running call.
func (r runStory) call(id, tool, input string) runStory {
	r = r.with(askback.EventToolInput, map[string]any{"call_id": id, "tool": tool, "input": json.RawMessage(input)})
	return r.with(askback.EventToolStart, map[string]any{"call_id": id, "tool": tool})
}

func (r runStory) output(id, text string, failed bool) runStory {
	return r.with(askback.EventToolComplete, map[string]any{"call_id": id, "output": text, "is_error": failed})
}

// child returns the story with another session that the run started.
func (r runStory) child(id, agent string, status askback.SessionStatus, tokens int64) runStory {
	at := r.events[len(r.events)-1].At.Add(10 * time.Second)
	r.children = append(r.children, askback.Session{
		ID: id, Agent: agent, Hosted: true, Status: status, ParentID: r.session.ID, Tokens: tokens, CreatedAt: at,
		UpdatedAt: at,
	})
	return r
}

// ask returns the story with an open ask of the run.
func (r runStory) ask(b *book, in askback.Request) runStory {
	in.Agent = r.session.Agent
	a := b.ask(in)
	r = r.with(askback.EventQuestionPending, map[string]any{"question_id": a.ID})
	a.CreatedAt = r.events[len(r.events)-1].At
	r.asks = append(r.asks, a)
	r.session.Status, r.session.AsksPending, r.session.AsksTotal = askback.SessionWaiting, 1, 1
	return r
}

func (b *book) addRun(name string, r runStory, p pages.SessionPage) {
	p.Session = view.SessionOf(r.session)
	p.Moments = view.RunTimeline(r.session, r.events, r.children, r.asks, nil, nil)
	b.add("Run", name, p.Session.Path(), pages.Session(b.on("/sessions"), p))
}

// worked returns a run with finished calls, a failed call, children, todos and its cost.
func (b *book) worked() runStory {
	r := b.run().message(askback.RoleAssistant, "", "I look at the **tickets** first, then at what the team wrote "+
		"about them:\n\n- open tickets\n- tickets that were closed this week")
	r = r.call("c1", "tickets__list", `{"closed_after":"2026-10-27","limit":200}`).output("c1", `{"tickets":[{"id":4711,"title":"Refund is late","days":9},{"id":4712,"title":"Wrong label on the parcel","days":6}]}`, false)
	r = r.call("c2", "files__read_text_file", `{"path":"/srv/team/notes/2026/week-44/a-folder-with-a-long-name/minutes-of-the-meeting.md","head":400}`)
	r = r.output("c2", "open /srv/team/notes/2026/week-44/a-folder-with-a-long-name/minutes-of-the-meeting.md: no "+
		"such file or directory", true)
	r = r.child("ses_01jzzzzzzzzzzzzzzzzzzzzzz1", "researcher", askback.SessionCompleted,
		48_210).child("ses_01jzzzzzzzzzzzzzzzzzzzzzz2", "translator-of-long-documents", askback.SessionRunning, 0)
	r.session.Tokens, r.session.CostUSD = 1_204_377, 3.17
	r.session.Todos = []askback.Todo{
		{Content: "Read the tickets", Status: askback.TodoCompleted},
		{Content: "Find the three that took longest", Status: askback.TodoInProgress},
		{Content: "Write the page", Status: askback.TodoPending},
	}
	return r
}

func (b *book) runningStories() {
	b.add("Run", "text arrives", "/sessions/"+b.run().session.ID, typing{
		pages.Session(b.on("/sessions"), pages.SessionPage{
			Session: view.SessionOf(b.run().session),
			Moments: view.RunTimeline(b.run().session, b.run().events, nil, nil, nil, nil),
		}),
		"I look at the **tickets** first, then at what the team wrote about",
	})
	running := b.worked().call("c3", "tickets__history", `{"ticket":4711}`)
	b.addRun("call runs", running, pages.SessionPage{Older: true})
	queued := running.with(askback.EventMessageQueued,
		map[string]any{"role": askback.RoleUser, "by": "ana", "text": "Leave the tickets of the test customer out."})
	b.addRun("message waits", queued, pages.SessionPage{})
	b.addRun("question waits",
		b.worked().message(askback.RoleAssistant, "", "Two tickets took equally long.").ask(b, askback.Request{
			Questions: []askback.Question{{
				Text:    "Which of them should be the third?",
				Options: askback.Options("Refund is late", "Wrong label on the parcel"),
			}},
		}), pages.SessionPage{})
	b.addRun("approval waits", b.worked().ask(b, askback.Request{
		Confirmation: &askback.Confirmation{
			ToolName: "mail.send", Server: "office",
			Input: json.RawMessage(`{"to":"team@example.com","subject":"Briefing of week 44"}`),
		},
	}), pages.SessionPage{
		Problem: "20004 characters are too many; at most 20000 are allowed.", Text: "Send it to the board, too.",
	})
}

func (b *book) endedStories() {
	done := b.worked().message(askback.RoleAssistant, "", "# Briefing\n\nThe week was quiet. **4711** took "+
		"longest.\n\n| ticket | days |\n|---|---|\n| 4711 | 9 |\n| 4712 | 6 |")
	done.session.Status, done.session.Phase = askback.SessionCompleted, "idle"
	b.addRun("turn ended", done, pages.SessionPage{})
	cancelled := b.worked()
	cancelled.session.Status, cancelled.session.CompletedAt = askback.SessionCancelled, b.frame.Now
	b.addRun("cancelled", cancelled, pages.SessionPage{})
	failed := b.run()
	failed.session.Status, failed.session.CompletedAt = askback.SessionFailed, b.frame.Now
	failed.session.Error = "The model replied with the status 401: the key is not valid."
	b.addRun("failed", failed, pages.SessionPage{})
	program := b.run()
	program.events, program.session.StartedBy, program.session.ParentID = nil, "", "ses_01jzzzzzzzzzzzzzzzzzzzzzz0"
	b.addRun("started by another run",
		program.message(askback.RoleUser, "", "Find out who worked on the ticket 4711."), pages.SessionPage{})
}

// typing is the page of a run whose model has written a part of its text. The script of the page shows such a
// text.
type typing struct {
	page component
	text string
}

func (t typing) Render(ctx context.Context, w io.Writer) error {
	var page strings.Builder
	if err := t.page.Render(ctx, &page); err != nil {
		return err
	}
	changed := page.String()
	for old, new := range map[string]string{
		`id="typing" hidden`: `id="typing"`, `id="typing-text" dir="auto">`: `id="typing-text" dir="auto">` + t.text,
	} {
		if strings.Count(changed, old) != 1 {
			return fmt.Errorf("the page of a run does not have one %s", old)
		}
		changed = strings.Replace(changed, old, new, 1)
	}
	_, err := io.WriteString(w, changed)
	return err
}
