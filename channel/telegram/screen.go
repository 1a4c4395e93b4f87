package telegram

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A screen is a message about an ask in one chat, for one person or a group.
type screen struct {
	ask       askback.Ask
	view      view.Ask
	chatID    int64
	messageID int64
	link      string // address of the page where the person answers; "" if other devices cannot open it
	group     bool
	signer    signer
}

// stateUnits is the maximum number of UTF-16 code units that the state of an answer and the instructions add
// to the text of an ask.
const stateUnits = 1300

// A form is the way in which a message carries an ask (F3).
type form int

const (
	whole form = iota // in the text
	file              // in a file; the text has the agent, the title and the link
	page              // only on the page
)

// maxFile is the maximum size in bytes of a file that a bot may send.
const maxFile = 50_000_000

// form returns the way in which the message carries the ask, and the text of the message without the state.
func (s screen) form() (form, *text) {
	m := notice.Pending(s.ask, nil)
	t := &text{}
	t.title(m.Title)
	t.lines(m.Lines)
	if t.fits(stateUnits) {
		return whole, t
	}
	m = notice.Short(s.ask, true)
	t = &text{}
	t.title(m.Title)
	t.lines(m.Lines)
	if len(s.file()) > maxFile {
		return page, t
	}
	t.add("The whole question is in the file, with the numbers of the options.\n")
	return file, t
}

// file returns the whole ask as plain text.
func (s screen) file() []byte {
	m := notice.Pending(s.ask, nil)
	text := strings.TrimRight(notice.Message{Lines: m.Lines}.Text(notice.Plain), "\n")
	return []byte(m.Title.String() + "\n\n" + text + "\n")
}

// fileName returns the name of the file.
func (s screen) fileName() string {
	return "question-" + s.ask.ID[max(0, len(s.ask.ID)-6):] + ".txt"
}

// answerable reports whether the message has buttons that answer. The message of a settled ask has no such
// buttons. A call that is dangerous, or has a part that is hard to see, must be decided on the page. In a
// group, all people have the same buttons, so a message has only buttons that answer with one press.
func (s screen) answerable() bool {
	switch {
	case s.ask.Settled():
		return false
	case s.ask.Confirmation != nil:
		return s.view.Together()
	case s.group:
		return len(s.ask.Questions) == 1 && !s.ask.Questions[0].MultiSelect
	}
	return true
}

// draw returns the message about a pending ask. The message shows the question with this number or, after the
// last question, the overview.
func (s screen) draw(question int, d draft) outgoing {
	how, t := s.form()
	answerable := how != page && s.answerable()
	if answerable && s.ask.Confirmation == nil && !s.group {
		t.add("\n")
		s.state(t, question, d)
	}
	t.add("\n")
	s.footer(t, answerable)
	out := t.outgoing(s.chatID, s.messageID)
	rows := [][]button{}
	if answerable {
		rows = s.buttons(question, d)
	}
	out.Markup = keyboard{s.withLink(rows)}
	return out
}

// footer adds the instructions for answering to t.
func (s screen) footer(t *text, answerable bool) {
	confirmation := s.ask.Confirmation
	switch {
	case confirmation != nil && !answerable && confirmation.Dangerous:
		t.add("This call is dangerous. ")
	case confirmation != nil && !answerable:
		t.add("Parts of this call are hard to see. ")
	}
	switch {
	case answerable && confirmation != nil:
		t.add("Decide with a button.")
	case answerable:
		t.add("Answer with a button, or by a reply to this message.")
	case s.link == "":
		t.add("Answer at the computer: askback inbox")
	case confirmation != nil:
		t.add("Decide on its page.")
	default:
		t.add("Answer on its page.")
	}
	if s.link != "" && !isButtonURL(s.link) {
		t.add("\nIts page: ")
		t.addAs("text_link", s.link, s.link)
	}
}

// withLink adds a button that opens the page. The button is before Approve, so that Deny and Approve are
// apart, or at the end. If Telegram does not accept the link, no button is added.
func (s screen) withLink(rows [][]button) [][]button {
	if !isButtonURL(s.link) {
		return rows
	}
	at := len(rows)
	if s.ask.Confirmation != nil && at > 0 {
		at--
	}
	row := []button{{Text: "Open the page", URL: s.link}}
	return append(rows[:at:at], append([][]button{row}, rows[at:]...)...)
}

// isButtonURL reports whether Telegram accepts link for a button. The host must be an IP address or have a
// dot.
func isButtonURL(link string) bool {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || egress.IsLoopback(u.Host) {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}

// Maximum lengths of a question and of the texts of a person in the state, in UTF-16 code units.
const (
	maxStateQuestion = 150
	maxStateAnswer   = 120
)

// state adds to t the question with this number and the person's answer so far. If there is no such question,
// it adds the answers to all questions or, for the number after these, what declining does.
func (s screen) state(t *text, question int, d draft) {
	several := len(s.ask.Questions) > 1
	if question > len(s.ask.Questions) {
		t.addAs("bold", "Decline to answer?", "")
		t.add(" The agent gets no answer, only your reason.\n")
		return
	}
	if question >= len(s.ask.Questions) {
		t.addAs("bold", "Your answers", "")
		t.add("\n")
		for i, q := range s.ask.Questions {
			t.add(strconv.Itoa(i+1) + ". ")
			s.entry(t, q, d.entry(q))
		}
		return
	}
	q := s.ask.Questions[question]
	if several {
		t.addAs("bold", fmt.Sprintf("Question %d of %d", question+1, len(s.ask.Questions)), "")
		t.add(" ")
		t.addAs("code", cut(safetext.Line(q.Text).String(), maxStateQuestion), "")
		t.add("\n")
	}
	if e := d.entry(q); answered(e) || e.Notes != "" {
		t.add("Your answer: ")
		s.entry(t, q, e)
	}
}

// entry adds to t the answer e to a question, in one line.
func (s screen) entry(t *text, q askback.Question, e view.Entry) {
	var parts []string
	for _, n := range e.Picks {
		parts = append(parts, safetext.Line(q.Options[n].Label).String())
	}
	if e.Other != "" {
		parts = append(parts, safetext.Line(string(e.Other)).String())
	}
	switch {
	case len(parts) > 0:
		t.addAs("code", cut(strings.Join(parts, ", "), maxStateAnswer), "")
	case q.Optional:
		t.add("left out")
	default:
		t.add("not answered yet")
	}
	if e.Notes != "" {
		t.add("; note: ")
		t.addAs("code", cut(safetext.Line(string(e.Notes)).String(), maxStateAnswer), "")
	}
	t.add("\n")
}

// settled returns the message about a settled ask, without buttons that answer.
func (s screen) settled() outgoing {
	for _, names := range []bool{true, false} {
		m := notice.Settled(s.ask, names, false)
		t := &text{}
		t.title(m.Title)
		t.lines(m.Lines)
		if s.link != "" && !isButtonURL(s.link) {
			t.lines(m.Footer)
		}
		if names && !t.fits(0) {
			continue
		}
		out := t.outgoing(s.chatID, s.messageID)
		out.Markup = keyboard{s.withLink([][]button{})}
		return out
	}
	panic("unreachable")
}

// moved returns the message about an ask that was reassigned to other people.
func (s screen) moved() outgoing {
	t := &text{}
	t.title(notice.Title{Own: "No answer needed from you any more"})
	t.add("The question is now with ")
	t.addAs("code", cut(safetext.Line(strings.Join(s.ask.To, ", ")).String(), maxStateAnswer), "")
	t.add(".\n")
	out := t.outgoing(s.chatID, s.messageID)
	out.Markup = keyboard{[][]button{}}
	return out
}
