package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// The page shows header, full text, choices with descriptions and previews, Other, and notes (A6, C1).
func TestPageShowsTheWholeQuestion(t *testing.T) {
	h := newServer(t)
	page := h.browser("ana").open("/asks/"+h.ask(single).ID, http.StatusOK)
	q := page.one(t, "fieldset#q1")
	for selector, want := range map[string]string{
		"legend .question-text":     "Which database should we use?",
		"legend bdi.tag":            "Database",
		".preview pre":              "postgres://db/askback",
		".other-choice label .name": "Other",
		"label[for=q1-notes]":       "A note on your answer",
	} {
		if got := q.one(t, selector).visibleText(); got != want {
			t.Errorf("%s is %q, want %q", selector, got, want)
		}
	}
	var got []string
	for _, c := range q.all(".from-agent label") {
		got = append(got, c.visibleText())
	}
	want := []string{
		"PostgreSQL suggested by the agent A server of its own.", "SQLite One file beside the program.",
		"None Keep everything in memory.",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(q.all("input[type=radio][name=q1]")); n != 4 {
		t.Errorf("%d radio buttons, want 4", n)
	}
	if got := page.one(t, ".ask-header .agent").visibleText(); got != "deploy-bot" {
		t.Errorf("asked by %q", got)
	}
}

// A default is only a suggestion: a person must choose it. No field has the focus.
func TestNoOptionIsPreselected(t *testing.T) {
	h := newServer(t)
	for _, r := range []askback.Request{single, multi, free, form, call} {
		page := h.browser("ana").open("/asks/"+h.ask(r).ID, http.StatusOK)
		for _, n := range append(page.all("[checked]"), page.all("[autofocus]")...) {
			if !n.inside(".standing-approval") { // on the page of a confirmation, the narrowest scope is preselected
				t.Errorf("%v is chosen or focused", n.attr)
			}
		}
	}
}

// The cases have every kind of question (A6, C1, F4).
func TestFormIsSentAsAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		ask  askback.Request
		form string
		want []askback.QuestionAnswer
	}{
		"single":           {single, "q1=1", []askback.QuestionAnswer{{Selected: []string{"SQLite"}}}},
		"label None":       {single, "q1=2", []askback.QuestionAnswer{{Selected: []string{"None"}}}},
		"Other":            {single, "q1=own&q1-other=MariaDB", []askback.QuestionAnswer{{Other: "MariaDB"}}},
		"Other, by typing": {single, "q1-other=MariaDB", []askback.QuestionAnswer{{Other: "MariaDB"}}},
		"notes": {single, "q1=0&q1-notes=two%0D%0Alines", []askback.QuestionAnswer{
			{Selected: []string{"PostgreSQL"}, Notes: "two\nlines"},
		}},
		"multi": {multi, "q1=0&q1=2", []askback.QuestionAnswer{{Selected: []string{"Slack", "Webhook"}}}},
		"multi and Other": {
			multi, "q1=1&q1-other=fax", []askback.QuestionAnswer{{Selected: []string{"E-mail"}, Other: "fax"}},
		},
		"free text": {free, "q1-other=Anna", []askback.QuestionAnswer{{Other: "Anna"}}},
		"several": {form, "q1=0&q2=2&q3-other=no&q4=1", []askback.QuestionAnswer{
			{Selected: []string{"PostgreSQL"}},
			{Selected: []string{"Webhook"}},
			{Other: "no"},
			{Selected: []string{"Later"}},
		}},
		"several, optional ones left out": {form, "q1=0&q2=2&q4=none", []askback.QuestionAnswer{
			{Selected: []string{"PostgreSQL"}}, {Selected: []string{"Webhook"}}, {}, {},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newServer(t)
			a := h.ask(c.ask)
			values, _ := url.ParseQuery(c.form + "&action=answer&comment=fine")
			got := h.browser("ana").settle(a, values)
			for i := range c.want {
				c.want[i].ID, c.want[i].Question = a.Questions[i].ID, a.Questions[i].Text
			}
			want := &askback.Outcome{
				Status: askback.Answered, Answers: c.want, Comment: "fine",
				Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelWeb, At: evening,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The buttons approve, deny and decline (C3, D1).
func TestDecisionFormSettlesTheAsk(t *testing.T) {
	for action, want := range map[string]askback.Outcome{
		"approve": {Status: askback.Answered, Decision: askback.Approve},
		"deny":    {Status: askback.Answered, Decision: askback.Deny},
		"decline": {Status: askback.Declined},
	} {
		for _, r := range []askback.Request{call, harmless} {
			h := newServer(t)
			a := h.ask(r)
			o := h.browser("ana").settle(a, url.Values{"action": {action}, "reason": {"because"}})
			if o.Status != want.Status || o.Decision != want.Decision || o.Reason != "because" ||
				o.Channel != askback.ChannelWeb {
				t.Errorf("%s gave %+v", action, o)
			}
		}
	}
}

// If the agent cannot run edited arguments, the page has no field for the arguments, and a form with
// arguments is rejected.
func TestNoEditHidesTheArgumentsField(t *testing.T) {
	h := newServer(t)
	fixed := *harmless.Confirmation
	fixed.NoEdit = true
	a := h.ask(askback.Request{Confirmation: &fixed})
	c := h.browser("ana")
	page := c.open("/asks/"+a.ID, http.StatusOK)
	if n := len(page.all("#input")); n != 0 ||
		!strings.Contains(page.one(t, "#detail").visibleText(), "This agent cannot run edited arguments") {
		t.Errorf("the page has %d fields for arguments", n)
	}
	c.send("/asks/"+a.ID, url.Values{"action": {"approve"}, "input": {`{"to":"eve"}`}}, http.StatusUnprocessableEntity)
	if got := h.get(a.ID); got.Settled() {
		t.Errorf("got %+v, want it open", got.Outcome)
	}
	c.send("/asks/"+a.ID, url.Values{"action": {"approve"}}, http.StatusSeeOther)
	if got := h.get(a.ID); !got.Outcome.Approved() {
		t.Errorf("got %+v, want it approved as it is", got.Outcome)
	}
}

func TestQuestionsCanBeDeclined(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	o := h.browser("ana").settle(a, url.Values{"action": {"decline"}, "reason": {"not mine"}, "q1": {"0"}})
	if o.Status != askback.Declined || o.Reason != "not mine" || len(o.Answers) != 0 {
		t.Errorf("got %+v", o)
	}
}

// Tool, server and exact arguments come first, and the agent's text is below. Approve is never the first
// button of a form, so the Enter key does not approve (T3).
func TestConfirmationShowsTheCallFirst(t *testing.T) {
	h := newServer(t)
	r := call
	r.Title, r.Context = "Routine", json.RawMessage(`{"why":"cleaning"}`)
	page := h.browser("ana").open("/asks/"+h.ask(r).ID, http.StatusOK)
	all := page.one(t, "#detail").visibleText()
	at := -1
	for _, part := range []string{
		"Dangerous: approval needed", "db.migrate", "warehouse", "Marked as dangerous", "Exact arguments",
		"database prod", "drop table orders", "As JSON", `"database": "prod"`, "The agent's own words", "Routine",
		"Approves exactly these arguments",
	} {
		next := strings.Index(all, part)
		if next <= at {
			t.Errorf("%q is at %d, want behind %d, in %s", part, next, at, all)
		}
		at = next
	}
	for _, s := range []string{"A harmless little change.", "Nothing to see here.", `"why": "cleaning"`} {
		if i := strings.Index(all, s); i < strings.Index(all, "The agent's own words") {
			t.Errorf("%q is at %d, above the arguments", s, i)
		}
	}
	want := "{\n  \"database\": \"prod\",\n  \"sql\": \"drop table orders;\\n\n    vacuum\"\n}"
	if got := page.one(t, ".call pre.code").raw(); got != want {
		t.Errorf("the arguments are\n%s\nwant\n%s", got, want)
	}
	buttons := page.all("form.ask button")
	if got := buttons[0].attr["value"]; got != "stay" || !has(buttons[0], "hidden") {
		t.Errorf("Enter in a field presses %s", got)
	}
	if got := buttons[1].attr["value"]; got != "deny" {
		t.Errorf("the first button to be seen is %s", got)
	}
}

// Tags are text of the agent, so they are below the call. The name of its token is in the header (T3).
func TestConfirmationShowsTagsBelowTheCall(t *testing.T) {
	h := newServer(t)
	r := harmless
	r.Title, r.Tags = "Tidy up", []string{"harmless"}
	page := h.browser("ana").open("/asks/"+h.ask(r).ID, http.StatusOK)
	if n := len(page.all(".ask-header .tag")); n != 0 {
		t.Errorf("%d tags stand in the head", n)
	}
	if got := page.one(t, ".background bdi.tag").visibleText(); got != "harmless" {
		t.Errorf("the tag below is %q", got)
	}
	if got, want := page.one(t, ".ask-header .token bdi").visibleText(), "bot"; got != want {
		t.Errorf("the token is %q, want %q", got, want)
	}
}

// The page also shows who is looking at the ask (F5, F12).
func TestPageShowsTheEffectOfTheDeadline(t *testing.T) {
	h := newServer(t)
	r := single
	r.Timeout, r.OnTimeout, r.To = 90*time.Minute, askback.OnTimeoutDefault, []string{"ana", "ben"}
	a := h.ask(r)
	if _, err := h.client(askback.Responder, "ben").Claim(context.Background(), a.ID); err != nil {
		t.Fatal(err)
	}
	ana := h.browser("ana")
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	for place, wants := range map[string][]string{
		".ask-header": {"1 hour 30 minutes left", "ben is looking at it"},
		".about": {
			"For ana, ben", "If no one answers by 3 November 2026, 20:00 UTC, the default answers are used.",
		},
	} {
		for _, want := range wants {
			if text := page.one(t, place).visibleText(); !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", place, want, text)
			}
		}
	}
	all := page.one(t, "#detail").visibleText()
	if strings.Index(all, "If no one answers by") < strings.Index(all, "Which database") {
		t.Errorf("the deadline is explained before the question:\n%s", all)
	}
	item := ana.open("/", http.StatusOK).one(t, ".list .row")
	if got, want := item.visibleText(), "Which database should we use? asked by deploy-bot (token bot ) "+
		"3 options 1 hour 30 minutes left now ben is looking at it"; got != want {
		t.Errorf("the list says\n%s\nwant\n%s", got, want)
	}
}

func TestListShowsOpenAsksOfThePerson(t *testing.T) {
	h := newServer(t)
	mine, theirs, done := single, single, single
	mine.To, theirs.To = []string{"ana"}, []string{"ben"}
	first := h.ask(mine)
	h.now = h.now.Add(time.Minute)
	h.ask(theirs)
	settled := h.ask(done)
	ana := h.browser("ana")
	ana.settle(settled, url.Values{"action": {"answer"}, "q1": {"0"}})
	h.now = h.now.Add(time.Minute)
	last := h.ask(call)
	var got []string
	for _, n := range ana.open("/", http.StatusOK).all(".list .row-link") {
		got = append(got, n.attr["href"])
	}
	if d := cmp.Diff([]string{"/asks/" + first.ID, "/asks/" + last.ID}, got); d != "" {
		t.Error(d)
	}
	for range 200 {
		h.ask(single)
	}
	page := ana.open("/", http.StatusOK)
	if n := len(page.all(".list .row")); n != 200 {
		t.Errorf("%d rows, want 200", n)
	}
	rest := ana.open(page.one(t, ".list-next a.button").attr["href"], http.StatusOK)
	if n := len(rest.all(".list .row")); n != 2 {
		t.Errorf("%d rows on the second page, want 2", n)
	}
	if got := h.browser("cem").open("/", http.StatusOK); len(got.all(".list .row")) != 200 {
		t.Error("cem does not see an ask for everyone")
	}
}

// After an error, the form keeps the typed text, and the reason is next to its field.
func TestInvalidFormKeepsItsValues(t *testing.T) {
	long := strings.Repeat("x", limits.MaxText+1)
	for name, c := range map[string]struct {
		ask   askback.Request
		form  url.Values
		field string
		want  string
	}{
		"nothing": {single, nil, "q1", "Please choose an answer, or write your own."},
		"Other, not said": {
			single, url.Values{"q1": {"own"}}, "q1-other", "Write your own answer here, or choose another.",
		},
		"two answers": {single, url.Values{"q1": {"0"}, "q1-other": {"both"}}, "q1", "Please give one answer " +
			"only. To use your own text, choose Other. To keep your choice, clear the text field."},
		"no free text":    {free, nil, "q1-other", "Please write an answer."},
		"nothing of many": {multi, nil, "q1", "Please choose an answer, or write your own."},
		"one of several":  {form, url.Values{"q1": {"0"}}, "q2", "Please choose an answer, or write your own."},
		"notes too long": {
			single,
			url.Values{"q1": {"0"}, "q1-notes": {long}},
			"q1-notes",
			"20001 characters are too many; at most 20000 are allowed.",
		},
		"own text too long": {
			single,
			url.Values{"q1-other": {long}},
			"q1-other",
			"20001 characters are too many; at most 20000 are allowed.",
		},
		"comment too long": {
			single,
			url.Values{"q1": {"0"}, "comment": {long}},
			"comment",
			"20001 characters are too many; at most 20000 are allowed.",
		},
		"reason too long": {
			call,
			url.Values{"action": {"deny"}, "reason": {long}},
			"reason",
			"20001 characters are too many; at most 20000 are allowed.",
		},
		"another format": {
			askback.Request{Questions: []askback.Question{{Text: "How many?", Format: "integer 1..100"}}},
			url.Values{"q1-other": {"42abc"}, "q1-notes": {"kept"}},
			"q1-other", `"42abc" is not a whole number from 1 to 100.`,
		},
		"declined at length": {
			single,
			url.Values{"action": {"decline"}, "reason": {long}},
			"reason",
			"20001 characters are too many; at most 20000 are allowed.",
		},
		"optional, Other not said": {
			askback.Request{
				Questions: []askback.Question{{Text: "Well?", Optional: true, Options: askback.Options("A", "B")}},
			},
			url.Values{"q1": {"own"}},
			"q1-other", "Write your own answer here, or choose another.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newServer(t)
			a := h.ask(c.ask)
			filled := url.Values{"action": {"answer"}, "comment": {"\n<b>a remark</b>\nof two lines"}}
			if a.Confirmation != nil {
				filled = url.Values{}
			}
			for k, v := range c.form {
				filled[k] = v
			}
			page := h.browser("ana").send("/asks/"+a.ID, filled, http.StatusUnprocessableEntity)
			if got := page.one(t, "#"+c.field+"-problem").visibleText(); got != c.want {
				t.Errorf("at the field: %q, want %q", got, c.want)
			}
			described := page.one(t, "#"+c.field).attr["aria-describedby"]
			if !strings.Contains(described, c.field+"-problem") {
				t.Errorf("%s is described by %q", c.field, described)
			}
			summary := page.one(t, "#problems[role=alert] a").visibleText()
			if !strings.HasSuffix(summary, c.want) {
				t.Errorf("on top: %q", summary)
			}
			for k := range filled {
				if k == "action" || len(page.all("textarea#"+k)) == 0 {
					continue
				}
				if got, want := page.one(t, "textarea#"+k).raw(), "\n"+filled.Get(k); got != want {
					t.Errorf("%s is now %.60q, want %.60q", k, got, want)
				}
			}
			for _, v := range filled["q1"] {
				if got := page.one(t, "input[name=q1][value="+v+"]"); !has(got, "checked") {
					t.Errorf("%s is no longer chosen", v)
				}
			}
			if h.get(a.ID).Settled() {
				t.Error("it is settled all the same")
			}
		})
	}
}

func has(n *node, attr string) bool { _, ok := n.attr[attr]; return ok }

// In a confirmation, Enter presses a button that shows the form again, as it was filled in.
func TestEnterDecidesNothing(t *testing.T) {
	h := newServer(t)
	a := h.ask(call)
	page := h.browser("ana").send("/asks/"+a.ID, url.Values{
		"action": {"stay"}, "scope": {"tool"}, "reason": {"because"}, "input": {edited},
	}, http.StatusUnprocessableEntity)
	if !has(page.one(t, "input[value=tool]"), "checked") || page.one(t, "#reason").raw() != "\nbecause" ||
		page.one(t, "#input").raw() != "\n"+edited {
		t.Error("what was filled in is lost")
	}
	if got := page.one(t, "#problems").visibleText(); !strings.Contains(got, "The Enter key decides nothing.") {
		t.Errorf("the page says %q", got)
	}
	if h.get(a.ID).Settled() {
		t.Error("it is settled")
	}
	q := h.ask(single)
	h.browser("ana").send("/asks/"+q.ID, url.Values{"action": {"stay"}}, http.StatusBadRequest)
}

// Forms that Askback's own pages never send are rejected, as are forms that are too large.
func TestForgedFormsAreRejected(t *testing.T) {
	for name, form := range map[string]string{
		"no button":           "q1=0",
		"no such button":      "q1=0&action=approve_all",
		"a button of another": "q1=0&action=approve",
		"no such choice":      "q1=7&action=answer",
		"a negative choice":   "q1=-1&action=answer",
		"a label":             "q1=PostgreSQL&action=answer",
	} {
		h := newServer(t)
		a := h.ask(single)
		values, _ := url.ParseQuery(form)
		h.browser("ana").send("/asks/"+a.ID, values, http.StatusBadRequest)
		if h.get(a.ID).Settled() {
			t.Errorf("%s: it is settled", name)
		}
	}
	h := newServer(t)
	a := h.ask(call)
	for _, action := range []string{"", "answer", "approved", "APPROVE"} {
		h.browser("ana").send("/asks/"+a.ID, url.Values{"action": {action}}, http.StatusBadRequest)
	}
	for _, kind := range []string{"", "text/plain", "application/json", "multipart/form-data; boundary=x"} {
		r := h.browser("ana").request(http.MethodPost, "/asks/"+a.ID, url.Values{"action": {"approve"}})
		r.Header.Set("Content-Type", kind)
		if w := h.do(r); w.Code != http.StatusBadRequest {
			t.Errorf("a body of type %q: status %d", kind, w.Code)
		}
	}
	huge := url.Values{"action": {"deny"}, "reason": {strings.Repeat("x", 4<<20)}}
	h.browser("ana").send("/asks/"+a.ID, huge, http.StatusRequestEntityTooLarge)
	if h.get(a.ID).Settled() {
		t.Error("the confirmation is settled")
	}
}
