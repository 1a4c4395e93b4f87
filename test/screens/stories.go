package main

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// A story is a page of the product in one state.
type story struct {
	group, name string
	path        string // the path of the page in the product, which its script uses
	page        component
}

// slug returns the name of a story in addresses.
func (s story) slug() string {
	return strings.ReplaceAll(strings.ToLower(s.group+" "+s.name), " ", "-")
}

// address returns the address of a story in a theme.
func (s story) address(theme string) string {
	q := url.Values{"story": {s.slug()}}
	if theme != "" {
		q.Set("theme", theme)
	}
	return s.path + "?" + q.Encode()
}

// A book makes the stories of a product.
type book struct {
	*product
	frame   pages.Frame
	inbox   pages.Inbox // the list next to an ask
	stories []story
	err     error // the first error
}

// storiesOf returns the stories. They show the fixtures of the product, and asks in other states.
func storiesOf(p *product, frame pages.Frame) ([]story, error) {
	b := &book{product: p, frame: frame}
	b.frame.Name, b.frame.Page = view.RawText("ana").Text(), "/"
	b.frame.Links = []pages.PageLink{
		{Name: "Inbox", Path: "/", Place: pages.InBar},
		{Name: "History", Path: "/history", Place: pages.InBar},
		{Name: "Sessions", Path: "/sessions", Place: pages.InBar},
		{
			Name: "Standing approvals", Path: "/grants", About: "Calls that run without asking you.",
			Place: pages.InHeader,
		},
		{Name: "Agents", Path: "/agents", About: "Who asks, how often, and how long they wait."},
	}
	for _, a := range b.list(askback.Query{}) {
		b.inbox.Asks = append(b.inbox.Asks, view.Brief(a))
	}
	b.inbox.Sort(frame.Now)
	b.inbox.Snoozes.Until = map[string]time.Time{
		b.ids["mail"]: frame.Now.Add(-10 * time.Minute), b.ids["later"]: frame.Now.Add(14 * time.Hour),
	}
	b.inbox.Snoozes.Count = "1"
	for _, add := range []func(*book){
		inboxStories, rowStories, questionStories, approvalStories, errorStories, settledStories, lateStories,
		decideStories, listStories, runStories, figureStories, tokenStories, deliveryStories, endpointStories,
		linkStories, reassignStories, contactStories, routeStories, peopleStories, messageStories,
	} {
		if add(b); b.err != nil {
			return nil, b.err
		}
	}
	return b.stories, nil
}

func (b *book) add(group, name, path string, page component) {
	b.stories = append(b.stories, story{group, name, path, page})
}

func (b *book) check(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *book) list(q askback.Query) []askback.Ask {
	page, err := b.ana().List(context.Background(), q)
	b.check(err)
	return page.Items
}

// fixture returns the ask of the fixtures with this name.
func (b *book) fixture(name string) askback.Ask { return b.getAsk(b.ids[name]) }

// getAsk returns the ask with this id.
func (b *book) getAsk(id string) askback.Ask {
	a, err := b.ana().Get(context.Background(), id)
	b.check(err)
	return a
}

// ask makes an ask and returns it. The inbox of the book does not contain the ask.
func (b *book) ask(r askback.Request) askback.Ask {
	if r.Agent == "" {
		r.Agent = "release"
	}
	a, err := b.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot", Channel: askback.ChannelAPI}).Ask(
		context.Background(), r,
	)
	b.check(err)
	return a
}

// open adds the page of an open ask, with a change to its form.
func (b *book) open(group, name string, a askback.Ask, fill func(*view.Form)) {
	v, i := view.Of(a), b.inbox
	form := view.NewForm(v)
	if fill != nil {
		fill(&form)
	}
	i.Current = a.ID
	b.add(group, name, askback.PagePath(a.ID), pages.Ask(b.frame, i, v, form))
}

// settle returns an ask with an outcome by ana. change completes the outcome.
func (b *book) settle(a askback.Ask, change func(*askback.Outcome)) askback.Ask {
	o := askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
		Channel: askback.ChannelWeb, At: b.frame.Now.Add(-time.Minute),
	}
	change(&o)
	a.Outcome = &o
	return a
}

// A component is a template with its values.
type component interface {
	Render(ctx context.Context, w io.Writer) error
}

// A fragment is a page around rows of a list.
type fragment struct {
	style string
	rows  []component
}

func (f fragment) Render(ctx context.Context, w io.Writer) error {
	_, err := io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="`+f.style+`"></head><body><section class="list-pane"><ol class="list">`)
	for _, row := range f.rows {
		if err == nil {
			err = row.Render(ctx, w)
		}
	}
	if err == nil {
		_, err = io.WriteString(w, `</ol></section></body></html>`)
	}
	return err
}

// fragment returns a page around rows of a list.
func (b *book) fragment(rows ...component) component { return fragment{b.frame.Style, rows} }

func inboxStories(b *book) {
	i := b.inbox
	b.add("Inbox", "list", "/", pages.List(b.frame, i))
	i.Filter = pages.Filter{Select: "1", Agent: "support", Tag: "prod"}
	b.add("Inbox", "selecting and filtered", "/", pages.List(b.frame, i))
	i.Filter = pages.Filter{Order: "urgent", Group: "agent"}
	i.Asks = slices.Clone(i.Asks)
	i.Sort(b.frame.Now)
	b.add("Inbox", "grouped", "/", pages.List(b.frame, i))
	b.add("Inbox", "empty", "/", pages.List(b.frame, pages.Inbox{}))
	b.add("Inbox", "nothing matches", "/", pages.List(b.frame, pages.Inbox{Filter: pages.Filter{Search: "harbour"}}))
	b.add("Inbox", "nothing on this page", "/", pages.List(b.frame, pages.Inbox{Next: "next"}))
	done := b.inbox
	done.Done = &pages.Done{Path: "/", Sentence: "Answered", Detail: view.RawText("PostgreSQL").Text()}
	b.add("Inbox", "answered just now", "/", pages.List(b.frame, done))
}

func rowStories(b *book) {
	claimed := b.fixture("form")
	claimed.Claims = append(claimed.Claims, askback.Claim{Name: "ben", At: b.frame.Now})
	soon := b.fixture("short")
	soon.Deadline, soon.Tags = b.frame.Now.Add(5*time.Minute), []string{"prod", "a tag with many words in it"}
	long := b.ask(askback.Request{Agent: strings.Repeat("long-name-", 12), Questions: []askback.Question{
		{Text: strings.Repeat("A question that goes on and on. ", 20)},
	}})
	hidden := b.ask(askback.Request{Agent: "עוזר", Questions: []askback.Question{{Text: "האם להמשיך? \u202etxt.exe"}}})
	settled := b.settle(b.fixture("database"), func(o *askback.Outcome) {
		o.Answers = []askback.QuestionAnswer{{ID: "q1", Selected: []string{"SQLite"}}}
	})
	var rows []component
	for _, a := range append(b.list(askback.Query{}), claimed, soon, long, hidden, settled) {
		rows = append(rows, pages.Row(b.frame, b.inbox, view.Brief(a)))
	}
	b.add("Rows", "all states", "/", b.fragment(rows...))
	current := b.inbox
	current.Current = b.ids["mail"]
	b.add("Rows", "open", "/", b.fragment(pages.Row(b.frame, current, view.Brief(b.fixture("mail")))))
	b.add("Rows", "of a later page", "/rows", b.fragment(pages.MoreRows(b.frame, b.inbox)))
	b.add("Rows", "new in the live list", "/", b.fragment(
		pages.RowChange(b.frame, b.inbox, view.Brief(b.fixture("short")), true),
		pages.RowChange(b.frame, b.inbox, view.Brief(claimed), false), pages.SnoozeCount(b.inbox)))
}

func questionStories(b *book) {
	b.open("Questions", "with previews", b.fixture("database"), nil)
	b.open("Questions", "one choice", b.fixture("short"), nil)
	b.open("Questions", "several", b.fixture("form"), nil)
	b.open("Questions", "free text", b.ask(askback.Request{
		Questions: []askback.Question{{Text: "What should the release be called?", Default: []string{"Harbour"}}},
	}), nil)
	b.open("Questions", "any number", b.ask(askback.Request{Questions: []askback.Question{
		{Text: "Which channels?", MultiSelect: true, Options: askback.Options("Slack", "E-mail", "Webhook")},
	}}), nil)
	b.open("Questions", "markdown and warnings", b.ask(askback.Request{
		Title: "Import", Context: json.RawMessage(
			`"# Results\n\n- **12** orders fail\n- see [the log](https://example.com/log)\n\n` + "```" +
				`\nselect 1;\n` + "```" + `"`,
		),
		Warnings: []askback.Problem{
			{Pointer: "/questions/0", Detail: "an option appeared twice", Fix: "it was removed"},
		},
		Questions: []askback.Question{{Text: "Go on?", Options: askback.Options("Yes", "No"), Optional: true}},
	}), nil)
	b.open("Questions", "draft restored", b.fixture("short"), func(f *view.Form) {
		f.Restored, f.Entries[0].Other, f.Entries[0].OtherPicked = true, "On Monday, after the review.", true
	})
	b.open("Questions", "snoozed", b.fixture("later"), nil)
}

func approvalStories(b *book) {
	b.open("Approvals", "plain", b.fixture("mail"), nil)
	b.open("Approvals", "short", b.fixture("label"), nil)
	b.open("Approvals", "dangerous", b.fixture("migrate"), nil)
	b.open("Approvals", "replaces text", b.ask(askback.Request{Agent: "claude", Confirmation: &askback.Confirmation{
		ToolName: "Edit", Input: json.RawMessage(`{"file_path":"/src/billing/rate.go","old_string":"const rate = 19\n\nfunc gross(net int) int {","new_string":"const rate = 21\n\nfunc gross(net int) int {"}`),
	}}), nil)
	b.open("Approvals", "hidden characters", b.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "Bash", NoEdit: true,
		Input:       json.RawMessage(`{"command":"ls \u202e# fr- mr` + strings.Repeat(" ", 200) + `; rm -rf /srv"}`),
		Description: "Lists the files.",
	}}), nil)
	b.open("Approvals", "edited", b.fixture("label"),
		func(f *view.Form) { f.Input = "{\n  \"label\": \"refund\",\n  \"ticket\": 4711\n}" })
	b.open("Approvals", "always allow", b.fixture("label"), func(f *view.Form) { f.Scope = askback.ScopeTool })
}

func errorStories(b *book) {
	b.open("Errors", "questions", b.fixture("form"), func(f *view.Form) {
		f.Entries[0].Picks = []int{1}
		f.AddProblem("q2", "Please choose an answer, or write your own.")
		f.AddProblem("q3-other", "20001 characters are too many; at most 20000 are allowed.")
	})
	b.open("Errors", "dangerous call without the word", b.fixture("migrate"), func(f *view.Form) {
		f.Decision = askback.Approve
		f.AddProblem("word", "Type "+pages.ApprovalWord+" to approve this call, or deny it.")
	})
	b.open("Errors", "arguments", b.fixture("label"), func(f *view.Form) {
		f.Input = "{\n  \"label\": \n}"
		f.AddProblem("input", "Line 3, column 1: a value is missing.")
	})
	b.open("Errors", "not saved", b.fixture("short"), func(f *view.Form) {
		f.Entries[0].Picks = []int{0}
		f.AddProblem("", "The server could not save your answer. Send it again in a moment.")
	})
}

// outcomes lists the ways in which an ask can end, keyed by the name of the story. Each way has the name of a
// fixture.
var outcomes = []struct {
	name, ask string
	change    func(*askback.Outcome)
}{
	{"answered", "short", func(o *askback.Outcome) {
		o.Answers = []askback.QuestionAnswer{
			{ID: "q1", Question: "Ship the blog post today?", Selected: []string{"Today"}, Notes: "Before noon."},
		}
		o.Comment = "Tell the team first."
	}},
	{"declined", "form", func(o *askback.Outcome) {
		o.Status, o.Reason = askback.Declined, "Ask the release manager."
	}},
	{"withdrawn", "short", func(o *askback.Outcome) {
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "writer"}
	}},
	{"expired", "migrate", func(o *askback.Outcome) {
		o.Status, o.Actor, o.Channel = askback.Expired, askback.Actor{Kind: askback.ActorTimer}, ""
	}},
	{"defaults applied", "database", func(o *askback.Outcome) {
		o.Status, o.Actor, o.Channel, o.Defaulted = askback.Expired, askback.Actor{Kind: askback.ActorTimer}, "", true
		o.Answers = []askback.QuestionAnswer{{
			ID: "q1", Question: "Which database should the new billing service use?", Selected: []string{"PostgreSQL"},
		}}
	}},
	{"approved", "mail", func(o *askback.Outcome) { o.Decision = askback.Approve }},
	{"approved as edited", "label", func(o *askback.Outcome) {
		o.Decision, o.Input = askback.Approve, json.RawMessage(`{"label":"refund","ticket":4711}`)
	}},
	{"approved by a standing approval", "label", func(o *askback.Outcome) {
		o.Decision, o.Actor.Kind, o.GrantID = askback.Approve, askback.ActorPolicy, "grt_01jzzzzzzzzzzzzzzzzzzzzzzz"
	}},
	{"denied", "migrate", func(o *askback.Outcome) { o.Decision, o.Reason = askback.Deny, "Not on a Monday." }},
}

func settledStories(b *book) {
	for _, x := range outcomes {
		a := b.settle(b.fixture(x.ask), x.change)
		i := b.inbox
		i.Current = a.ID
		b.add("Settled", x.name, askback.PagePath(a.ID), pages.Settled(b.frame, i, view.Of(a)))
	}
}

func lateStories(b *book) {
	for _, name := range []string{"ben", "ana"} {
		a := b.settle(b.fixture("short"), func(o *askback.Outcome) {
			o.Actor.Name = name
			o.Answers = []askback.QuestionAnswer{
				{ID: "q1", Question: "Ship the blog post today?", Selected: []string{"Today"}},
			}
		})
		v, i := view.Of(a), b.inbox
		form := view.NewForm(v)
		form.Entries[0].Picks, form.Comment = []int{1}, "After the review."
		i.Current = a.ID
		title := map[string]string{"ben": "after another person", "ana": "after the same person"}[name]
		b.add("Late answers", title, askback.PagePath(a.ID),
			pages.Conflict(b.frame, i, v, view.ConflictOf(*a.Outcome, "ana"), form))
	}
}

func decideStories(b *book) {
	var d pages.Decide
	for _, name := range []string{"mail", "label", "migrate", "short", "settled"} {
		d.Add(view.Of(b.fixture(name)))
	}
	d.Missing, d.More = 1, true
	b.add("Decide", "several calls", pages.DecidePath, pages.DecidePage(b.frame, d))
	b.add("Decide", "nothing to decide", pages.DecidePath, pages.DecidePage(b.frame, pages.Decide{}))
	approved := view.Of(b.settle(b.fixture("label"), func(o *askback.Outcome) { o.Decision = askback.Approve }))
	b.add("Decide", "decided", pages.DecidePath, pages.DecidedPage(b.frame,
		pages.Decided{Approve: true, Results: []pages.DecideResult{{Ask: approved, Done: true}}}))
	denied := view.Of(b.settle(b.fixture("mail"),
		func(o *askback.Outcome) { o.Decision, o.Actor.Name = askback.Deny, "ben" }))
	b.add("Decide", "decided in part",
		pages.DecidePath, pages.DecidedPage(b.frame, pages.Decided{Approve: true, Results: []pages.DecideResult{
			{Ask: approved, Done: true},
			{Ask: denied, Why: "It was settled before.", By: denied.Outcome.Sentence},
			{Ask: view.Of(b.fixture("migrate")), Why: "This call must be decided on its own page. Open it there."},
		}}))
}
