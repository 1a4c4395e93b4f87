package askback_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
)

// words has few values, so that random labels, defaults and answers often have the
// same text.
var words = rapid.SampledFrom([]string{
	"A", "B", "SQLite", "<b> & \"c\"", "naïve ☂", "two\nlines", "a, b", "\u2028", "Ωmega", "👩‍👩‍👧‍👦", "null", "[]",
})

// odd generates strings that are invalid in some fields, or that Normalize drops or shortens.
var odd = rapid.SampledFrom([]string{"", " ", "Other", "other…", "\xff", " A ", "thirteen chars"})

// anyText generates strings, most of them from words.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(words, words, words, words, rapid.String(), odd)
}

func instant() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "ms")).UTC()
	})
}

// rawJSON generates compact JSON. If object is true, it generates only objects. Otherwise it also generates
// strings.
func rawJSON(object bool) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		var v any = map[string]any{words.Draw(t, "key"): words.Draw(t, "value"), "n": rapid.Int().Draw(t, "n")}
		if !object && rapid.Bool().Draw(t, "string") {
			v = words.Draw(t, "text")
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(b.Bytes())
	})
}

// anyRequest generates requests, most of them valid.
func anyRequest() *rapid.Generator[askback.Request] {
	return rapid.Custom(func(t *rapid.T) askback.Request {
		r := askback.Request{
			SessionKey: rapid.SampledFrom([]string{"", "mine"}).Draw(t, "session_key"),
			Title:      words.Draw(t, "title"),
			To:         rapid.SliceOfN(words, 0, 3).Draw(t, "to"),
			Tags:       rapid.SliceOfN(words, 0, 3).Draw(t, "tags"),
			Timeout:    rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(t, "timeout"),
			Quorum:     rapid.IntRange(0, 1).Draw(t, "quorum"),
		}
		if r.Timeout > 0 {
			r.OnTimeout = rapid.SampledFrom([]askback.OnTimeout{
				"", askback.OnTimeoutWait, askback.OnTimeoutFail, askback.OnTimeoutDefault, askback.OnTimeoutDecline,
			}).Draw(t, "on_timeout")
		}
		if rapid.Bool().Draw(t, "context") {
			r.Context = append(json.RawMessage(" "), rawJSON(false).Draw(t, "json")...)
		}
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			r.Confirmation = &askback.Confirmation{
				ToolName: anyText().Draw(t, "tool"), Input: rawJSON(true).Draw(t, "input"),
				Description: anyText().Draw(t, "description"), Dangerous: rapid.Bool().Draw(t, "dangerous"),
				NoEdit: rapid.Bool().Draw(t, "no edit"),
			}
			return r
		}
		r.Questions = rapid.SliceOfNDistinct(anyQuestion(), 1, 4,
			func(q askback.Question) string { return q.Text }).Draw(t, "questions")
		return r
	})
}

func anyQuestion() *rapid.Generator[askback.Question] {
	return rapid.Custom(func(t *rapid.T) askback.Question {
		q := askback.Question{
			Text: anyText().Draw(t, "text"), Header: anyText().Draw(t, "header"),
			MultiSelect: rapid.Bool().Draw(t, "multi"), Optional: rapid.Bool().Draw(t, "optional"),
		}
		labels := rapid.SliceOfNDistinct(anyText(), 2, 5, rapid.ID).Draw(t, "labels")
		if rapid.Bool().Draw(t, "options") {
			q.Options = askback.Options(labels...)
			q.Options[0].Description, q.Options[0].Preview = anyText().Draw(t,
				"description"), anyText().Draw(t, "preview")
			q.NoOther = rapid.Bool().Draw(t, "no_other")
		}
		for range rapid.IntRange(0, 2).Draw(t, "defaults") {
			d := rapid.OneOf(rapid.SampledFrom(labels), words).Draw(t, "default")
			if (len(q.Default) == 0 || q.MultiSelect) && !slices.Contains(q.Default, d) {
				q.Default = append(q.Default, d)
			}
		}
		return q
	})
}

// anyAsk generates pending asks of normalized requests.
func anyAsk() *rapid.Generator[askback.Ask] {
	normal := anyRequest().Filter(func(r askback.Request) bool { _, err := r.Normalize(); return err == nil })
	return rapid.Custom(func(t *rapid.T) askback.Ask {
		r, _ := normal.Draw(t, "request").Normalize()
		a := askback.Ask{
			ID: "ask_1", SessionID: "ses_1", Agent: words.Draw(t, "agent"), Kind: askback.Questions, Title: r.Title,
			Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, To: r.To, Quorum: r.Quorum,
			Tags: r.Tags, Status: askback.Pending, CreatedAt: instant().Draw(t, "created"), OnTimeout: r.OnTimeout,
		}
		if a.Confirmation != nil {
			a.Kind, a.Confirmation.Digest = askback.Confirm, "sha256:00"
		}
		if r.Timeout > 0 {
			a.Deadline = a.CreatedAt.Add(r.Timeout)
		}
		if rapid.Bool().Draw(t, "seen") {
			a.Path, a.PageURL = []string{words.Draw(t, "parent")}, "https://ask.example.com/asks/ask_1"
			a.Claims = []askback.Claim{{Name: words.Draw(t, "claim"), At: instant().Draw(t, "claimed")}}
		}
		return a
	})
}

// anyAnswer generates answers to the ask, most of them valid.
func anyAnswer(a askback.Ask) *rapid.Generator[askback.Answer] {
	return rapid.Custom(func(t *rapid.T) askback.Answer {
		out := askback.Answer{Comment: rapid.SampledFrom([]string{"", "fine"}).Draw(t, "comment")}
		if a.Kind == askback.Confirm {
			out.Decision = rapid.SampledFrom([]askback.Decision{askback.Approve, askback.Deny}).Draw(t, "decision")
			return out
		}
		for _, q := range a.Questions {
			given := askback.QuestionAnswer{ID: q.ID}
			if rapid.Bool().Draw(t, "by text") {
				given = askback.QuestionAnswer{Question: q.Text}
			}
			values := words
			if len(q.Options) > 0 {
				values = rapid.OneOf(words, rapid.Custom(func(t *rapid.T) string {
					return rapid.SampledFrom(q.Options).Draw(t, "option").Label
				}))
			}
			most := 1
			if q.MultiSelect {
				most = 3
			}
			given.Selected = rapid.SliceOfN(values, 0, most).Draw(t, "selected")
			if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
				given.Other, given.Notes = anyText().Draw(t, "other"), anyText().Draw(t, "notes")
			}
			out.Answers = append(out.Answers, given)
		}
		return out
	})
}
