package channeltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A Case is an ask that every channel must carry as a whole or as a link, with answers to the ask.
type Case struct {
	Name    string
	Request askback.Request
	Answers []NamedAnswer // empty if messages about the ask must have only the link
}

// A NamedAnswer is an answer to a [Case].
type NamedAnswer struct {
	Name   string
	Answer askback.Answer
}

// hostile is text that services would act on, or that imitates Askback's own lines.
const hostile = "<!channel> <@U123> <@&42> @everyone @here @all `code` ```\nfence\n``` **bold** __under__ ~~gone~~ " +
	"||spoiler|| # head\n> quote\n" +
	"- item\n[click](https://evil.example/x) ![img](https://evil.example/p.png) <b>html</b> <img " +
	"src=https://evil.example/i> &lt;entity&gt; :smile: #tag ~channel " +
	"{{DATE(2026-01-01T00:00:00Z, SHORT)}} \\n \\_ ${jndi} <t:0:R> <#5> </cmd:1> https://evil.example/track " +
	"www.evil.example /start tg://user?id=1\n" +
	"\r\nBcc: eve@evil.example\r\n.\r\nAnswered by ana: yes\nFrom Askback\n-- \n> On Monday ana " +
	"wrote:\x1b[2J\u202etxt.exe\u2066\u200b"

func question(text string, labels ...string) askback.Question {
	return askback.Question{Text: text, Options: askback.Options(labels...)}
}

func request(questions ...askback.Question) askback.Request {
	return askback.Request{Agent: "codex · shop", Questions: questions}
}

// deploy is a question with two answers, for tests in which the text does not matter.
func deploy() askback.Request { return byName("single").Request }

func confirmation(tool, input string) askback.Request {
	return askback.Request{
		Agent: "codex · shop", Confirmation: &askback.Confirmation{ToolName: tool, Input: json.RawMessage(input)},
	}
}

func chosen(labels ...string) []NamedAnswer {
	return []NamedAnswer{{"choice", askback.Choose(labels...)}}
}

func one(a askback.QuestionAnswer) askback.Answer {
	a.ID = "q1"
	return askback.Answer{Answers: []askback.QuestionAnswer{a}}
}

var decisions = []NamedAnswer{
	{"approve", askback.Decide(askback.Approve, "")},
	{"deny", askback.Decide(askback.Deny, "")},
	{"deny with a reason", askback.Decide(askback.Deny, "first to staging\nplease")},
}

// Cases returns the asks of the suite.
func Cases() []Case {
	return append(append(questionCases(), longCases()...), callCases()...)
}

func byName(name string) Case {
	for _, c := range Cases() {
		if c.Name == name {
			return c
		}
	}
	panic("channeltest: there is no case " + name)
}

func questionCases() []Case {
	closed := question("Deploy the shop now?", "Yes", "No")
	closed.NoOther, closed.Header = true, "Deploy"
	other := question("Which name should it have?", "alpha", "beta")
	other.Default = []string{"alpha"}
	multi := question("Which checks should run?", "lint", "unit", "race", "fuzz")
	multi.MultiSelect, multi.Optional = true, true
	previews := question("Which layout do you like?")
	for i := range 2 {
		previews.Options = append(previews.Options, askback.Option{
			Label: fmt.Sprint("Layout ", i), Description: fmt.Sprint("the ", i, " of two\nlines"),
			Preview: fmt.Sprintf("+---+\n| %d |\n+---+", i),
		})
	}
	contextual := request(question("Shall I go on?", "Yes", "No"))
	contextual.Context, contextual.Title, contextual.Timeout = json.RawMessage(`"The tests took 3 minutes."`),
		"Release 1.4", time.Hour
	object := request(question("Shall I go on?", "Yes", "No"))
	object.Context = json.RawMessage(`{"branch":"main","commits":[1,2]}`)
	labelled := request(question("Shall I go on?", "Yes", "No"))
	labelled.Agent = strings.TrimSpace(strings.Repeat("label ", 33))
	harmful := question(hostile, "**yes** [1](https://evil.example)", "<@U1> /start *no*")
	harmful.Header, harmful.Options[0].Description = "@here", hostile
	spoofed := request(harmful)
	spoofed.Agent, spoofed.Title = "**[a](https://evil.example)**", "@everyone <b> /start"
	second, third := multi, other
	second.Text, third.Text = "And which checks?", "And which name?"
	return []Case{
		{"single", request(closed), chosen("No")},
		{"other", request(other), []NamedAnswer{
			{"choice", askback.Choose("beta")},
			{"own words", one(askback.QuestionAnswer{Other: "gamma <b>*ray*\nsecond line"})},
			{"note", one(askback.QuestionAnswer{Selected: []string{"beta"}, Notes: "because of & the name"})},
		}},
		{"multi", request(multi), []NamedAnswer{
			{"two", askback.Choose("unit", "fuzz")},
			{"none", one(askback.QuestionAnswer{})},
			{"two and own words", one(askback.QuestionAnswer{Selected: []string{"lint", "race"}, Other: "bench"})},
		}},
		{"free text", request(question("What should the name be?")), []NamedAnswer{
			{"text", one(askback.QuestionAnswer{Other: "first line\n\n> third \"line\""})},
		}},
		{"previews", request(previews), chosen("Layout 1")},
		{
			"four questions", request(closed, second, third, question("And in your own words?")),
			[]NamedAnswer{{"all", askback.Answer{Answers: []askback.QuestionAnswer{
				{ID: "q1", Selected: []string{"Yes"}},
				{ID: "q2", Selected: []string{"unit", "race"}},
				{ID: "q3", Other: "omega"},
				{ID: "q4", Other: "as you like"},
			}}}},
		},
		{"context", contextual, chosen("Yes")},
		{"context object", object, chosen("Yes")},
		{"right to left", request(question("איזה מסד נתונים?\nمرحبا بالعالم", "כן", "לא")), chosen("לא")},
		{"hostile", spoofed, chosen("<@U1> /start *no*")},
		{"hidden characters", request(question("Shall I\u200b go on?\u2063", "Yes", "No\u200b")), chosen("Yes")},
		{"long label", labelled, chosen("No")},
	}
}

// longCases returns asks with long texts, up to the limits of an ask.
func longCases() []Case {
	var labels []string
	for i := range 50 {
		labels = append(labels, fmt.Sprintf("option number %d", i))
	}
	big := question("Which of the ten?")
	for i := range 10 {
		big.Options = append(big.Options, askback.Option{
			Label: fmt.Sprint("Variant ", i), Preview: strings.Repeat("a long preview. ", limits.MaxPreview/16),
		})
	}
	return []Case{
		{"50 options", request(question("Which one of these?", labels...)), chosen("option number 37")},
		{"3 800 characters", request(question(strings.Repeat("x", 3800), "Yes", "No")), chosen("Yes")},
		{"quotes and newlines", request(question(strings.Repeat("\"\n", 1500)+"or not?", "Yes", "No")), chosen("Yes")},
		{
			"10 000 characters",
			request(question(strings.Repeat("a long question ", limits.MaxQuestion/16), "Yes", "No")), chosen("Yes"),
		},
		{"1 MB", request(big), chosen("Variant 7")},
	}
}

func callCases() []Case {
	dangerous := confirmation("shell", `{"command":"rm -r build"}`)
	dangerous.Confirmation.Dangerous = true
	lines := confirmation("edit_file", `{"text":"first\nsecond\n\tthird","path":"/etc/motd"}`)
	lines.Confirmation.Description, lines.Confirmation.Context, lines.Confirmation.Server = "Changes the greeting.",
		"Asked for in #42.", "files"
	action := confirmation("confirm_action", `{"action":"Delete the old hosts","details":"They are idle.\nSince May."}`)
	action.Confirmation.Description, action.Confirmation.Context = "Delete the old hosts", "They are idle.\nSince May."
	return []Case{
		{"action", action, decisions[:2]},
		{"call", confirmation("deploy", `{"target":"staging","force":false}`), decisions},
		{"call with lines", lines, decisions[:2]},
		{
			"hostile call",
			confirmation("deploy**", `{"a":"`+strings.Repeat("[x](https://evil.example) @here <b> ", 3)+`"}`),
			decisions[:1],
		},
		{
			"call of 20 kB", confirmation("write_file", `{"text":"`+strings.Repeat("0123456789abcde ", 1250)+`"}`),
			decisions[:2],
		},
		{
			"call of 1 MB", confirmation("write_file", `{"text":"`+strings.Repeat("0123456789abcde ", 1<<16-16)+`"}`),
			decisions[:1],
		},
		{"dangerous call", dangerous, nil},
	}
}
