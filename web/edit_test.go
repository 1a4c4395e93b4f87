package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
)

const edited = "{\n  \"database\": \"test\"\n}"

// An answer has arguments only if a person edited them (F7).
func TestArgumentsAreSentOnlyIfTheyWereEdited(t *testing.T) {
	for name, c := range map[string]struct {
		change func(field string) string
		want   string
	}{
		"as they were":         {func(f string) string { return f }, ""},
		"with other line ends": {func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") + "\r\n" }, ""},
		"edited":               {func(string) string { return edited }, `{"database":"test"}`},
		"in another order only": {
			func(string) string { return `{"sql":"drop table orders;\nvacuum","database":"prod"}` }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newServer(t)
			a := h.ask(call)
			ana := h.browser("ana")
			field := strings.TrimPrefix(ana.open("/asks/"+a.ID, http.StatusOK).one(t, "textarea#input").raw(), "\n")
			o := ana.settle(a, url.Values{"action": {"approve"}, "input": {c.change(field)}})
			if string(o.Input) != c.want || o.Decision != askback.Approve {
				t.Errorf("got %s with arguments %q, want %q", o.Decision, o.Input, c.want)
			}
		})
	}
}

// The page shows the error, with its position in invalid JSON, and keeps the typed text. For a denial, the
// arguments do not matter.
func TestInvalidEditedArgumentsAreReported(t *testing.T) {
	h := newServer(t)
	a := h.ask(call)
	ana := h.browser("ana")
	for typed, want := range map[string]string{
		"\n{\n  \"a\": 1,\n}":               "Line 4, column 1: ",
		"{\"a\": 1, \"a\": 2}":              "Line 1, column 10: ",
		"":                                  "Line 1, column 1: ",
		"[1]":                               "The arguments of a tool must be a JSON object.",
		"{\n \"n\": 0.1234567890123456789}": "Line 2, column 7: ",
		"{\"a\": </textarea><b>}":           "Line 1, column 7: ",
	} {
		page := ana.send("/asks/"+a.ID, url.Values{"action": {"approve"}, "input": {typed}, "reason": {"because"}},
			http.StatusUnprocessableEntity)
		if got := page.one(t, "#input-problem").visibleText(); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
		if got := page.one(t, "textarea#input").raw(); got != "\n"+typed {
			t.Errorf("the field holds %q, want %q", got, typed)
		}
		if got := page.one(t, "textarea#reason").raw(); got != "\nbecause" {
			t.Errorf("the reason is %q", got)
		}
		if !has(page.one(t, ".edit"), "open") {
			t.Error("the field is folded")
		}
	}
	// Edited arguments are approved only once, because a grant covers the original arguments.
	all := url.Values{"action": {"approve_all"}, "input": {edited}, "scope": {"tool"}, "expires_in": {"1h"}}
	page := ana.send("/asks/"+a.ID, all, http.StatusUnprocessableEntity)
	if got := page.one(t, "#input-problem").visibleText(); !strings.Contains(got, "only with the decision approved") {
		t.Errorf("got %q", got)
	}
	if h.get(a.ID).Settled() {
		t.Fatal("it is settled")
	}
	// a denial has no arguments, so invalid arguments do not matter
	if o := ana.settle(a, url.Values{"action": {"deny"}, "input": {"{"}}); o.Decision != askback.Deny ||
		len(o.Input) != 0 {
		t.Errorf("got %+v", o)
	}
}

// A person sees invisible characters as escapes, which keep the meaning of the JSON (T9).
func TestArgumentsFieldEscapesInvisibleCharacters(t *testing.T) {
	h := newServer(t)
	r := harmless
	c := *harmless.Confirmation
	c.Input = json.RawMessage(`{"path":"a` + "\u202e" + `b","\u006eame":"` + "\u200b" + `é"}`)
	r.Confirmation = &c
	a := h.ask(r)
	ana := h.browser("ana")
	field := strings.TrimPrefix(ana.open("/asks/"+a.ID, http.StatusOK).one(t, "textarea#input").raw(), "\n")
	if want := "{\n  \"path\": \"a\\u202eb\",\n  \"name\": \"\\u200b\\u00e9\"\n}"; field != want {
		t.Errorf("the field holds %s\nwant %s", field, want)
	}
	if o := ana.settle(a, url.Values{"action": {"approve"}, "input": {field + " "}}); len(o.Input) != 0 {
		t.Errorf("it was taken for edited: %s", o.Input)
	}
}

// If arguments are too long to edit, the page explains this.
func TestHugeArgumentsCannotBeEdited(t *testing.T) {
	h := newServer(t)
	r := harmless
	r.Confirmation = &askback.Confirmation{
		ToolName: "write", Input: json.RawMessage(`{"a":"` + strings.Repeat("x", 200_000) + `"}`),
	}
	a := h.ask(r)
	ana := h.browser("ana")
	part := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".edit")
	if len(part.all("textarea")) != 0 || !strings.Contains(part.visibleText(), "too long to edit") {
		t.Errorf("got %.200s", part.visibleText())
	}
	if o := ana.settle(a, url.Values{"action": {"approve"}}); !o.Approved() || len(o.Input) != 0 {
		t.Errorf("got %+v", o)
	}
}

// The settled page shows the original and the edited arguments (F4).
func TestEditedAndOriginalArgumentsAreShown(t *testing.T) {
	h := newServer(t)
	a := h.ask(call)
	ana := h.browser("ana")
	ana.settle(a, url.Values{"action": {"approve"}, "input": {edited}})
	result := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".result")
	if got := result.one(t, ".person pre").raw(); got != edited {
		t.Errorf("the new ones are %s", got)
	}
	for _, want := range []string{
		"Approved with other arguments by ana", "Approved, as edited", "Requested by the agent, and not approved",
		"drop table orders",
	} {
		if !strings.Contains(result.visibleText(), want) {
			t.Errorf("%q is not in %s", want, result.visibleText())
		}
	}
}

// The page of a call that is asked for again says that the person changed the call before.
func TestChangeBeforeTheSameCallIsShown(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	ana.settle(h.ask(call), url.Values{"action": {"approve"}, "input": {edited}})
	again := call
	again.Key = "again"
	note := ana.open("/asks/"+h.ask(again).ID, http.StatusOK).one(t, ".earlier")
	if got := note.visibleText(); !strings.Contains(got, "You changed this call before approving it, just now.") {
		t.Errorf("got %q", got)
	}
}
