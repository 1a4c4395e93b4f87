package telegram

import (
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// Limits of a keyboard.
const (
	maxRow = 8 // maximum number of buttons in a row, as Telegram documents
	// maxLabelled is the maximum number of options that each have a button with their label. More options
	// have a button with their number, in rows.
	maxLabelled = 10
)

func (s screen) press(text string, a action, question, option int) button {
	return button{Text: text, Data: s.signer.sign(s.chatID, press{a, s.ask.ID, s.messageID, question, option})}
}

// buttons returns the rows of buttons that answer a pending ask. The number question selects the question
// that the buttons answer. The number after the last question selects the overview, and the next number the
// buttons that decline.
func (s screen) buttons(question int, d draft) [][]button {
	switch n := len(s.ask.Questions); {
	case s.ask.Confirmation != nil:
		rows := [][]button{{s.press("Deny", deny, 0, 0)}}
		if !s.group {
			rows = append(rows, []button{s.press("Deny with a reason…", writeReason, 0, 0)})
		}
		return append(rows, []button{s.press("Approve", approve, 0, 0)})
	case question > n:
		return [][]button{
			{s.press("‹ Back", goTo, 0, 0)},
			{s.press("Decline with a reason…", writeDecline, 0, 0)},
			{s.press("Decline to answer", decline, 0, 0)},
		}
	case question == n:
		return [][]button{{s.press("‹ Back", goTo, n-1, 0)}, {s.press("Send the answers", submit, 0, 0)}}
	}
	return s.questionButtons(question, d)
}

// questionButtons returns the buttons for question n.
func (s screen) questionButtons(n int, d draft) [][]button {
	q, e := s.ask.Questions[n], d.entry(s.ask.Questions[n])
	rows := s.options(n, d)
	if !q.NoOther {
		rows = append(rows, []button{s.press("Write an answer…", writeOther, n, 0)})
	}
	if s.group {
		return rows
	}
	note := "Add a note…"
	if e.Notes != "" {
		note = "Change the note…"
	}
	rows = append(rows, []button{
		s.press(note, writeNotes, n, 0), s.press("Decline…", goTo, len(s.ask.Questions)+1, 0),
	})
	several := len(s.ask.Questions) > 1
	last := []button{}
	if several && n > 0 {
		last = append(last, s.press("‹ Back", goTo, n-1, 0))
	}
	if q.Optional {
		last = append(last, s.press("Leave out", leaveOut, n, 0))
	}
	switch {
	case several && answered(e):
		last = append(last, s.press("Next ›", goTo, n+1, 0))
	case !several && (q.MultiSelect || answered(e)):
		last = append(last, s.press("Send the answer", submit, n, 0))
	}
	if len(last) > 0 {
		rows = append(rows, last)
	}
	return rows
}

// options returns the buttons for the options of question n.
func (s screen) options(n int, d draft) (rows [][]button) {
	q, e := s.ask.Questions[n], d.entry(s.ask.Questions[n])
	picked := map[int]bool{}
	for _, i := range e.Picks {
		picked[i] = true
	}
	several := len(s.ask.Questions) > 1
	var row []button
	for i, o := range q.Options {
		text, do := "", choose
		switch {
		case q.MultiSelect && picked[i]:
			text, do = "☑ ", unmark
		case q.MultiSelect:
			text, do = "☐ ", mark
		case several && picked[i]:
			text = "● "
		}
		text += strconv.Itoa(i + 1)
		if len(q.Options) <= maxLabelled {
			rows = append(rows, []button{s.press(label(text+".", safetext.Line(o.Label).String()), do, n, i)})
			continue
		}
		if row = append(row, s.press(text, do, n, i)); len(row) == maxRow || i == len(q.Options)-1 {
			rows, row = append(rows, row), nil
		}
	}
	return rows
}

// shown returns a press of the question that the buttons of a message show. It reports false if the buttons
// show no question.
func (s signer) shown(m message) (p press, ok bool) {
	if m.Markup == nil {
		return p, false
	}
	for _, row := range m.Markup.Rows {
		for _, b := range row {
			p, err := s.verify(m.Chat.ID, b.Data)
			if b.Data == "" || err != nil || p.MessageID != m.ID || p.Action == goTo {
				continue
			}
			return p, true
		}
	}
	return p, false
}

// decision returns the answer for a button that decides about a call.
func decision(a action) askback.Answer {
	if a == approve {
		return askback.Decide(askback.Approve, "")
	}
	return askback.Decide(askback.Deny, "")
}
