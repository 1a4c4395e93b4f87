package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/view"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func of(q askback.Question) view.Question {
	return view.Of(askback.Ask{Questions: []askback.Question{q}}).Questions[0]
}

// The keys are numbers. If a label is a number, the keys are letters. If a label is also a letter, the keys
// are numbers after one or more #. No key equals a label (docs/wire.md §9).
func TestKeysAreNotLabels(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{[]string{"A", "B"}, "1-3"},
		{[]string{"8080", "3000"}, "a-c"},
		{[]string{"2026-01-31", "later"}, "a-c"},
		{[]string{"1,000", "more"}, "a-c"},
		{[]string{"2 cores", "4 cores"}, "1-3"},
		{[]string{"1", "a"}, "#1-#3"},
		{[]string{"1", "Z"}, "#1-#3"},
		{[]string{"1", "a", "#2"}, "##1-##4"},
		{[]string{" 7 ", "x y"}, "a-c"},
	} {
		q := of(askback.Question{ID: "q1", Options: askback.Options(c.labels...)})
		if got := q.Keys(); got != c.want {
			t.Errorf("%q: got keys %s, want %s", c.labels, got, c.want)
		}
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprint(i))
	}
	if got, want := of(askback.Question{Options: askback.Options(many...)}).Keys(), "a-ay"; got != want {
		t.Errorf("fifty numbers: got keys %s, want %s", got, want)
	}
}

func TestMatchReturnsTheChoicesForAnInput(t *testing.T) {
	words := askback.Question{Options: askback.Options("Yes", "No, never", "yes", "a\tb", "a b", "Kiel")}
	numbers := askback.Question{Options: askback.Options("2", "1", "ten")}
	hidden := askback.Question{Options: askback.Options("pay\u202eal", "other"), NoOther: true}
	for _, c := range []struct {
		name  string
		q     askback.Question
		typed string
		want  []int
	}{
		{"a label", words, "No, never", []int{1}},
		{"a label in its own capitals", words, "yes", []int{2}},
		{"a label in other capitals", words, "kiel", []int{5}},
		{"in other capitals it may be two", words, "YES", []int{0, 2}},
		{"spaces around it", words, "  Kiel ", []int{5}},
		{"a label that looks like another", words, "a b", []int{4}},
		{"a key", words, "4", []int{3}},
		{"the key of Other", words, "7", []int{6}},
		{"the word Other", words, "Other…", []int{6}},
		{"a label before a key", numbers, "1", []int{1}},
		{"a letter", numbers, "A", []int{0}},
		{"a label as it is drawn", hidden, "pay⟨U+202E⟩al", []int{0}},
		{"Other as a label", hidden, "Other", []int{1}},
		{"nothing", words, "Bonn", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, of(c.q).Match(c.typed)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An answer has each label once, exactly as the agent sent it, with its hidden characters. Defaults that are
// not options become free text.
func TestPickReturnsOriginalLabels(t *testing.T) {
	q := of(askback.Question{
		ID: "q1", Text: "Which?", MultiSelect: true, Options: askback.Options("a\u200bb", "c"),
		Default: []string{"c", "and d", "e"},
	})
	got := q.Pick([]int{1, 0, 1}, "mine")
	want := askback.QuestionAnswer{ID: "q1", Question: "Which?", Selected: []string{"c", "a\u200bb"}, Other: "mine"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	want = askback.QuestionAnswer{ID: "q1", Question: "Which?", Selected: []string{"c"}, Other: "and d, e"}
	if diff := cmp.Diff(want, q.DefaultAnswer()); diff != "" {
		t.Error(diff)
	}
	if q.Choices[0].Default || !q.Choices[1].Default || q.DefaultText.String() != "and d, e" {
		t.Errorf("got defaults %v, %v, %q", q.Choices[0].Default, q.Choices[1].Default, q.DefaultText)
	}
}

// The sentence describes who settled the ask, how, and through which channel. It never describes a timer as a
// person (F4).
func TestOutcomeNamesTheActor(t *testing.T) {
	ana := askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
	timer := askback.Actor{Kind: askback.ActorTimer}
	for want, o := range map[string]askback.Outcome{
		"answered by ana in the terminal": {
			Status: askback.Answered, Actor: ana, Channel: askback.ChannelTerminal,
		},
		"answered by ana in the browser": {
			Status: askback.Answered, Actor: ana, Channel: askback.ChannelWeb,
		},
		"approved by ana in Slack": {
			Status: askback.Answered, Decision: askback.Approve, Actor: ana, Channel: askback.ChannelSlack,
		},
		"approved by ana in Telegram": {
			Status: askback.Answered, Decision: askback.Approve, Actor: ana, Channel: askback.ChannelTelegram,
		},
		"denied by ana by e-mail": {
			Status: askback.Answered, Decision: askback.Deny, Actor: ana, Channel: askback.ChannelEmail,
		},
		"approved, also for later calls, by ana over the API": {
			Status: askback.Answered, Decision: askback.ApproveAll, Actor: ana, Channel: askback.ChannelAPI,
		},
		"approved, also for 1 call that waited and for later calls, by ana over the API": {
			Status: askback.Answered, Decision: askback.ApproveAll, Waiting: 1, Actor: ana, Channel: askback.ChannelAPI,
		},
		"approved by policy grt_1": {Status: askback.Answered, Decision: askback.Approve, Actor: askback.Actor{
			Kind: askback.ActorPolicy, Name: "grt_1",
		}},
		"declined by ana from a notification": {
			Status: askback.Declined, Actor: ana, Channel: askback.ChannelPush,
		},
		"cancelled by operator joe over MCP": {
			Status: askback.Cancelled, Actor: askback.Actor{Kind: askback.ActorOperator, Name: "joe"},
			Channel: askback.ChannelMCP,
		},
		"withdrawn by the agent": {
			Status: askback.Cancelled, Actor: askback.Actor{Kind: askback.ActorAgent, Name: "bot"},
			Channel: askback.ChannelAPI,
		},
		"expired without an answer; the default answer was used": {
			Status: askback.Expired, Defaulted: true, Actor: timer,
		},
		"cancelled when its session ended": {
			Status: askback.Cancelled, Reason: "no one answered ask_1 in time", Actor: timer,
		},
		"expired without an answer": {Status: askback.Expired, Actor: timer},
		"answered by a⟨U+202E⟩b through a hook": {
			Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "a\u202eb"},
			Channel: askback.ChannelHook,
		},
	} {
		v := view.Of(askback.Ask{Outcome: &o})
		if got := v.Outcome.Sentence.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := v.Status(); got != v.Outcome.Sentence {
			t.Errorf("its status is %q", got)
		}
		if got, want := v.Outcome.ByTimer, o.Actor.Kind == askback.ActorTimer &&
			o.Status == askback.Expired; got != want {
			t.Errorf("%s: by a timer: got %v, want %v", v.Outcome.Sentence, got, want)
		}
	}
}

// The notice has the time of the deadline and its effect (F5).
func TestTimeoutNoticeDescribesTheDeadline(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for means, want := range map[askback.OnTimeout]string{
		askback.OnTimeoutFail:    "the ask expires, and the agent's session fails.",
		askback.OnTimeoutDefault: "the default answers are used.",
		askback.OnTimeoutDecline: "the agent continues without an answer.",
		askback.OnTimeoutWait:    "it keeps waiting.",
	} {
		a := askback.Ask{Deadline: noon, OnTimeout: means}
		want = "If no one answers by 2 March 2026, 13:00 CET, " + want
		if got := view.Of(a).TimeoutNotice(berlin); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		a.Outcome = &askback.Outcome{}
		if got := view.Of(a).TimeoutNotice(berlin); got != "" {
			t.Errorf("settled: got %q, want nothing", got)
		}
	}
	if got := view.Of(askback.Ask{}).TimeoutNotice(nil); got != "" {
		t.Errorf("no deadline: got %q, want nothing", got)
	}
}

func TestStatusNamesPeopleWithClaims(t *testing.T) {
	claims := []askback.Claim{{Name: "ana"}, {Name: "ben"}, {Name: "cem"}}
	for n, want := range []string{
		"waiting for an answer",
		"waiting for an answer; ana is looking at it",
		"waiting for an answer; ana and ben are looking at it",
		"waiting for an answer; ana, ben and cem are looking at it",
	} {
		if got := view.Of(askback.Ask{Claims: claims[:n]}).Status().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An agent chooses its label. If the name of its token differs, the name is shown, too.
func TestFromNamesTheToken(t *testing.T) {
	for _, c := range []struct{ agent, owner, want string }{
		{"deploy-bot", "mallory", "deploy-bot (token mallory)"},
		{"deploy-bot", "deploy-bot", "deploy-bot"},
		{"deploy-bot", "", "deploy-bot"},
	} {
		if got := view.Of(askback.Ask{Agent: c.agent, Owner: c.owner}).From().String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A hidden character in any text that the agent sends sets Hidden (T9).
func TestHiddenCharactersAreReported(t *testing.T) {
	const trick = "a\u200bb"
	quoted, _ := json.Marshal(trick)
	question := func(q askback.Question) askback.Ask { return askback.Ask{Questions: []askback.Question{q}} }
	call := func(c askback.Confirmation) askback.Ask { return askback.Ask{Confirmation: &c} }
	for where, a := range map[string]askback.Ask{
		"agent": {Agent: trick}, "path": {Path: []string{trick}}, "to": {To: []string{trick}},
		"tags": {Tags: []string{trick}}, "title": {Title: trick}, "context": {Context: quoted},
		"context object": {Context: []byte(`{"a":"\u200b"}`)},
		"question":       question(askback.Question{Text: trick}),
		"header":         question(askback.Question{Header: trick}),
		"label":          question(askback.Question{Options: []askback.Option{{Label: trick}}}),
		"description":    question(askback.Question{Options: []askback.Option{{Description: trick}}}),
		"preview":        question(askback.Question{Options: []askback.Option{{Preview: trick}}}),
		"default":        question(askback.Question{Default: []string{trick}}),
		"tool":           call(askback.Confirmation{ToolName: trick}),
		"server":         call(askback.Confirmation{Server: trick}),
		"says":           call(askback.Confirmation{Description: trick}),
		"shows":          call(askback.Confirmation{InputPreview: trick}),
		"about":          call(askback.Confirmation{Context: trick}),
		"arguments":      call(askback.Confirmation{Input: []byte(`{"a":"\u200b"}`)}),
	} {
		if !view.Of(a).Hidden {
			t.Errorf("%s: the hidden character was not noticed", where)
		}
	}
	plain := askback.Ask{
		Agent: "bot", Context: []byte(`"tab\tand line\n"`), Questions: []askback.Question{{Text: "سلام 👩‍👩‍👧\n?"}},
	}
	if view.Of(plain).Hidden {
		t.Error("harmless text is reported as hidden")
	}
}

// With the maximum number of options, each option can be picked by a unique key or its label.
func TestOptionKeysAreUnique(t *testing.T) {
	var q askback.Question
	for i := range limits.MaxOptions {
		name := fmt.Sprint(" of option ", i+1)
		q.Options = append(q.Options,
			askback.Option{Label: "label" + name, Description: "words" + name, Preview: "preview" + name})
	}
	q.Default = []string{q.Options[limits.MaxOptions-1].Label}
	v := of(q)
	if len(v.Choices) != len(q.Options) {
		t.Fatalf("got %d choices, want %d", len(v.Choices), len(q.Options))
	}
	for i, o := range q.Options {
		c := v.Choices[i]
		if c.Label.String() != o.Label || c.Preview.String() != o.Preview || c.Default != (i == limits.MaxOptions-1) {
			t.Errorf("choice %d is %q with preview %q, default %t", i+1, c.Label, c.Preview, c.Default)
		}
		for _, typed := range []string{c.Key, o.Label} {
			if d := cmp.Diff([]int{i}, v.Match(typed)); d != "" {
				t.Errorf("%q: %s", typed, d)
			}
		}
		if got := v.Pick([]int{i}, "").Selected; len(got) != 1 || got[0] != o.Label {
			t.Errorf("choice %d is recorded as %q", i+1, got)
		}
	}
	if got, want := v.OtherKey, fmt.Sprint(limits.MaxOptions+1); got != want {
		t.Errorf("the key of Other is %s, want %s", got, want)
	}
}

// A resume context in a title, a question, a context or a description is removed, with a
// warning, unless no other text would be left. The arguments of a call are unchanged.
func TestResumeContextIsNotShown(t *testing.T) {
	const block = "<resume-context>\nsecret\n</resume-context>\n"
	a := askback.Ask{
		ID: "ask_1", Agent: "bot", Kind: askback.Questions, Title: block + "A title",
		Context:   json.RawMessage(`"<resume-context>secret</resume-context>Because"`),
		Questions: []askback.Question{{ID: "q1", Text: block + "Visible?"}},
	}
	v := view.Of(a)
	drawn := v.Title.String() + v.Context.String() + v.Questions[0].Text.String()
	if drawn != "A titleBecauseVisible?" || len(v.Warnings) != 1 {
		t.Errorf("got %q, %v", drawn, v.Warnings)
	}
	a.Questions[0].Text, a.Title, a.Context = "<resume-context>all of it</resume-context>", "<resume-context>open", nil
	v = view.Of(a)
	if got := v.Title.String() + v.Questions[0].Text.String(); got != "<resume-context>open<resume-context>all of "+
		"it</resume-context>" || len(v.Warnings) != 0 {
		t.Errorf("got %q, %v", got, v.Warnings)
	}
	c := view.Of(askback.Ask{ID: "ask_2", Kind: askback.Confirm, Confirmation: &askback.Confirmation{
		ToolName: "say", Description: block + "Say it",
		Input: json.RawMessage(`{"text":"<resume-context>x</resume-context>"}`),
	}}).Confirmation
	if c.Description.String() != "Say it" ||
		!strings.Contains(c.Arguments.String(), "<resume-context>x</resume-context>") {
		t.Errorf("got %q and %q", c.Description, c.Arguments)
	}
}

// Names with letters that look like others have a note wherever they are shown. A call of a tool with such a
// name is not decided from a list (T9).
func TestNamesThatLookLikeOthersGetANote(t *testing.T) {
	a := askback.Ask{
		ID: "ask_1", Kind: askback.Confirm, Agent: "соdex", Owner: "bоt", StartedBy: "аna", To: []string{"аna"},
		Path: []string{"раrent"}, Approvers: []string{"ｂen"},
		Confirmation: &askback.Confirmation{ToolName: "plаin", Server: "ѕ", Input: []byte(`{}`)},
	}
	v := view.Of(a)
	for got, want := range map[view.Text]string{
		v.Agent: "соdex ⟨looks like “codex”⟩", v.Owner: "bоt ⟨looks like “bot”⟩",
		v.StartedBy: "аna ⟨looks like “ana”⟩", v.To[0]: "аna ⟨looks like “ana”⟩",
		v.Path[0]: "раrent ⟨looks like “parent”⟩", v.Approvers[0]: "ｂen ⟨looks like “ben”⟩",
		v.Confirmation.Tool: "plаin ⟨looks like “plain”⟩", v.Confirmation.Server: "ѕ ⟨looks like “s”⟩",
		view.OfToken(askback.Token{Name: "аna"}).Name:       "аna ⟨looks like “ana”⟩",
		view.OfGrant(askback.Grant{ToolName: "plаin"}).Tool: "plаin ⟨looks like “plain”⟩",
	} {
		if got.String() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if v.Together() || view.Brief(a).Quick {
		t.Errorf("got together %v, quick %v", v.Together(), view.Brief(a).Quick)
	}
	a.Confirmation.ToolName, a.Confirmation.Server = "plain", "files"
	if v := view.Of(a); !v.Together() || v.Confirmation.Tool.String() != "plain" {
		t.Errorf("got %+v", v.Confirmation)
	}
}
