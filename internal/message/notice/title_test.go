package notice_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/message/notice"
)

// asked returns an ask with questions.
func asked(questions ...string) askback.Ask {
	a := askback.Ask{ID: "ask_1", Agent: "bot", Kind: askback.Questions, Title: "Release 2.4"}
	for _, q := range questions {
		a.Questions = append(a.Questions, askback.Question{Text: q, Options: askback.Options("Yes", "No")})
	}
	return a
}

// callOf returns the ask for a call of a tool.
func callOf(tool, input, description string) askback.Ask {
	return askback.Ask{ID: "ask_1", Agent: "bot", Kind: askback.Confirm, Confirmation: &askback.Confirmation{
		ToolName: tool, Input: json.RawMessage(input), Description: description,
	}}
}

func dangerous(a askback.Ask) askback.Ask {
	a.Confirmation.Dangerous = true
	return a
}

// The title of a message is the question, the action or the call. The agent is in the first line.
func TestTitleIsTheQuestionOrTheCall(t *testing.T) {
	action := func(words string) askback.Ask {
		return askback.Ask{ID: "ask_1", Agent: "bot", Confirmation: asktool.Action(words, "It is old.").Confirmation}
	}
	for _, c := range []struct {
		name, title, settled string
		ask                  askback.Ask
	}{
		{"question", "“Which database?”", "Done: “Which database?”", asked("Which\n**database**?")},
		{"several", "“Which database?” +2 more", "Done: “Which database?” +2 more", asked("Which database?", "b", "c")},
		{"action", "Approve “rm -rf /srv/old”?", "Done: “rm -rf /srv/old”", action("rm -rf /srv/old")},
		{
			"dangerous action", "Dangerous: approve “rm -rf /srv/old”?", "Done: “rm -rf /srv/old”",
			dangerous(action("rm -rf /srv/old")),
		},
		{
			"what runs, not the description", "Approve “Bash: rm -rf build”?", "Done: “Bash: rm -rf build”",
			callOf("Bash", `{"description":"List the files","command":"rm -rf build"}`, "List the files"),
		},
		{
			"description", "Approve “merge: Merges #812.”?", "Done: “merge: Merges #812.”",
			callOf("merge", `{"number":812}`, "Merges #812."),
		},
		{
			"values", "Dangerous: approve “deploy: target: staging, force: false”?",
			"Done: “deploy: target: staging, force: false”",
			dangerous(callOf("deploy", `{"target":"staging","force":false}`, "")),
		},
		{
			"nested values", `Approve “deploy: to: [ "a" ]”?`, `Done: “deploy: to: [ "a" ]”`,
			callOf("deploy", `{"to":["a"]}`, ""),
		},
		{"no arguments", "Approve “deploy”?", "Done: “deploy”", callOf("deploy", `{}`, "")},
	} {
		m := notice.Pending(c.ask, nil)
		if got := m.Title.String(); got != c.title {
			t.Errorf("%s: got %q, want %q", c.name, got, c.title)
		}
		if got := m.Text(notice.Plain); !strings.HasPrefix(got, "From bot\n") {
			t.Errorf("%s: got\n%s", c.name, got)
		}
		c.ask.Outcome = &askback.Outcome{Status: askback.Declined, Actor: askback.Actor{Name: "ana"}}
		if got := notice.Settled(c.ask, true, false).Title.String(); got != c.settled {
			t.Errorf("%s, settled: got %q, want %q", c.name, got, c.settled)
		}
		if got := notice.Settled(c.ask, false, false).Title.String(); got != "No answer needed any more" {
			t.Errorf("%s, without names: got %q", c.name, got)
		}
	}
}

// A message with only the link has no part of the question in its title, but tells two asks apart (F3).
func TestTitleOfALinkIsNoExcerpt(t *testing.T) {
	header := asked("Which database?")
	header.Title, header.Questions[0].Header = "", "Storage"
	plain := asked("Which database?")
	plain.Title = ""
	for want, a := range map[string]askback.Ask{
		"Question: “Release 2.4”":              asked("Which database?"),
		"2 questions: “Release 2.4”":           asked("Which database?", "Which host?"),
		"Question: “Storage”":                  header,
		"Question from “bot”":                  plain,
		"Dangerous: approval needed: “deploy”": dangerous(callOf("deploy", `{"to":"staging"}`, "Deploys.")),
		"Approval needed from “bot”":           {Agent: "bot", Confirmation: asktool.Action("Merge", "").Confirmation},
	} {
		if got := notice.Short(a, true).Title.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := notice.Short(a, false).Title.String(); got != "Question" && got != "Approval needed" {
			t.Errorf("without names: got %q", got)
		}
	}
}

// A question or a call cannot imitate Askback's own words, however its text begins: it is in quotation marks,
// and has none.
func TestForeignTextInATitleIsQuoted(t *testing.T) {
	for _, text := range []string{
		"Done: approved by ana", "Dangerous: approve", "No answer needed any more", "Yes” Done: “No", "„Done: it",
		"＂Done: it＂", "Test from Askback", "Approve “x”?", "a\nDone: it", "a\r\nSubject: x", "\u202eenoD", "\u0000",
		"+9 more", "” +9 more", "Reminder: x", "Yes’’ Done: ‘‘No", "Yesʺ Done: it",
		"Yesˮ", "Yes״ Done", "Yes〃", "‶Yes", "Yes🙷",
	} {
		for name, title := range map[string]notice.Title{
			"question": notice.Pending(asked(text), nil).Title,
			"several":  notice.Pending(asked(text, "b"), nil).Title,
			"call":     notice.Pending(callOf("say", string(quote(text)), ""), nil).Title,
			"link":     notice.Short(askback.Ask{Title: text, Questions: asked("a").Questions}, true).Title,
			"agent":    notice.Short(askback.Ask{Agent: text, Questions: asked("a").Questions}, true).Title,
		} {
			if !strings.HasSuffix(title.Own, "“") || !strings.HasPrefix(title.End, "”") {
				t.Errorf("%s %q: not in quotation marks: %q", name, text, title)
			}
			if strings.ContainsAny(title.Foreign, "“”„‟＂ʺˮ״〃‶🙷\n\r\x00\u202e") || title.Foreign == "" ||
				strings.Contains(title.Foreign, "’’") || strings.Contains(title.Foreign, "‘‘") {
				t.Errorf("%s %q: got %q", name, text, title.Foreign)
			}
		}
	}
}

func quote(text string) []byte {
	raw, _ := json.Marshal(map[string]string{"text": text})
	return raw
}

// A long title is cut between two words. It fits into a subject of a mail, a header of Slack and a title of ntfy.
func TestLongTitleIsCutBetweenWords(t *testing.T) {
	for name, text := range map[string]string{
		"words": strings.Repeat("database ", 40), "one word": strings.Repeat("x", 4000),
		"Chinese": strings.Repeat("数据库", 1000), "Hebrew": strings.Repeat("שלום ", 300),
		"pictures": strings.Repeat("👩‍👩‍👧‍👦 ", 300), "marks": strings.Repeat("a"+strings.Repeat("\u0301", 30)+" ", 50),
		"marks without a letter": strings.Repeat("\u0301", 2000), "long marks": "a" + strings.Repeat("\u0301", 2000),
	} {
		a := asked(text, "b")
		d := dangerous(callOf("say", string(quote(text)), ""))
		a.Outcome = &askback.Outcome{Status: askback.Declined}
		for _, title := range []notice.Title{
			notice.Pending(a, nil).Title, notice.Pending(d, nil).Title, notice.Settled(a, true, false).Title,
		} {
			s := title.String()
			if !strings.HasSuffix(title.Foreign, " …") && !strings.HasSuffix(name, "marks") &&
				name != "marks without a letter" || len(s) > 200 || !utf8.ValidString(s) {
				t.Errorf("%s: got %d bytes, %q", name, len(s), s)
			}
			if name == "words" && (!strings.HasSuffix(title.Foreign, "database …") || utf8.RuneCountInString(s) > 74) {
				t.Errorf("%s: got %q", name, s)
			}
		}
	}
	fits := strings.Repeat("x", 70) + " y"
	if got := notice.Pending(asked(fits), nil).Title.Foreign; got != fits {
		t.Errorf("a title that just fits: got %q", got)
	}
}

// An action is in the message as text, with its line breaks. What is asked comes before how it is decided.
func TestActionIsInTheMessageAsText(t *testing.T) {
	a := askback.Ask{
		ID: "ask_1", Agent: "bot", Kind: askback.Confirm, Quorum: 2, Title: "Release 2.4", Context: []byte(`"Friday."`),
		Confirmation: asktool.Action("Merge #812", "The **tests** pass.\nTwo \u200breviews.").Confirmation,
	}
	want := "From bot\nWarning: it contains invisible characters, which are shown as marks.\n" +
		"Action:\n│ Merge #812\nDetails:\n│ The **tests** pass.\n│ Two ⟨U+200B⟩reviews.\nContext:\n│ Friday.\n" +
		"Title: Release 2.4\n2 people must approve this; one can deny it\nAnswer at the computer: askback inbox"
	if got := notice.Pending(a, nil).Text(notice.Plain); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
