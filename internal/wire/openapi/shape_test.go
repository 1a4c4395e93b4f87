package openapi_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/openapi/openapitest"
	"github.com/askback/askback/store/memstore"
)

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

const (
	id     = "01k7z3q8v0h2m4n6p8r0s2t4v6"
	digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

var (
	option   = askback.Option{Label: "SQLite", Description: "one file", Preview: "sqlite:"}
	question = askback.Question{
		ID: "q1", Text: "Which?", Header: "DB", MultiSelect: true, Options: []askback.Option{option, {Label: "B"}},
		NoOther: true, Optional: true, Default: []string{"B"}, Format: "integer",
	}
	single       = askback.Question{ID: "q2", Text: "Why?", Default: []string{"Because"}}
	confirmation = askback.Confirmation{
		ToolName: "rm", Server: "files", Description: "Away", Input: raw(`{"a": 1}`), InputPreview: "rm a",
		Tier: "confirm", Dangerous: true, NoEdit: true, Context: "old", Digest: digest,
	}
	person  = askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
	outcome = askback.Outcome{
		Status: askback.Answered, Answers: []askback.QuestionAnswer{
			{ID: "q1", Question: "Which?", Selected: []string{"B"}, Other: "C", Notes: "n"}, {},
		},
		Comment: "c", Decision: askback.ApproveAll, Input: raw(`{"a": 2}`), Digest: digest, Waiting: 2, GrantID: "grt_" + id,
		Reason: "r", Actor: person, Channel: askback.ChannelWeb, At: nine, Defaulted: true,
	}
	vote     = askback.Vote{Name: "ana", Decision: askback.Approve, Reason: "r", Channel: askback.ChannelWeb, At: nine}
	followUp = askback.FollowUp{At: nine, To: []string{"@oncall"}, DoneAt: nine}
	heldBack = askback.Held{
		Name: "ana", Yours: true, Channel: askback.ChannelWeb, Declines: true, Answers: outcome.Answers, Comment: "c",
		Decision: askback.ApproveAll, Input: raw(`{"a": 2}`), Reason: "r", Scope: askback.ScopeTool, Until: nine,
		At: nine, SendsAt: nine, Digest: digest, GrantID: "grt_" + id, Token: "tok_" + id,
	}
	asked = askback.Ask{
		ID: "ask_" + id, SessionID: "ses_" + id, SessionTitle: "Release 2.4", Agent: "bot", Owner: "bot",
		Path:  []string{"lead"},
		Kind:  askback.Questions,
		Title: "t", Questions: []askback.Question{question, single}, Context: raw(`"c"`), To: []string{"ana"},
		Quorum: 1, Tags: []string{"prod"}, Claims: []askback.Claim{{Name: "ana", At: nine}}, Status: askback.Answered,
		CreatedAt: nine,
		Deadline:  nine, OnTimeout: askback.OnTimeoutFail, PageURL: "https://x/asks/1", Outcome: &outcome,
		AckedAt: nine, ConsumedAt: nine,
		Warnings:   []askback.Problem{{Pointer: "/header", Detail: "d", Fix: "f"}},
		Recipients: []string{"ana", "ben"}, Approvers: []string{"ana"}, Votes: []askback.Vote{vote},
		NoSelfApproval: true, StartedBy: "cem", FollowUps: []askback.FollowUp{followUp}, AskedAgainAt: nine,
		ReassignedBy: "ben",
		ReassignedAt: nine, Held: []askback.Held{heldBack},
	}
	route = askback.Route{
		Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"prod"}},
		To:    []string{"@payments"}, Approvers: []string{"@payments"}, Channels: []string{"post"}, Quorum: 2,
		NoSelfApproval: true, Remind: []askback.Span{askback.Span(time.Minute)}, Timeout: askback.Span(time.Hour),
		OnTimeout: askback.OnTimeoutDecline, Join: true,
		Escalate: []askback.Escalation{{After: askback.Span(time.Hour), To: []string{"@oncall"}}},
		Source:   askback.SourceAPI, Warning: "w",
	}
	listed = askback.Person{
		Name: "ana", Email: "a@b.c", Slack: "U1", TimeZone: "UTC", Quiet: "22:00-07:00", Groups: []string{"payments"},
		Source: askback.SourceAPI, By: "olga", ChangedAt: nine, Warning: "w",
	}
	hosted = askback.HostedAgent{Name: "poem", Description: "d", Schedule: "0 7 * * *", TimeZone: "UTC", NextRun: nine}
	group  = askback.Group{
		Name: "payments", People: []string{"ana"}, Source: askback.SourceAPI, By: "olga", ChangedAt: nine, Warning: "w",
	}
	session = askback.Session{
		ID: "ses_" + id, Agent: "bot", Owner: "bot", Hosted: true, Title: "t", Status: askback.SessionCompleted,
		Phase:   "idle",
		Payload: raw(`[1]`), Result: raw(`"done"`), Error: "e", Metadata: raw(`{}`),
		Todos: []askback.Todo{{Content: "c", Status: askback.TodoPending}}, ParentID: "ses_" + id, AsksPending: 1,
		AsksTotal: 2, Tokens: 3, CostUSD: 0.5, StartedBy: "ana", CreatedAt: nine, UpdatedAt: nine,
		CompletedAt: nine, ResumedAt: nine, ReadsMessages: true,
	}
	grant = askback.Grant{
		ID: "grt_" + id, Owner: "bot", Agent: "bot", ToolName: "rm", Server: "files", Scope: askback.ScopeInput,
		AskID: "ask_" + id, Input: raw(`{"a": 1}`), SessionID: "ses_" + id, Digest: digest, Dangerous: true, By: "ana",
		Token: "tok_" + id, CreatedAt: nine, ExpiresAt: nine, Uses: 1, RevokedAt: nine, LastUsedAt: nine,
		MakerEnded: true,
	}
	token = askback.Token{
		Browser: askback.Browser{Name: "Firefox on Linux", Address: "203.0.113.7"},
		ID:      "tok_" + id, Kind: askback.Admin, Name: "ana", Channel: askback.ChannelAPI, CreatedAt: nine,
		ExpiresAt: nine, RevokedAt: nine, LastUsedAt: nine,
	}
	message = askback.Message{Seq: 1, Role: askback.RoleUser, By: "ana", Text: "hi", At: nine}
	snooze  = askback.Snooze{AskID: "ask_" + id, Until: nine}
	asking  = askback.AgentStats{Name: "bot", Pending: 1}
	stats   = askback.Stats{
		Pending: 1, OldestPending: 1.5, Settled: map[askback.Status]int{askback.Answered: 1}, ByPolicy: 1,
		MedianWait: 0.5,
		Answers:    []askback.PersonStats{{Name: "ana", Answered: 1, Approved: 1, Denied: 1, MedianWait: 0.5}},
		Agents:     []askback.AgentStats{asking}, Partial: true,
	}
)

// full has values with every field set; least has values with only the fields that
// Askback always sets. Both are encoded with the same fields, because missing values are
// null (docs/wire.md §2).
var full = map[string]any{
	"Ask": asked,
	"AskPage": askback.Page{
		Items: []askback.Ask{asked}, NextCursor: "c", EventsCursor: "e", Snoozes: []askback.Snooze{snooze},
	},
	"Snooze": snooze, "Question": question, "Option": option, "OptionRequest": option, "Confirmation": confirmation,
	"Claim": asked.Claims[0], "Outcome": outcome, "QuestionAnswer": outcome.Answers[0], "Actor": person,
	"FieldProblem": asked.Warnings[0], "Session": session,
	"SessionPage": askback.SessionPage{Items: []askback.Session{session}, NextCursor: "c"}, "Message": message,
	"MessagePage": askback.MessagePage{Items: []askback.Message{message}, NextCursor: "c"}, "Todo": session.Todos[0],
	"Grant": grant, "GrantPage": askback.GrantPage{Items: []askback.Grant{grant}, NextCursor: "c"}, "Token": token,
	"Person": listed, "Held": heldBack, "Vote": vote, "FollowUp": followUp, "Group": group, "HostedAgent": hosted,
	"Route": route, "Agent": asking, "Stats": stats, "PersonStats": stats.Answers[0],
	"Event": askback.Event{
		Cursor: "c", Seq: 1, SessionID: "ses_" + id, Type: "agent_complete", At: nine, Data: raw(`{"x": 1}`),
	},
}

var least = map[string]any{
	"Ask": askback.Ask{
		ID: asked.ID, SessionID: asked.SessionID, Kind: askback.Questions,
		Questions: []askback.Question{{ID: "q1", Text: "?"}}, Quorum: 1, Status: askback.Pending, CreatedAt: nine,
		OnTimeout: askback.OnTimeoutWait,
	},
	"AskPage": askback.Page{}, "Snooze": askback.Snooze{AskID: "ask_" + id},
	"Question": askback.Question{ID: "q1", Text: "?"}, "Option": askback.Option{Label: "A"},
	"Confirmation": askback.Confirmation{ToolName: "rm", Input: raw(`{}`), Tier: "confirm", Digest: digest},
	"Claim":        askback.Claim{At: nine},
	"Outcome": askback.Outcome{
		Status: askback.Expired, Actor: askback.Actor{Kind: askback.ActorTimer}, At: nine,
	},
	"QuestionAnswer": askback.QuestionAnswer{}, "Actor": askback.Actor{Kind: askback.ActorTimer},
	"FieldProblem": askback.Problem{},
	"Session":      askback.Session{ID: session.ID, Status: askback.SessionRunning, CreatedAt: nine, UpdatedAt: nine},
	"SessionPage":  askback.SessionPage{}, "Message": askback.Message{
		Role: askback.RoleAssistant, At: nine,
	}, "MessagePage": askback.MessagePage{},
	"Todo":      askback.Todo{Content: "c", Status: askback.TodoCompleted},
	"Grant":     askback.Grant{ID: grant.ID, Scope: askback.ScopeTool, CreatedAt: nine, ExpiresAt: nine},
	"GrantPage": askback.GrantPage{},
	"Token":     askback.Token{ID: token.ID, Kind: askback.Agent, Channel: askback.ChannelAPI, CreatedAt: nine},
	"Person":    askback.Person{Source: askback.SourceToken},
	"Held":      askback.Held{Channel: askback.ChannelWeb, At: nine, SendsAt: nine},
	"Vote":      askback.Vote{Name: "ana", Decision: askback.Approve, At: nine}, "FollowUp": askback.FollowUp{At: nine},
	"HostedAgent": askback.HostedAgent{},
	"Group":       askback.Group{People: []string{}, Source: askback.SourceSettings}, "Route": askback.Route{},
	"Agent": askback.AgentStats{}, "PersonStats": askback.PersonStats{},
	"Stats": askback.Stats{
		Settled: map[askback.Status]int{}, Answers: []askback.PersonStats{}, Agents: []askback.AgentStats{},
	},
	"Event": askback.Event{Type: "snapshot", At: nine, Data: raw(`{"asks": [], "session": null}`)},
}

func holds(t *testing.T, name string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := openapitest.Validate(name, raw); err != nil {
		t.Errorf("%v\n%s", err, raw)
	}
}

func TestEncodedValuesMatchTheirSchemas(t *testing.T) {
	for name, v := range full {
		if unset := unset(v); len(unset) > 0 {
			t.Errorf("the full %s has no value in %v", name, unset)
		}
		holds(t, name, v)
	}
	for name, v := range least {
		holds(t, name, v)
	}
	approval := asked
	approval.Kind, approval.Questions, approval.Confirmation = askback.Confirm, nil, &confirmation
	holds(t, "Ask", approval)
	for _, q := range approval.Form() { // a confirmation as a question (docs/wire.md §3)
		holds(t, "Question", q)
	}
}

// unset returns the names of the zero fields of a value, except for a few fields that may be zero. So a test
// fails if a new field has no value.
func unset(v any) (out []string) {
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		name := r.Type().Field(i).Name
		if r.Field(i).IsZero() && name != "_" && name != "Repeated" && name != "TraceParent" && name != "Directed" &&
			name != "OthersWaiting" && name != "Confirmation" {
			out = append(out, name)
		}
	}
	return out
}

// Askback never sends zero values of these types, so their schemas do not accept them.
func TestZeroValuesDoNotMatchSchemas(t *testing.T) {
	for name, v := range map[string]any{
		"Ask": askback.Ask{}, "Question": askback.Question{}, "Option": askback.Option{}, "Claim": askback.Claim{},
		"Outcome": askback.Outcome{}, "Actor": askback.Actor{}, "Session": askback.Session{},
		"Message": askback.Message{}, "Todo": askback.Todo{}, "Grant": askback.Grant{}, "Token": askback.Token{},
		"Event": askback.Event{}, "Stats": askback.Stats{},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if openapitest.Validate(name, raw) == nil {
			t.Errorf("a zero %s is accepted: %s", name, raw)
		}
	}
}

// The schema does not accept an ask whose fields contradict each other, or an ask with an invalid field.
func TestInvalidAskDoesNotMatchSchema(t *testing.T) {
	for name, change := range map[string]func(*askback.Ask){
		"settled without an outcome":    func(a *askback.Ask) { a.Outcome = nil },
		"pending with an outcome":       func(a *askback.Ask) { a.Status = askback.Pending },
		"questions with a confirmation": func(a *askback.Ask) { a.Confirmation = &confirmation },
		"a confirmation with questions": func(a *askback.Ask) {
			a.Kind, a.Confirmation = askback.Confirm, &confirmation
		},
		"a confirmation without one": func(a *askback.Ask) { a.Kind, a.Questions = askback.Confirm, nil },
		"questions without any":      func(a *askback.Ask) { a.Questions = nil },
		"a status that no ask has":   func(a *askback.Ask) { a.Status = askback.AnyStatus },
		"five questions": func(a *askback.Ask) {
			a.Questions = []askback.Question{single, single, single, single, single}
		},
		"an outcome without an actor": func(a *askback.Ask) {
			o := outcome
			o.Actor = askback.Actor{}
			a.Outcome = &o
		},
		"an invalid digest":                 func(a *askback.Ask) { o := outcome; o.Digest = "md5:0"; a.Outcome = &o },
		"an id of something else":           func(a *askback.Ask) { a.ID = a.SessionID },
		"a context that is neither of both": func(a *askback.Ask) { a.Context = raw("[]") },
	} {
		bad := asked.Clone()
		change(&bad)
		raw, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		if openapitest.Validate("Ask", raw) == nil {
			t.Errorf("an ask with %s is accepted", name)
		}
	}
}

// The golden files of the root package match their schemas, once fillBlanks has added the required values
// that some of the files lack.
func TestGoldenFilesMatchTheirSchemas(t *testing.T) {
	for pattern, name := range map[string]string{
		"ask_*": "Ask", "outcome_*": "Outcome", "page*": "AskPage", "problems": "FieldProblem",
	} {
		files, err := filepath.Glob("../../../testdata/" + pattern + ".json")
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			checkSample(t, file, name)
		}
	}
}

func checkSample(t *testing.T, file, name string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	bare := false
	for _, one := range list {
		walk("", one, func(_ string, v map[string]any) { bare = fillBlanks(v) || bare })
		holds(t, name, one)
	}
	if bare && openapitest.Validate(name, text) == nil {
		t.Errorf("%s is accepted without required fields", file)
	}
}

// fillBlanks adds the required values that an object of a golden file lacks. It reports whether it added a
// value.
func fillBlanks(v map[string]any) (bare bool) {
	fill := func(field string, lacks, word any) {
		if is, ok := v[field]; ok && is == lacks {
			v[field], bare = word, true
		}
	}
	status := "pending"
	if _, outcome := v["default_applied"]; outcome {
		status = "expired"
	}
	fill("status", "", status)
	fill("id", "", asked.ID)
	fill("session_id", "", asked.SessionID)
	fill("kind", "", "policy")
	fill("on_timeout", "", "wait")
	fill("digest", "", digest)
	fill("quorum", 0.0, 1)
	fill("created_at", nil, "2026-01-02T09:00:00.000Z")
	fill("at", nil, "2026-01-02T09:00:00.000Z")
	if list, ask := v["questions"].([]any); ask && len(list) == 0 && v["confirmation"] == nil {
		v["kind"], v["questions"], bare = "questions", []any{question}, true
	}
	return bare
}

// The results of an engine match their schemas: asks, sessions, grants, tokens, statistics and events
// (docs/wire.md §4). The replies in the formats of other programs match their schemas, too.
func TestEngineResultsMatchTheirSchemas(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	e := engine.New(memstore.New(), &engine.Options{Settings: engine.Settings{Undo: limits.MaxUndo}})
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot", Channel: askback.ChannelAPI})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	root := e.As(askback.Principal{Kind: askback.Admin, Name: "eve", Channel: askback.ChannelTerminal})
	begin := must(next(ana.Events(ctx, "", "")))(t)
	holds(t, "Event", begin)
	s := must(bot.Start(ctx, askback.SessionRequest{Key: "run", Metadata: raw(`{"a": 1}`)}))(t)
	first := must(bot.Ask(ctx, askback.Request{
		SessionID: s.ID, Questions: []askback.Question{{Text: "Which?", Options: askback.Options("A", "B")}},
	}))(t)
	holds(t, "Ask", must(ana.Claim(ctx, first.ID))(t))
	holds(t, "Ask", must(ana.Answer(ctx, first.ID, askback.Choose("A")))(t))
	holds(t, "Ask", must(bot.Ack(ctx, first.ID))(t))
	if _, err := root.Answer(ctx, first.ID, askback.Choose("B")); err == nil {
		t.Error("a late answer counts")
	}
	call := askback.Request{
		SessionID: s.ID, Confirmation: &askback.Confirmation{ToolName: "rm", Input: raw(`{"a": 1}`)},
	}
	for range 2 { // the grant answers the second ask
		approved := must(bot.Ask(ctx, call))(t)
		if !approved.Settled() {
			approved = must(ana.Answer(ctx, approved.ID, askback.Decide(askback.ApproveAll, "")))(t)
		}
		holds(t, "Ask", must(bot.Consume(ctx, approved.ID, approved.Outcome.Digest))(t))
	}
	now := askback.Request{SessionID: s.ID, Key: "now", Questions: []askback.Question{{Text: "Now?"}}}
	held := must(bot.Ask(ctx, now))(t)
	now.Restarted = true
	must(bot.Ask(ctx, now))(t)
	holds(t, "Ask", must(ana.Hold(ctx, held.ID, askback.Choose("yes")))(t))
	holds(t, "Ask", must(ana.Undo(ctx, held.ID))(t))
	must(ana.Decline(ctx, held.ID, ""))(t)
	declined := must(bot.Ask(ctx, askback.Request{SessionID: s.ID, Questions: []askback.Question{{Text: "Why?"}}}))(t)
	holds(t, "Ask", must(ana.Decline(ctx, declined.ID, "no"))(t))
	grants := must(ana.Grants(ctx, askback.GrantQuery{}))(t)
	holds(t, "GrantPage", grants)
	holds(t, "Grant", must(ana.Revoke(ctx, grants.Items[0].ID))(t))
	for _, tell := range []askback.Command{
		askback.SetTodos{Todos: session.Todos},
		askback.Report{Text: "hi", Final: true},
		askback.EndTurn{Reason: "r"},
		askback.ResumeSession{Message: "go"},
		askback.Complete{Result: raw(`{"a": 1}`)},
	} {
		holds(t, "Session", must(bot.Send(ctx, s.ID, tell))(t))
	}
	holds(t, "MessagePage", must(ana.Messages(ctx, s.ID, "", 0))(t))
	holds(t, "SessionPage", must(ana.Sessions(ctx, askback.SessionQuery{}))(t))
	holds(t, "AskPage", must(ana.List(ctx, askback.Query{Status: askback.AnyStatus}))(t))
	numbers := must(ana.Stats(ctx))(t)
	numbers.Agents = append([]askback.AgentStats{}, numbers.Agents...) // frontends write [] for an empty list
	holds(t, "Stats", numbers)
	minted, secret, err := root.CreateToken(ctx,
		askback.TokenRequest{Kind: askback.Responder, Name: "ben", ExpiresIn: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "CreatedToken", map[string]any{"token": minted, "secret": secret})
	follow(t, ana.Events(ctx, "", begin.Cursor))
	inDialects(t, must(ana.List(ctx, askback.Query{Status: askback.AnyStatus}))(t).Items)
}

// next returns the first event of a stream.
func next(events iter.Seq2[askback.Event, error]) (askback.Event, error) {
	for ev, err := range events {
		return ev, err
	}
	return askback.Event{}, nil
}

// follow checks every event of a session against its schema. It reports types of events
// that are missing.
func follow(t *testing.T, events iter.Seq2[askback.Event, error]) {
	t.Helper()
	missing := []string{
		"session_started", "state_change", "message", "todos_changed", "session_completed", "question_pending",
		"question_claimed", "question_repeated", "question_answered", "question_declined", "question_consumed",
		"answer_acked", "answer_refused", "answer_held", "answer_undone", "grant_made", "grant_used", "grant_revoked",
	}
	for ev, err := range events {
		if err != nil {
			t.Fatalf("%v; these never came: %v", err, missing)
		}
		holds(t, "Event", ev)
		missing = slices.DeleteFunc(missing, func(typ string) bool { return typ == string(ev.Type) })
		if len(missing) == 0 {
			return
		}
	}
}

// inDialects checks the replies in the formats of other programs (B4, C1).
func inDialects(t *testing.T, asks []askback.Ask) {
	t.Helper()
	rows, err := compat.QuestionRows(asks)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "AgentQuestions", rows)
	holds(t, "PendingQuestion", compat.PendingReply(asks))
	holds(t, "PendingQuestion", compat.PendingReply(nil))
	holds(t, "SessionReply", compat.SubmittedReply())
	holds(t, "SessionReply", compat.RejectedReply(askback.ErrSettled, asks[0]))
	holds(t, "SessionReply", compat.RejectedReply(compat.SeveralOpenError{asks[0].ID}, asks[0]))
	holds(t, "AgentReply", compat.ResumedReply(asks[0].SessionID))
	late, err := compat.LateReply(asks[0], false)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "AgentReply", late)
	for _, status := range []string{"running", "waiting_for_input", "completed", "failed", "cancelled"} {
		row, err := compat.SessionRow(
			askback.Session{ID: asks[0].SessionID, Status: askback.SessionStatus(status), CreatedAt: nine}, "done",
		)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "AgentSession", row)
	}
}

// must returns a function that returns v. If err is not nil, the function fails the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
