package askback_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
)

// pointers lists where an [askback.Invalid] points, in its order.
func pointers(t rapid.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var invalid askback.Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("got %T %v, want askback.Invalid", err, err)
	}
	out := make([]string, len(invalid))
	for i, p := range invalid {
		out[i] = p.Pointer
		if p.Detail == "" || p.Fix == "" || !strings.HasPrefix(p.Pointer, "/") {
			t.Errorf("problem %+v lacks a pointer, a detail or a fix", p)
		}
	}
	return out
}

// which is a request that keeps every rule.
func which() askback.Request {
	return askback.Request{Questions: []askback.Question{database()}}
}

func database() askback.Question {
	return askback.Question{Text: "Which database should we use?", Options: askback.Options("PostgreSQL", "SQLite")}
}

// drop is a request to confirm that keeps every rule.
func drop() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "drop_table", Input: json.RawMessage(`{"table":"users"}`),
	}}
}

// A limit of wire.md §1: what is set, and how much of it is too much.
var limits = []struct {
	at   string
	max  int
	base func() askback.Request
	set  func(r *askback.Request, s string)
}{
	{"/questions/0/question", 10_000, which, func(r *askback.Request, s string) { r.Questions[0].Text = s }},
	{"/questions/0/options/0/label", 200, which, func(r *askback.Request, s string) { r.Questions[0].Options[0].Label = s }},
	{"/questions/0/options/1/description", 2_000, which, func(r *askback.Request, s string) { r.Questions[0].Options[1].Description = s }},
	{"/questions/0/options/1/preview", 100_000, which, func(r *askback.Request, s string) { r.Questions[0].Options[1].Preview = s }},
	{"/questions/0/default", 20_000, which, func(r *askback.Request, s string) { r.Questions[0].Default = []string{s} }},
	{"/context", 200_000, which, func(r *askback.Request, s string) {
		r.Context = json.RawMessage(`"` + s + `"`)
	}},
	{"/agent", 200, which, func(r *askback.Request, s string) { r.Agent = s }},
	{"/title", 200, which, func(r *askback.Request, s string) { r.Title = s }},
	{"/to/0", 200, which, func(r *askback.Request, s string) { r.To = []string{s} }},
	{"/tags/0", 200, which, func(r *askback.Request, s string) { r.Tags = []string{s} }},
	{"/key", 255, which, func(r *askback.Request, s string) { r.Key = s }},
	{"/session_id", 255, which, func(r *askback.Request, s string) { r.SessionID = s }},
	{"/session_key", 255, which, func(r *askback.Request, s string) { r.SessionKey = s }},
	{"/confirmation/tool_name", 200, drop, func(r *askback.Request, s string) { r.Confirmation.ToolName = s }},
	{"/confirmation/server", 200, drop, func(r *askback.Request, s string) { r.Confirmation.Server = s }},
	{"/confirmation/description", 10_000, drop, func(r *askback.Request, s string) { r.Confirmation.Description = s }},
	{"/confirmation/input_preview", 100_000, drop, func(r *askback.Request, s string) { r.Confirmation.InputPreview = s }},
	{"/confirmation/context", 200_000, drop, func(r *askback.Request, s string) { r.Confirmation.Context = s }},
}

// Limits are code points, not bytes.
func TestLimitsOfARequestHoldAtTheBoundary(t *testing.T) {
	for _, l := range limits {
		t.Run(l.at, func(t *testing.T) {
			r := l.base()
			l.set(&r, strings.Repeat("é", l.max))
			if _, err := r.Normalize(); err != nil {
				t.Errorf("%d characters: got %v, want no error", l.max, err)
			}
			r = l.base()
			l.set(&r, strings.Repeat("é", l.max+1))
			_, err := r.Normalize()
			if got, want := pointers(t, err), []string{l.at}; !slices.Equal(got, want) {
				t.Fatalf("%d characters: got problems at %q, want %q", l.max+1, got, want)
			}
			if want := fmt.Sprintf("%d characters; at most %d", l.max+1, l.max); !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to say %q", err, want)
			}
		})
	}
}

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	for _, l := range limits {
		r := l.base()
		l.set(&r, "ab\xff")
		if l.at == "/context" {
			r.Context = json.RawMessage("\"\xff\"")
		}
		_, err := r.Normalize()
		if got, want := pointers(t, err), []string{l.at}; !slices.Equal(got, want) {
			t.Errorf("%s: got problems at %q, want %q", l.at, got, want)
		}
	}
}

// Tool input is counted in bytes, unlike everything else.
func TestToolInputHasAMebibyte(t *testing.T) {
	for n, want := range map[int][]string{1 << 20: nil, 1<<20 + 1: {"/confirmation/input"}} {
		r := drop()
		r.Confirmation.Input = json.RawMessage(`{"a":"` + strings.Repeat("x", n-8) + `"}`)
		_, err := r.Normalize()
		if got := pointers(t, err); !slices.Equal(got, want) {
			t.Errorf("%d bytes: got problems at %q, want %q", n, got, want)
		}
	}
}

// numbered returns n different words.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("n%d", i)
	}
	return out
}

func TestHowManyOfEachARequestMayHave(t *testing.T) {
	questions := func(n int) askback.Request {
		var r askback.Request
		for _, text := range numbered(n) {
			r.Questions = append(r.Questions, askback.Question{Text: text})
		}
		return r
	}
	options := func(labels ...string) askback.Request {
		r := which()
		r.Questions[0].Options = askback.Options(labels...)
		return r
	}
	to, tags := func(n int) askback.Request { r := which(); r.To = numbered(n); return r },
		func(n int) askback.Request { r := which(); r.Tags = numbered(n); return r }
	for _, c := range []struct {
		name string
		r    askback.Request
		want []string
	}{
		{"no question", questions(0), []string{"/questions"}},
		{"one question", questions(1), nil},
		{"four questions", questions(4), nil},
		{"five questions", questions(5), []string{"/questions"}},
		{"no options are free text", options(), nil},
		{"one option", options("A"), []string{"/questions/0/options"}},
		{"two options", options("A", "B"), nil},
		{"fifty options", options(numbered(50)...), nil},
		{"fifty-one options", options(numbered(51)...), []string{"/questions/0/options"}},
		{"fifty options and Other", options(append(numbered(50), "Other")...), nil},
		{"one option and Other", options("A", "Other"), []string{"/questions/0/options"}},
		{"Other alone", options("Other", "other..."), []string{"/questions/0/options"}},
		{"a hundred people", to(100), nil},
		{"a hundred and one people", to(101), []string{"/to"}},
		{"a hundred tags", tags(100), nil},
		{"a hundred and one tags", tags(101), []string{"/tags"}},
	} {
		_, err := c.r.Normalize()
		if got := pointers(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: got problems at %q, want %q", c.name, got, c.want)
		}
	}
}

// Rows C1, C3, D1, F4, F5, F12.
func TestRulesOfARequest(t *testing.T) {
	tomorrow := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		base   func() askback.Request
		change func(r *askback.Request)
		want   []string
	}{
		{"questions", which, func(r *askback.Request) {}, nil},
		{"a confirmation", drop, func(r *askback.Request) {}, nil},
		{"both", which, func(r *askback.Request) { r.Confirmation = drop().Confirmation }, []string{"/confirmation"}},
		{"blank question", which, func(r *askback.Request) { r.Questions[0].Text = " \n" }, []string{"/questions/0/question"}},
		{"blank label", which, func(r *askback.Request) { r.Questions[0].Options[1].Label = "\t" }, []string{"/questions/0/options/1/label"}},
		{"header not UTF-8", which, func(r *askback.Request) { r.Questions[0].Header = "\xff" }, []string{"/questions/0/header"}},
		{"the same question twice", which, func(r *askback.Request) { r.Questions = append(r.Questions, database()) }, []string{"/questions/1/question"}},
		{"the same label twice", which, func(r *askback.Request) { r.Questions[0].Options = askback.Options("A", "B", "A") }, []string{"/questions/0/options/2/label"}},
		{"labels of another case differ", which, func(r *askback.Request) { r.Questions[0].Options = askback.Options("A", "a") }, nil},
		{"the same label in two questions", which, func(r *askback.Request) {
			r.Questions = append(r.Questions, askback.Question{Text: "And then?", Options: askback.Options("SQLite", "Redis")})
		}, nil},
		{"options only, without options", which, func(r *askback.Request) {
			r.Questions[0].Options, r.Questions[0].NoOther = nil, true
		}, []string{"/questions/0/allow_custom"}},

		{"default is a label", which, func(r *askback.Request) { r.Questions[0].Default = []string{"SQLite"} }, nil},
		{"default is own text", which, func(r *askback.Request) { r.Questions[0].Default = []string{"DuckDB"} }, nil},
		{"default is own text, options only", which, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].NoOther = []string{"DuckDB"}, true
		}, []string{"/questions/0/default"}},
		{"blank default", which, func(r *askback.Request) { r.Questions[0].Default = []string{" "} }, []string{"/questions/0/default"}},
		{"two defaults for one answer", which, func(r *askback.Request) {
			r.Questions[0].Default = []string{"SQLite", "PostgreSQL"}
		}, []string{"/questions/0/default"}},
		{"two defaults for several answers", which, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].MultiSelect = []string{"SQLite", "PostgreSQL"}, true
		}, nil},
		{"the same default twice", which, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].MultiSelect = []string{"SQLite", "SQLite"}, true
		}, []string{"/questions/0/default"}},

		{"on_timeout without a deadline", which, func(r *askback.Request) { r.OnTimeout = askback.OnTimeoutFail }, []string{"/on_timeout"}},
		{"wait without a deadline", which, func(r *askback.Request) { r.OnTimeout = askback.OnTimeoutWait }, nil},
		{"wait with a deadline", which, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutWait, time.Hour
		}, nil},
		{"an unknown on_timeout", which, func(r *askback.Request) { r.OnTimeout, r.Timeout = "approve", time.Hour }, []string{"/on_timeout"}},
		{"default without defaults", which, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
		}, []string{"/questions/0/default"}},
		{"default with a required question that has none", which, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
			r.Questions[0].Default = []string{"SQLite"}
			r.Questions = append(r.Questions, askback.Question{Text: "Why?"})
		}, []string{"/questions/1/default"}},
		{"default with an optional question that has none", which, func(r *askback.Request) {
			r.OnTimeout, r.Deadline = askback.OnTimeoutDefault, tomorrow
			r.Questions[0].Default = []string{"SQLite"}
			r.Questions = append(r.Questions, askback.Question{Text: "Why?", Optional: true})
		}, nil},
		{"a timer that would approve", drop, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
		}, []string{"/on_timeout"}},
		{"a confirmation that expires", drop, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDecline, time.Hour
		}, nil},
		{"a negative timeout", which, func(r *askback.Request) { r.Timeout = -1 }, []string{"/timeout"}},
		{"timeout and deadline", which, func(r *askback.Request) { r.Timeout, r.Deadline = time.Hour, tomorrow }, []string{"/deadline"}},

		{"one vote", which, func(r *askback.Request) { r.Quorum = 1 }, nil},
		{"two votes", drop, func(r *askback.Request) { r.Quorum = 2 }, []string{"/quorum"}},
		{"fewer than no votes", drop, func(r *askback.Request) { r.Quorum = -1 }, []string{"/quorum"}},
		{"a group", which, func(r *askback.Request) { r.To = []string{"ana", "ana", "@payments"} }, []string{"/to/2"}},
		{"a blank name", which, func(r *askback.Request) { r.To = []string{"ana", ""} }, []string{"/to/1"}},
		{"a blank tag", which, func(r *askback.Request) { r.Tags = []string{" "} }, []string{"/tags/0"}},
		{"a callback", which, func(r *askback.Request) { r.CallbackURL = "https://example.com" }, []string{"/callback_url"}},
		{"two names for the session", which, func(r *askback.Request) { r.SessionID, r.SessionKey = "ses_1", "mine" }, []string{"/session_key"}},

		{"context is text", which, func(r *askback.Request) { r.Context = json.RawMessage(`"why"`) }, nil},
		{"context is an object", which, func(r *askback.Request) { r.Context = json.RawMessage(` {"branch": "main"}`) }, nil},
		{"context is a list", which, func(r *askback.Request) { r.Context = json.RawMessage(`[1]`) }, []string{"/context"}},
		{"context is null", which, func(r *askback.Request) { r.Context = json.RawMessage(`null`) }, []string{"/context"}},
		{"context is no JSON", which, func(r *askback.Request) { r.Context = json.RawMessage(`{`) }, []string{"/context"}},

		{"no tool", drop, func(r *askback.Request) { r.Confirmation.ToolName = " " }, []string{"/confirmation/tool_name"}},
		{"no arguments", drop, func(r *askback.Request) { r.Confirmation.Input = nil }, nil},
		{"arguments are a list", drop, func(r *askback.Request) { r.Confirmation.Input = json.RawMessage(`[]`) }, []string{"/confirmation/input"}},
		{"arguments are no JSON", drop, func(r *askback.Request) { r.Confirmation.Input = json.RawMessage(`{"a":}`) }, []string{"/confirmation/input"}},
		{"arguments are not UTF-8", drop, func(r *askback.Request) { r.Confirmation.Input = json.RawMessage("{\"a\":\"\xff\"}") }, []string{"/confirmation/input"}},
		{"a tier nobody is asked about", drop, func(r *askback.Request) { r.Confirmation.Tier = "observe" }, []string{"/confirmation/tier"}},
		{"a digest of one's own", drop, func(r *askback.Request) { r.Confirmation.Digest = "sha256:00" }, []string{"/confirmation/digest"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.base()
			c.change(&r)
			_, err := r.Normalize()
			if got := pointers(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got problems at %q, want %q: %v", got, c.want, err)
			}
		})
	}
}

// All that is wrong is told at once, not one thing a time (F15).
func TestEveryProblemOfARequestIsNamed(t *testing.T) {
	r := askback.Request{
		Questions: []askback.Question{{Text: "", Options: askback.Options("A")}, {Text: "Why?", Default: []string{""}}},
		Quorum:    3, To: []string{"@ops"}, OnTimeout: askback.OnTimeoutDecline,
	}
	_, err := r.Normalize()
	want := []string{"/questions/0/question", "/questions/0/options", "/questions/1/default", "/to/0", "/on_timeout", "/quorum"}
	if got := pointers(t, err); !slices.Equal(got, want) {
		t.Errorf("got problems at %q, want %q", got, want)
	}
}

func TestWhatIsUnsaidIsFilledIn(t *testing.T) {
	r := which()
	r.To, r.Tags = []string{"ana", "ben", "ana"}, []string{}
	r.Context = json.RawMessage("{ }\n")
	got, err := r.Normalize()
	notes := got.Repairs
	want := which()
	want.Questions[0].ID = "q1"
	want.To, want.Quorum, want.OnTimeout = []string{"ana", "ben"}, 1, askback.OnTimeoutWait
	if diff := cmp.Diff(want, got); err != nil || len(notes) > 0 || diff != "" {
		t.Errorf("got error %v, notes %v, want none; want -, got +:\n%s", err, notes, diff)
	}

	r = drop()
	r.Confirmation.Input, r.Timeout = nil, time.Minute
	got, err = r.Normalize()
	want = drop()
	want.Confirmation.Input, want.Confirmation.Tier = json.RawMessage("{}"), "confirm"
	want.Quorum, want.Timeout, want.OnTimeout = 1, time.Minute, askback.OnTimeoutFail
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got error %v; want -, got +:\n%s", err, diff)
	}
}

// JSON is stored and sent without the space between its tokens, so that an ask
// is the same before and after it was stored.
func TestJSONInARequestHasOneForm(t *testing.T) {
	r := drop()
	r.Context = json.RawMessage("\t{ \"why\" : \"<b> & \u2028\" }")
	r.Confirmation.Input = json.RawMessage(`{ "n" : 1.0, "table": "a  b" } `)
	got, err := r.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\"why\":\"<b> & \u2028\"}"; string(got.Context) != want {
		t.Errorf("context: got %s, want %s", got.Context, want)
	}
	if want := `{"n":1.0,"table":"a  b"}`; string(got.Confirmation.Input) != want {
		t.Errorf("input: got %s, want %s", got.Confirmation.Input, want)
	}
}

// C2: a header is only a label, so it is cut and never an error.
func TestHeaderIsCutToTwelveGraphemeClusters(t *testing.T) {
	family := "👩‍👩‍👧‍👦" // one cluster, seven code points
	for _, c := range []struct{ name, header, want string }{
		{"none", "", ""},
		{"twelve letters", "abcdefghijkl", "abcdefghijkl"},
		{"thirteen letters", "abcdefghijklm", "abcdefghijkl"},
		{"twelve families", strings.Repeat(family, 12), strings.Repeat(family, 12)},
		{"thirteen families", strings.Repeat(family, 13), strings.Repeat(family, 12)},
		{"combining marks", strings.Repeat("e\u0301", 13), strings.Repeat("e\u0301", 12)},
		{"flags", strings.Repeat("🇩🇪", 13), strings.Repeat("🇩🇪", 12)},
		{"space around", "  Database ", "Database"},
		{"space where it is cut", "elevenchars and more", "elevenchars"},
		{"only space", "   ", ""},
		{"very long", strings.Repeat("x", 100_000), "xxxxxxxxxxxx"},
	} {
		r := which()
		r.Questions[0].Header = c.header
		got, err := r.Normalize()
		notes := got.Repairs
		if err != nil || len(notes) > 0 {
			t.Errorf("%s: got error %v, notes %v, want none", c.name, err, notes)
			continue
		}
		if got := got.Questions[0].Header; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func noteAt(notes []askback.Problem) []string {
	var at []string
	for _, n := range notes {
		at = append(at, n.Pointer)
	}
	return at
}

func TestOtherAmongTheOptionsIsDroppedWhereOwnTextCounts(t *testing.T) {
	for _, other := range []string{"Other", "other", "OTHER…", "Other...", " Other "} {
		r := which()
		r.Questions[0].Options = askback.Options("A", other, "B")
		got, err := r.Normalize()
		notes := got.Repairs
		if err != nil {
			t.Errorf("%q: %v", other, err)
			continue
		}
		if got, want := got.Questions[0].Options, askback.Options("A", "B"); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", other, got, want)
		}
		if got, want := noteAt(notes), []string{"/questions/0/options/1"}; !slices.Equal(got, want) {
			t.Errorf("%q: got notes at %q, want %q", other, got, want)
		}
	}
}

func TestOtherIsAnOptionWhereOnlyOptionsCount(t *testing.T) {
	r := which()
	r.Questions[0].Options, r.Questions[0].NoOther = askback.Options("A", "Other"), true
	got, err := r.Normalize()
	notes := got.Repairs
	if want := askback.Options("A", "Other"); err != nil || len(notes) > 0 || !slices.Equal(got.Questions[0].Options, want) {
		t.Errorf("got %v, notes %v, error %v, want %v", got.Questions, notes, err, want)
	}
}

func TestWordsThatOnlyContainOtherAreKept(t *testing.T) {
	r := which()
	r.Questions[0].Options = askback.Options("Another", "Other database")
	got, err := r.Normalize()
	notes := got.Repairs
	if want := askback.Options("Another", "Other database"); err != nil || len(notes) > 0 || !slices.Equal(got.Questions[0].Options, want) {
		t.Errorf("got %v, notes %v, error %v, want %v", got.Questions, notes, err, want)
	}
}

func TestPreviewsOfAMultiSelectAreDroppedWithANote(t *testing.T) {
	for _, multi := range []bool{false, true} {
		r := which()
		r.Questions[0].MultiSelect = multi
		r.Questions[0].Options[1].Preview = "create table …"
		got, err := r.Normalize()
		notes := got.Repairs
		preview, at := "create table …", []string(nil)
		if multi {
			preview, at = "", []string{"/questions/0/options/1/preview"}
		}
		if got := got.Questions[0].Options[1].Preview; err != nil || got != preview || !slices.Equal(noteAt(notes), at) {
			t.Errorf("several answers %v: got preview %q, notes %v, error %v; want %q, notes at %q", multi, got, notes, err, preview, at)
		}
	}
}

func TestNormalizingTwiceIsNormalizingOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := anyRequest().Draw(t, "request").Normalize()
		if err != nil {
			t.Skip("not a request")
		}
		twice, err := once.Normalize()
		if diff := cmp.Diff(once, twice); err != nil || diff != "" {
			t.Errorf("got error %v, want none; once -, twice +:\n%s", err, diff)
		}
	})
}

// A name stands in one line, wherever it is shown.
func TestNamesHaveNoControlCharacters(t *testing.T) {
	names := []string{"/agent", "/to/0", "/tags/0", "/key", "/session_key"}
	for _, l := range limits {
		if !slices.Contains(names, l.at) {
			continue
		}
		for _, s := range []string{"two\nlines", "tab\there", "\x1b[31mred", "nul\x00", "next\u0085line"} {
			r := l.base()
			l.set(&r, s)
			_, err := r.Normalize()
			if got, want := pointers(t, err), []string{l.at}; !slices.Equal(got, want) {
				t.Errorf("%s %q: got problems at %q, want %q", l.at, s, got, want)
			}
		}
	}
}

// Who keeps the request and changes it later does not change the ask.
func TestTheNormalFormSharesNothingWithTheRequest(t *testing.T) {
	full := func() askback.Request {
		r := which()
		r.To, r.Tags, r.Context = []string{"ana"}, []string{"prod"}, json.RawMessage(`"why"`)
		r.Questions[0].Default = []string{"SQLite"}
		return r
	}
	r := full()
	got, err := r.Normalize()
	want, _ := full().Normalize()
	if err != nil {
		t.Fatal(err)
	}
	r.To[0], r.Tags[0], r.Context[1] = "eve", "test", 'x'
	r.Questions[0].Default[0], r.Questions[0].Options[0].Label, r.Questions[0].Text = "x", "x", "x"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}

	r = drop()
	got, _ = r.Normalize()
	want, _ = drop().Normalize()
	r.Confirmation.ToolName, r.Confirmation.Input[2] = "x", 'x'
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("confirmation: want -, got +:\n%s", diff)
	}
}

func TestNormalizeLeavesTheRequestAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest().Draw(t, "request")
		before := askback.Ask{Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, To: r.To, Tags: r.Tags}.Clone()
		_, err := r.Normalize()
		after := askback.Ask{Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, To: r.To, Tags: r.Tags}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("before -, after +:\n%s", diff)
		}
		if err != nil && len(pointers(t, err)) == 0 {
			t.Errorf("got an Invalid without problems")
		}
	})
}
