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
	"github.com/askback/askback/internal/limits"
)

// pointers returns the JSON pointers of an [askback.Invalid], in order. It fails the
// test for any other error.
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

// validQuestions returns a valid request with one question.
func validQuestions() askback.Request {
	return askback.Request{Questions: []askback.Question{databaseQuestion()}}
}

func databaseQuestion() askback.Question {
	return askback.Question{Text: "Which database should we use?", Options: askback.Options("PostgreSQL", "SQLite")}
}

// validConfirmation returns a valid request for a confirmation.
func validConfirmation() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "drop_table", Input: json.RawMessage(`{"table":"users"}`),
	}}
}

// limits lists the length limits of docs/wire.md §1, each with a function that sets the field.
var limitCases = []struct {
	at   string
	max  int
	base func() askback.Request
	set  func(r *askback.Request, s string)
}{
	{"/questions/0/question", 10_000, validQuestions, func(r *askback.Request, s string) { r.Questions[0].Text = s }},
	{"/questions/0/options/0/label", 200, validQuestions, func(r *askback.Request, s string) {
		r.Questions[0].Options[0].Label = s
	}},
	{"/questions/0/options/1/description", 2_000, validQuestions, func(r *askback.Request, s string) {
		r.Questions[0].Options[1].Description = s
	}},
	{"/questions/0/options/1/preview", 100_000, validQuestions, func(r *askback.Request, s string) {
		r.Questions[0].Options[1].Preview = s
	}},
	{"/questions/0/default", 20_000, validQuestions, func(r *askback.Request, s string) {
		r.Questions[0].Default = []string{s}
	}},
	{"/context", 200_000, validQuestions, func(r *askback.Request, s string) {
		r.Context = json.RawMessage(`"` + s + `"`)
	}},
	{"/agent", 200, validQuestions, func(r *askback.Request, s string) { r.Agent = s }},
	{"/title", 200, validQuestions, func(r *askback.Request, s string) { r.Title = s }},
	{"/to/0", 200, validQuestions, func(r *askback.Request, s string) { r.To = []string{s} }},
	{"/tags/0", 200, validQuestions, func(r *askback.Request, s string) { r.Tags = []string{s} }},
	{"/key", 255, validQuestions, func(r *askback.Request, s string) { r.Key = s }},
	{"/session_id", 255, validQuestions, func(r *askback.Request, s string) { r.SessionID = s }},
	{"/session_key", 255, validQuestions, func(r *askback.Request, s string) { r.SessionKey = s }},
	{"/confirmation/tool_name", 200, validConfirmation, func(r *askback.Request, s string) {
		r.Confirmation.ToolName = s
	}},
	{"/confirmation/server", 200, validConfirmation, func(r *askback.Request, s string) { r.Confirmation.Server = s }},
	{"/confirmation/description", 10_000, validConfirmation, func(r *askback.Request, s string) {
		r.Confirmation.Description = s
	}},
	{"/confirmation/input_preview", 100_000, validConfirmation, func(r *askback.Request, s string) {
		r.Confirmation.InputPreview = s
	}},
	{"/confirmation/context", 200_000, validConfirmation, func(r *askback.Request, s string) {
		r.Confirmation.Context = s
	}},
}

// Limits are measured in code points, not bytes.
func TestRequestLengthsAreLimited(t *testing.T) {
	for _, l := range limitCases {
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
			if want := fmt.Sprintf("%d characters are too many; at most %d are allowed", l.max+1,
				l.max); !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to say %q", err, want)
			}
		})
	}
}

func TestInvalidUTF8IsRejected(t *testing.T) {
	for _, l := range limitCases {
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

// The input of a tool is measured in bytes, the other fields of a request in characters.
func TestToolInputIsAtMostOneMebibyte(t *testing.T) {
	for n, want := range map[int][]string{1 << 20: nil, 1<<20 + 1: {"/confirmation/input"}} {
		r := validConfirmation()
		r.Confirmation.Input = json.RawMessage(`{"a":"` + strings.Repeat("x", n-8) + `"}`)
		_, err := r.Normalize()
		if got := pointers(t, err); !slices.Equal(got, want) {
			t.Errorf("%d bytes: got problems at %q, want %q", n, got, want)
		}
	}
}

// numbered returns n different labels.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("n%d", i)
	}
	return out
}

// The numbers of questions, options, recipients and tags of a request are limited.
func TestListsInRequestAreLimited(t *testing.T) {
	questions := func(n int) askback.Request {
		var r askback.Request
		for _, text := range numbered(n) {
			r.Questions = append(r.Questions, askback.Question{Text: text})
		}
		return r
	}
	options := func(labels ...string) askback.Request {
		r := validQuestions()
		r.Questions[0].Options = askback.Options(labels...)
		return r
	}
	to, tags := func(n int) askback.Request { r := validQuestions(); r.To = numbered(n); return r },
		func(n int) askback.Request { r := validQuestions(); r.Tags = numbered(n); return r }
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

// The cases cover the rules other than limits (C1, C3, D1, F4, F5, F12).
func TestInvalidRequestsAreRejected(t *testing.T) {
	tomorrow := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		base   func() askback.Request
		change func(r *askback.Request)
		want   []string
	}{
		{"questions", validQuestions, func(r *askback.Request) {}, nil},
		{"a confirmation", validConfirmation, func(r *askback.Request) {}, nil},
		{"both", validQuestions, func(r *askback.Request) {
			r.Confirmation = validConfirmation().Confirmation
		}, []string{"/confirmation"}},
		{"blank question", validQuestions, func(r *askback.Request) {
			r.Questions[0].Text = " \n"
		}, []string{"/questions/0/question"}},
		{"blank label", validQuestions, func(r *askback.Request) {
			r.Questions[0].Options[1].Label = "\t"
		}, []string{"/questions/0/options/1/label"}},
		{"header not UTF-8", validQuestions, func(r *askback.Request) {
			r.Questions[0].Header = "\xff"
		}, []string{"/questions/0/header"}},
		{"the same question twice", validQuestions, func(r *askback.Request) {
			r.Questions = append(r.Questions, databaseQuestion())
		}, []string{"/questions/1/question"}},
		{"the same label twice", validQuestions, func(r *askback.Request) {
			r.Questions[0].Options = askback.Options("A", "B", "A")
		}, []string{"/questions/0/options/2/label"}},
		{"labels of another case differ", validQuestions, func(r *askback.Request) {
			r.Questions[0].Options = askback.Options("A", "a")
		}, nil},
		{"the same label in two questions", validQuestions, func(r *askback.Request) {
			r.Questions = append(r.Questions,
				askback.Question{Text: "And then?", Options: askback.Options("SQLite", "Redis")})
		}, nil},
		{"options only, without options", validQuestions, func(r *askback.Request) {
			r.Questions[0].Options, r.Questions[0].NoOther = nil, true
		}, []string{"/questions/0/allow_custom"}},

		{"default is a label", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default = []string{"SQLite"}
		}, nil},
		{"default is own text", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default = []string{"DuckDB"}
		}, nil},
		{"default is own text, options only", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].NoOther = []string{"DuckDB"}, true
		}, []string{"/questions/0/default"}},
		{"blank default", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default = []string{" "}
		}, []string{"/questions/0/default"}},
		{"two defaults for one answer", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default = []string{"SQLite", "PostgreSQL"}
		}, []string{"/questions/0/default"}},
		{"two defaults for several answers", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].MultiSelect = []string{"SQLite", "PostgreSQL"}, true
		}, nil},
		{"the same default twice", validQuestions, func(r *askback.Request) {
			r.Questions[0].Default, r.Questions[0].MultiSelect = []string{"SQLite", "SQLite"}, true
		}, []string{"/questions/0/default"}},

		{"on_timeout without a deadline", validQuestions, func(r *askback.Request) {
			r.OnTimeout = askback.OnTimeoutFail
		}, []string{"/on_timeout"}},
		{"wait without a deadline", validQuestions, func(r *askback.Request) {
			r.OnTimeout = askback.OnTimeoutWait
		}, nil},
		{"wait with a deadline", validQuestions, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutWait, time.Hour
		}, nil},
		{"an unknown on_timeout", validQuestions, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = "approve", time.Hour
		}, []string{"/on_timeout"}},
		{"default without defaults", validQuestions, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
		}, []string{"/questions/0/default"}},
		{"default with a required question that has none", validQuestions, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
			r.Questions[0].Default = []string{"SQLite"}
			r.Questions = append(r.Questions, askback.Question{Text: "Why?"})
		}, []string{"/questions/1/default"}},
		{"default with an optional question that has none", validQuestions, func(r *askback.Request) {
			r.OnTimeout, r.Deadline = askback.OnTimeoutDefault, tomorrow
			r.Questions[0].Default = []string{"SQLite"}
			r.Questions = append(r.Questions, askback.Question{Text: "Why?", Optional: true})
		}, nil},
		{"a timer that would approve", validConfirmation, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDefault, time.Hour
		}, []string{"/on_timeout"}},
		{"a confirmation that expires", validConfirmation, func(r *askback.Request) {
			r.OnTimeout, r.Timeout = askback.OnTimeoutDecline, time.Hour
		}, nil},
		{"a negative timeout", validQuestions, func(r *askback.Request) { r.Timeout = -1 }, []string{"/timeout"}},
		{"deadline after the year 9999", validQuestions, func(r *askback.Request) {
			r.Deadline = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*3600))
		}, []string{"/deadline"}},
		{"duplicate name in the context", validQuestions, func(r *askback.Request) {
			r.Context = json.RawMessage(`{"a":1,"a":2}`)
		}, []string{"/context"}},
		{"timeout and deadline", validQuestions, func(r *askback.Request) {
			r.Timeout, r.Deadline = time.Hour, tomorrow
		}, []string{"/deadline"}},

		{"one vote", validQuestions, func(r *askback.Request) { r.Quorum = 1 }, nil},
		{"two votes on a question", validQuestions, func(r *askback.Request) { r.Quorum = 2 }, []string{"/quorum"}},
		{"more votes than possible", validConfirmation, func(r *askback.Request) {
			r.Quorum = 21
		}, []string{"/quorum"}},
		{"a line break in a name", validQuestions, func(r *askback.Request) {
			r.StartedBy = "a\nb"
		}, []string{"/started_by"}},
		{"fewer than no votes", validConfirmation, func(r *askback.Request) { r.Quorum = -1 }, []string{"/quorum"}},
		{"a blank name", validQuestions, func(r *askback.Request) { r.To = []string{"ana", ""} }, []string{"/to/1"}},
		{"a blank tag", validQuestions, func(r *askback.Request) { r.Tags = []string{" "} }, []string{"/tags/0"}},
		{"a callback", validQuestions, func(r *askback.Request) { r.CallbackURL = "https://example.com/a?b=c" }, nil},
		{"two names for the session", validQuestions, func(r *askback.Request) {
			r.SessionID, r.SessionKey = "ses_1", "mine"
		}, []string{"/session_key"}},

		{"context is text", validQuestions, func(r *askback.Request) { r.Context = json.RawMessage(`"why"`) }, nil},
		{"context is an object", validQuestions, func(r *askback.Request) {
			r.Context = json.RawMessage(` {"branch": "main"}`)
		}, nil},
		{"context is a list", validQuestions, func(r *askback.Request) {
			r.Context = json.RawMessage(`[1]`)
		}, []string{"/context"}},
		{"context is null", validQuestions, func(r *askback.Request) {
			r.Context = json.RawMessage(`null`)
		}, []string{"/context"}},
		{"context is no JSON", validQuestions, func(r *askback.Request) {
			r.Context = json.RawMessage(`{`)
		}, []string{"/context"}},

		{"no tool", validConfirmation, func(r *askback.Request) {
			r.Confirmation.ToolName = " "
		}, []string{"/confirmation/tool_name"}},
		{"no arguments", validConfirmation, func(r *askback.Request) { r.Confirmation.Input = nil }, nil},
		{"arguments are a list", validConfirmation, func(r *askback.Request) {
			r.Confirmation.Input = json.RawMessage(`[]`)
		}, []string{"/confirmation/input"}},
		{"arguments are no JSON", validConfirmation, func(r *askback.Request) {
			r.Confirmation.Input = json.RawMessage(`{"a":}`)
		}, []string{"/confirmation/input"}},
		{"arguments are not UTF-8", validConfirmation, func(r *askback.Request) {
			r.Confirmation.Input = json.RawMessage("{\"a\":\"\xff\"}")
		}, []string{"/confirmation/input"}},
		{"a tier that needs no confirmation", validConfirmation, func(r *askback.Request) {
			r.Confirmation.Tier = "observe"
		}, []string{"/confirmation/tier"}},
		{"a digest in the request", validConfirmation, func(r *askback.Request) {
			r.Confirmation.Digest = "sha256:00"
		}, []string{"/confirmation/digest"}},
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

// One error lists every problem (F15).
func TestInvalidRequestErrorListsEveryProblem(t *testing.T) {
	r := askback.Request{
		Questions: []askback.Question{{Text: "", Options: askback.Options("A")}, {Text: "Why?", Default: []string{""}}},
		Quorum:    3, To: []string{"@ops"}, OnTimeout: askback.OnTimeoutDecline,
	}
	_, err := r.Normalize()
	want := []string{"/questions/0/question", "/questions/0/options", "/questions/1/default", "/on_timeout", "/quorum"}
	if got := pointers(t, err); !slices.Equal(got, want) {
		t.Errorf("got problems at %q, want %q", got, want)
	}
}

// Normalize also removes repeated names and a context without members.
func TestNormalizeFillsInDefaults(t *testing.T) {
	r := validQuestions()
	r.To, r.Tags = []string{"ana", "ben", "ana"}, []string{}
	r.Context = json.RawMessage("{ }\n")
	got, err := r.Normalize()
	notes := got.Warnings
	want := validQuestions()
	want.Questions[0].ID = "q1"
	want.To, want.Quorum, want.OnTimeout = []string{"ana", "ben"}, 1, askback.OnTimeoutWait
	if diff := cmp.Diff(want, got); err != nil || len(notes) > 0 || diff != "" {
		t.Errorf("got error %v, notes %v, want none; want -, got +:\n%s", err, notes, diff)
	}

	r = validConfirmation()
	r.Confirmation.Input, r.Timeout = nil, time.Minute
	got, err = r.Normalize()
	want = validConfirmation()
	want.Confirmation.Input, want.Confirmation.Tier = json.RawMessage("{}"), "confirm"
	want.Quorum, want.Timeout, want.OnTimeout = 1, time.Minute, askback.OnTimeoutFail
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got error %v; want -, got +:\n%s", err, diff)
	}
}

// Normalize compacts the JSON in a request, so that storing the ask does not change the JSON.
func TestNormalizeCompactsJSON(t *testing.T) {
	r := validConfirmation()
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

// A header that is too long is truncated, without an error (C2).
func TestHeaderIsTruncatedToTwelveGraphemeClusters(t *testing.T) {
	family := "👩‍👩‍👧‍👦" // one grapheme cluster of seven code points
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
		r := validQuestions()
		r.Questions[0].Header = c.header
		got, err := r.Normalize()
		notes := got.Warnings
		if err != nil || len(notes) > 0 {
			t.Errorf("%s: got error %v, notes %v, want none", c.name, err, notes)
			continue
		}
		if got := got.Questions[0].Header; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNormalizingRequestTwiceChangesNothing(t *testing.T) {
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

// A name is displayed on one line.
func TestControlCharactersInNamesAreRejected(t *testing.T) {
	names := []string{"/agent", "/to/0", "/tags/0", "/key", "/session_key"}
	for _, l := range limitCases {
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

// A caller that changes its request later does not change the ask.
func TestNormalizedRequestSharesNoMemory(t *testing.T) {
	full := func() askback.Request {
		r := validQuestions()
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

	r = validConfirmation()
	got, _ = r.Normalize()
	want, _ = validConfirmation().Normalize()
	r.Confirmation.ToolName, r.Confirmation.Input[2] = "x", 'x'
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("confirmation: want -, got +:\n%s", diff)
	}
}

func TestNormalizeDoesNotChangeItsReceiver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest().Draw(t, "request")
		before := askback.Ask{
			Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, To: r.To, Tags: r.Tags,
		}.Clone()
		_, err := r.Normalize()
		after := askback.Ask{
			Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, To: r.To, Tags: r.Tags,
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("before -, after +:\n%s", diff)
		}
		if err != nil && len(pointers(t, err)) == 0 {
			t.Errorf("got an Invalid without problems")
		}
	})
}

func TestInvalidCallbackIsRejected(t *testing.T) {
	for _, address := range []string{
		"example.com/a", "ftp://example.com", "https:///a", "https://ana:secret@example.com", "https://example.com/#a",
		"https://exa mple.com",
		"https://example.com:65536", "https://example.com:0",
		"https://example.com/" + strings.Repeat("a", limits.MaxCallback),
	} {
		r := validQuestions()
		r.CallbackURL = address
		_, err := r.Normalize()
		if got := pointers(t, err); len(got) != 1 || got[0] != "/callback_url" {
			t.Errorf("%.60s: got %v", address, err)
		}
	}
}

// A trace position has the form of W3C Trace Context.
func TestInvalidTraceParentIsRejected(t *testing.T) {
	const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for s, want := range map[string]bool{
		valid: true, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00": true, "": false, "00": false,
		valid + "-1": false, valid + "\n": false, "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": false,
		"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01":  false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g": false,
	} {
		if got := askback.ValidTraceParent(s); got != want {
			t.Errorf("%q: got %t, want %t", s, got, want)
		}
		_, err := askback.Request{Questions: []askback.Question{{Text: "Why?"}}, TraceParent: s}.Normalize()
		if (err == nil) != (want || s == "") {
			t.Errorf("a request with %q: got %v", s, err)
		}
	}
}
