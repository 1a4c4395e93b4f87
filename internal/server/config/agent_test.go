package config_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hosted/schedule"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/settings"
	"github.com/askback/askback/test/kit/golden"
)

func loadAgent(name, text string) (config.Agent, error) {
	return config.LoadAgent(name, strings.NewReader(text), func(name string) (string, bool) {
		if name == "POEM_SECRET" {
			return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true
		}
		return env(name)
	})
}

// A definition that was written for another program loads unchanged (E12).
func TestDefinitionOfAnotherProgramIsLoaded(t *testing.T) {
	got, err := loadAgent("agents/complex-research.md", read(t, "testdata/agents/complex-research.md"))
	want := config.Agent{
		File: "agents/complex-research.md", Name: "complex-research", Model: "sonnet", AsyncQuestions: true,
		QuestionCallback: "https://hooks.slack.com/...", QuestionTimeout: time.Hour,
		Prompt: "You research a question until it is answered.",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestEveryKeyOfAnAgentIsLoaded(t *testing.T) {
	got, err := loadAgent("agents/everything.md", read(t, "testdata/agents/everything.md"))
	want := config.Agent{
		File: "agents/everything.md", Name: "poem", Description: "Writes poems.", Model: "local",
		Tools:          []string{"files", "tickets.search", "ask_user_question", "spawn_agents"},
		AsyncQuestions: true, QuestionCallback: "https://agents.example.com/answers", QuestionTimeout: 36 * time.Hour,
		OnTimeout: askback.OnTimeoutDecline, To: []string{"ana", "@oncall"}, MaxAsks: 3, MaxTurns: 7,
		Confirm: []string{"files.delete*"}, Allow: []string{"files.*"}, Bubble: true,
		Dangerous:     []string{"files.move*"},
		StartBy:       []string{"ana", "@oncall", "token:ci", "agent:triage"},
		WebhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Schedule: weekdays(t),
		Prompt: "You write poems.\n\n---\n\nAsk for ${STYLE}.",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// weekdays returns the schedule "0 7 * * mon-fri" in Berlin.
func weekdays(t *testing.T) schedule.Schedule {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Parse("0 7 * * mon-fri", berlin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScheduleIsInUTCWithoutATimeZone(t *testing.T) {
	a, err := loadAgent("a.md", "---\nschedule: 0 7 * * *\n---\nWrite.")
	if err != nil || a.Schedule.Text() != "0 7 * * *" || a.Schedule.Zone() != "UTC" {
		t.Errorf("got %q in %q, %v", a.Schedule.Text(), a.Schedule.Zone(), err)
	}
}

// Each stanza of problems.txt is a file, "----", and its problems (E12, F15). A "|" stands for an
// empty line of the file.
func TestProblemsOfAgentsContainLineAndColumn(t *testing.T) {
	golden.Transcript(t, "testdata/agents/problems.txt", func(input string) string {
		name, text, _ := strings.Cut(input, "\n")
		a, err := loadAgent(strings.TrimPrefix(name, "# "), strings.ReplaceAll(text+"\n", "|\n", "\n"))
		var invalid settings.Invalid
		if !errors.As(err, &invalid) {
			t.Errorf("%s: got %+v, %v, want problems", text, a, err)
			return ""
		}
		return err.Error() + "\n"
	})
}

// An empty start_by does not mean that everyone may start the agent.
func TestEmptyStartByDoesNotMeanEveryone(t *testing.T) {
	for text, want := range map[string]bool{"---\nstart_by: []\n---\nWrite.": true, "Write.": false} {
		a, err := loadAgent("a.md", text)
		if got := a.StartBy != nil; err != nil || got != want || len(a.StartBy) > 0 {
			t.Errorf("%q: got %#v, %v", text, a.StartBy, err)
		}
	}
}

// A file without front matter is a prompt, and lines may end as in Windows.
func TestFrontMatterIsOptional(t *testing.T) {
	for text, want := range map[string]string{
		"Be brief.\n":                            "Be brief.",
		"---\r\nmodel: x\r\n---\r\nBe\r\nbrief.": "Be\nbrief.",
		"---\n---\nBe brief.":                    "Be brief.",
	} {
		if a, err := loadAgent("a.md", text); err != nil || a.Prompt != want {
			t.Errorf("%q: got %q, %v", text, a.Prompt, err)
		}
	}
	if _, err := config.LoadAgent("a.md", iotest.ErrReader(errors.New("the disk is gone")), env); err == nil ||
		!strings.Contains(err.Error(), "read a.md: the disk is gone") {
		t.Errorf("a file that cannot be read: got %v", err)
	}
}

// A pattern that can match no tool of the agent is rejected with its place. Other patterns are accepted.
func TestPatternsThatMatchNothingAreRejected(t *testing.T) {
	load := func(key, pattern string) error {
		_, err := loadAgent("agents/x.md",
			fmt.Sprintf("---\ntools: [t, files.read, tea-2]\n%s: [%q]\n---\nWork.\n", key, pattern))
		return err
	}
	for _, key := range []string{"confirm", "allow", "dangerous"} {
		for _, pattern := range []string{
			"t.*anger\u200b", "t\u200d.*", "[!t]*", "t.[!a]*", "t.[z-a]*", " t.*", "t.* ", "t.*\ufe0f", "t.\u202e*",
			"x*", "?", "??", "[u-z]*", "files.read?", "files.[^r]*", "t", "T.*", "tea-2", "tea*.x", "files.read",
			"tea-?.run", "\\t.*", "[^x]*", "t.*", "*", "*.delete", "files*", "t?x", "fil/*", "т.*",
		} {
			valid := slices.Contains([]string{
				"t", "tea-2", "tea*.x", "files.read", "tea-?.run", "\\t.*", "[^x]*", "t.*", "*", "*.delete", "files*",
				"t?x", "?",
			}, pattern)
			err := load(key, pattern)
			if (err == nil) != valid || err != nil && !strings.HasPrefix(err.Error(), "agents/x.md:3:") {
				t.Errorf("%s: [%q]: got %v, want valid %v", key, pattern, err, valid)
			}
		}
	}
}
