package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/golden"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// echoTypist is an input that types a script and echoes it on the screen.
type echoTypist struct {
	script string
	screen io.Writer
}

func (t *echoTypist) Read(p []byte) (int, error) {
	if t.script == "" {
		return 0, io.EOF
	}
	n := copy(p, t.script)
	t.script = t.script[n:]
	_, err := t.screen.Write(p[:n])
	return n, err
}

// screenAt returns the screen of a person who types the script, at a width in columns.
func screenAt(t *testing.T, width int, ask askback.Ask, script string) string {
	t.Helper()
	var screen bytes.Buffer
	options := &terminal.Options{Human: true, Width: func() int { return width }, Zone: time.UTC}
	p := terminal.New(&echoTypist{script, &screen}, &screen, options)
	if _, err := p.Ask(context.Background(), view.Of(ask)); err != nil && !errors.Is(err, terminal.ErrNoInput) {
		t.Fatal(err)
	}
	return screen.String()
}

func databaseAsk() askback.Ask {
	return askback.Ask{
		ID: "ask_1", Agent: "deploy-bot", Path: []string{"release", "night run"}, Kind: askback.Questions,
		To: []string{"ana", "ben"}, Status: askback.Pending, CreatedAt: noon, Deadline: noon.Add(2 * time.Hour),
		OnTimeout: askback.OnTimeoutDefault,
		Questions: []askback.Question{{
			ID: "q1", Text: "Which database should we use?\nIt must be up before the demo on Friday, and the team " +
				"that picks it runs it.", Header: "Database",
			Options: []askback.Option{
				{
					Label:       "PostgreSQL",
					Description: "What the other teams run. Needs a server, and a person who looks after it at night.",
				},
				{
					Label: "SQLite", Description: "One file.",
					Preview: "db, err := sql.Open(\"sqlite\", \"app.db\")\nif err != nil {\n\treturn err\n}",
				},
			},
			Default: []string{"PostgreSQL"},
		}},
	}
}

func severalQuestions() askback.Ask {
	return askback.Ask{
		ID: "ask_2", Agent: "planner", Kind: askback.Questions, Title: "Before I start", Status: askback.Pending,
		CreatedAt: noon,
		Context:   []byte(`{"branch":"main","dirty":false,"files":[1,2]}`),
		Questions: []askback.Question{
			{ID: "q1", Text: "Which features?", MultiSelect: true, Options: askback.Options("API docs",
				"Testing, unit and end to end", "Docker")},
			{ID: "q2", Text: "Which port?", Options: askback.Options("8080", "3000"), NoOther: true},
			{ID: "q3", Text: "What is it called?", Optional: true},
		},
	}
}

func deletionCall() askback.Ask {
	return askback.Ask{
		ID: "ask_3", Agent: "cleaner", Kind: askback.Confirm, Status: askback.Pending, CreatedAt: noon,
		Title: "Tidy up",
		Confirmation: &askback.Confirmation{
			ToolName: "delete_files", Server: "files", Tier: "confirm", Dangerous: true,
			Description:  "I only remove 23 unused test files. Nothing that matters.",
			InputPreview: "rm old/*", Context: "The build is green.",
			Input: []byte(`{"path":"/srv/work","globs":["old/*","\u002a\u002a/*.go"],"script":"set -e\ncd /srv/work   && rm -rf --one-file-system  ./old ./older ./oldest    /var/lib/postgresql ./tmp\n","max":1e3,"note":"a\u202eb"}`),
		},
	}
}

// Asks are drawn at two widths as in the files in testdata (C1, C3, C5, F3, F5, T3).
func TestScreensMatchGoldenFiles(t *testing.T) {
	screens := []struct {
		name   string
		ask    askback.Ask
		script string
	}{
		{"one_question", databaseAsk(), "7\n:help\n:note cheap is fine\n2\n"},
		{"three_questions", severalQuestions(), "3, Testing, unit and end to end, fast please\ny\n8080\n\n"},
		{"approval", deletionCall(), "sure\ny\n"},
		{"near_miss", databaseAsk(), "?\nsqlit\n\nq\nall\nPostgres\nn\nMySQL, we know it\ny\n"},
	}
	for _, s := range screens {
		for width, suffix := range map[int]string{80: "_80", 40: "_40"} {
			t.Run(s.name+suffix, func(t *testing.T) {
				golden.Check(t, "testdata/"+s.name+suffix+".txt", screenAt(t, width, s.ask, s.script))
			})
		}
	}
}

// An outcome shows who answered and where, or that a timer ended the ask (F4).
func TestOutcomeShowsWhoAnswered(t *testing.T) {
	var b strings.Builder
	for _, width := range []int{80, 40} {
		for _, o := range outcomes() {
			ask := databaseAsk()
			ask.Status, ask.Outcome = o.Status, &o
			var out bytes.Buffer
			options := &terminal.Options{Width: func() int { return width }, Zone: time.UTC}
			if err := terminal.New(strings.NewReader(""), &out, options).Settled(view.Of(ask)); err != nil {
				t.Fatal(err)
			}
			b.WriteString(out.String())
		}
		b.WriteString("\n")
	}
	ask := severalQuestions()
	ask.Outcome = &outcomes()[0]
	if err := terminal.Show(&b, view.Of(ask), &terminal.Options{Zone: time.UTC}); err != nil {
		t.Fatal(err)
	}
	ask = deletionCall()
	ask.Claims = []askback.Claim{{Name: "ana", At: noon}, {Name: "ben", At: noon}}
	if err := terminal.Show(&b, view.Of(ask), nil); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/settled.txt", b.String())
}

func outcomes() []askback.Outcome {
	ana := askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
	answer := func(label, other, notes string) []askback.QuestionAnswer {
		a := askback.QuestionAnswer{ID: "q1", Question: "Which database should we use?", Other: other, Notes: notes}
		if label != "" {
			a.Selected = []string{label}
		}
		return []askback.QuestionAnswer{a}
	}
	return []askback.Outcome{
		{
			Status: askback.Answered, Answers: answer("SQLite", "", "cheap"), Comment: "Thanks", Actor: ana,
			Channel: askback.ChannelWeb, At: noon,
		},
		{
			Status:  askback.Answered,
			Answers: answer("", "The database on the old server in the cellar, if it still runs at all", ""),
			Actor:   ana, Channel: askback.ChannelSlack, At: noon,
		},
		{
			Status: askback.Expired, Defaulted: true, Answers: answer("PostgreSQL", "", ""),
			Actor: askback.Actor{Kind: askback.ActorTimer}, At: noon,
		},
		{Status: askback.Expired, Actor: askback.Actor{Kind: askback.ActorTimer}, At: noon},
		{Status: askback.Declined, Reason: "not mine", Actor: ana, Channel: askback.ChannelEmail, At: noon},
		{Status: askback.Cancelled, Actor: askback.Actor{Kind: askback.ActorAgent, Name: "deploy-bot"}, At: noon},
		{Status: askback.Answered, Decision: askback.Deny, Actor: ana, Channel: askback.ChannelTerminal, At: noon},
		{
			Status: askback.Answered, Decision: askback.Approve, GrantID: "grt_1",
			Actor: askback.Actor{Kind: askback.ActorPolicy, Name: "ana"}, At: noon,
		},
		{
			Status: askback.Answered, Decision: askback.ApproveAll, GrantID: "grt_1", Reason: "harmless", Actor: ana,
			Channel: askback.ChannelTerminal, At: noon,
		},
		{
			Status: askback.Answered, Decision: askback.Approve, Input: []byte(`{"path":"/tmp/x"}`), Actor: ana,
			Channel: askback.ChannelWeb, At: noon,
		},
	}
}
