package notice

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A Title is the first line of a message: words of Askback, foreign text and words of Askback. The foreign text
// is in quotation marks and has none itself, so that it cannot imitate Askback's own words (T10): a question
// such as "Done: approved by ana" becomes “Done: approved by ana”.
type Title struct {
	Own     string
	Foreign string // safe text
	End     string
}

// String returns the whole title.
func (t Title) String() string { return t.Own + t.Foreign + t.End }

// Limits of a title. A phone shows about forty characters. A subject of a mail has at most 78 characters, with
// "Re: " (RFC 5322), and a title of ntfy at most 200 bytes.
const (
	maxTitle      = 74
	maxTitleBytes = 100 // of the foreign text
)

// quoted returns a title with foreign text in quotation marks. A long text is cut between two words.
func quoted(own, foreign, end string) Title {
	own, end = own+"“", "”"+end
	room := maxTitle - utf8.RuneCountInString(own+end)
	return Title{Own: own, Foreign: cut(withoutQuotes.Replace(safetext.Line(foreign).String()), room), End: end}
}

// withoutQuotes replaces the characters that look like the quotation marks of a title.
var withoutQuotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "❝", `"`, "❞", `"`, "〝", `"`, "〞", `"`,
	"〟", `"`, "＂", `"`, "″", `"`, "˝", `"`, "‶", `"`, "ʺ", `"`, "ˮ", `"`, "״", `"`, "〃", `"`, "🙶", `"`,
	"🙷", `"`, "🙸", `"`, "’’", `"`, "‘‘", `"`, "′′", `"`)

// cut returns a safe text that fits: at most room columns and maxTitleBytes bytes. If it leaves something out, it
// cuts between two words, if there are any, and "…" follows.
func cut(text string, room int) string {
	const mark = " …"
	if len(text) <= maxTitleBytes && safetext.Width(safetext.Line(text)) <= room {
		return text
	}
	begin := firstBytes(text, maxTitleBytes-len(mark))
	row := safetext.Wrap(safetext.Line(begin), room-utf8.RuneCountInString(mark))[0].String()
	if rest := text[len(row):]; len(row) == len(begin) && !strings.HasPrefix(rest, " ") {
		row = row[:max(strings.LastIndexByte(row, ' '), 0)]
		if row == "" {
			row = begin
		}
	}
	return safetext.Line(strings.TrimRight(row, " ")).String() + mark
}

// firstBytes returns the characters of s that are in its first n bytes.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// titleOf returns the title of the message with a whole ask: the question, the action or the call. The message
// has the exact text below.
func titleOf(v view.Ask) Title {
	switch c := v.Confirmation; {
	case c == nil:
		return ofQuestions("", v)
	case c.Dangerous:
		return quoted("Dangerous: approve ", c.Subject().String(), "?")
	}
	return quoted("Approve ", v.Confirmation.Subject().String(), "?")
}

// Heading returns the title of a message with the whole ask.
func Heading(a askback.Ask) Title { return titleOf(view.Of(a)) }

// settledTitle returns the title of the notice about a settled ask.
func settledTitle(v view.Ask) Title {
	if c := v.Confirmation; c != nil {
		return quoted("Done: ", c.Subject().String(), "")
	}
	return ofQuestions("Done: ", v)
}

// ofQuestions returns a title with the first question and the number of the others.
func ofQuestions(own string, v view.Ask) Title {
	if more := len(v.Questions) - 1; more > 0 {
		return quoted(own, v.Questions[0].Text.String(), fmt.Sprintf(" +%d more", more))
	}
	return quoted(own, v.Headline().String(), "")
}

// shortTitle returns the title of a message that has only the link. It has no part of the question and no
// arguments (F3), but the agent's title, the tool or a header.
func shortTitle(a askback.Ask, v view.Ask) Title {
	c := v.Confirmation
	own := "Question"
	switch {
	case c != nil && c.Dangerous:
		own = "Dangerous: approval needed"
	case c != nil:
		own = "Approval needed"
	case len(v.Questions) > 1:
		own = fmt.Sprintf("%d questions", len(v.Questions))
	}
	switch {
	case a.Title != "":
		return quoted(own+": ", v.Title.String(), "")
	case c != nil && !c.Own:
		return quoted(own+": ", c.Tool.String(), "")
	case len(v.Questions) > 0 && v.Questions[0].Header.String() != "":
		return quoted(own+": ", v.Questions[0].Header.String(), "")
	}
	return quoted(own+" from ", v.From().String(), "")
}
