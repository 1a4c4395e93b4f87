package email

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/wneessen/go-mail"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/notice"
)

// maxWhole is the maximum size of the HTML of a mail in bytes. Gmail hides everything after the first 102 KB.
const maxWhole = 100_000

// maxSubject is the maximum number of characters of a subject. RFC 5322 recommends this limit for a line.
const maxSubject = 78

// A letter is a mail before it is encoded.
type letter struct {
	id         string // includes angle brackets
	to         string
	replyTo    string // "" means the sender
	subject    string
	inReplyTo  string
	references []string
	automatic  string // the value of Auto-Submitted
	first      []notice.Line
	content    notice.Message
	how        []notice.Line // explains how to answer by replying
}

// thread adds a letter to the thread that begins with the message root, after the message previous. The
// subject then begins with "Re: ".
func (m *letter) thread(root, previous string) {
	m.inReplyTo = previous
	m.references = []string{root}
	if previous != root {
		m.references = append(m.references, previous)
	}
	m.subject = replySubject(m.subject)
}

// replySubject returns subject with "Re: " before it. If the result would be longer than maxSubject,
// replySubject returns subject unchanged.
func replySubject(subject string) string {
	if utf8.RuneCountInString(subject) > maxSubject-len("Re: ") {
		return subject
	}
	return "Re: " + subject
}

// notification returns the letter for a notification. The first letter to a person begins a thread, whatever
// its event is.
func (c *Channel) notification(n askback.Notification) letter {
	m := c.outgoing(n.Ask, n.Person)
	switch {
	case n.Ask.Settled():
	case !n.Ask.Addressed(n.Person):
		m = letter{id: m.id, subject: m.subject, automatic: m.automatic, content: notice.Reassigned(n.Ask)}
	case n.Event == askback.EventQuestionReminded:
		m.first = []notice.Line{notice.Own("Reminder: this is still waiting for an answer.")}
	case n.Event == askback.EventQuestionEscalated:
		m.first = []notice.Line{notice.Own("This has waited for a while, so you are asked as well.")}
	}
	if n.Event != askback.EventQuestionPending && (n.Earlier != "" || n.Ask.Settled()) {
		m.thread(m.id, cmp.Or(n.Earlier, m.id))
		m.id = c.messageID("delivery", n.ID)
	}
	return m
}

// outgoing returns the letter that asks a person, or the letter that reports that an ask is settled. A letter
// about an open ask has the whole ask or, if the ask does not fit, a link.
func (c *Channel) outgoing(a askback.Ask, person string) letter {
	a = notice.InZone(a, person, c.options.Zone)
	a.PageURL = c.pageFor(a, person)
	m := letter{id: c.questionID(a.ID, person), subject: subjectOf(a), automatic: "auto-generated"}
	switch {
	case a.Settled():
		m.content = notice.Settled(a, true, false)
	case fits(a):
		m.content, m.how = notice.Pending(a, nil), c.howToReply(a)
	default:
		m.content = notice.Short(a, true)
	}
	if !a.Settled() {
		m.replyTo = c.replyAddress(a.ID, person, 0) // set even if every reply is answered with a request to try again
	}
	return m
}

// fits reports whether the whole ask fits into a mail.
func fits(a askback.Ask) bool {
	return len(letter{content: notice.Pending(a, nil)}.markup()) <= maxWhole
}

// pageFor returns the address of the page where a person answers an ask. A dangerous call needs the page
// after logging in (T14). If the server has no address that other devices can open, pageFor returns "".
func (c *Channel) pageFor(a askback.Ask, person string) string {
	page := a.PageURL
	if a.Confirmation == nil || !a.Confirmation.Dangerous {
		page = c.options.Link(a, person)
	}
	if u, err := url.Parse(page); err != nil || egress.IsLoopback(u.Host) {
		return "" // other devices cannot open the page
	}
	return page
}

// subjectOf returns the subject of all mails about an ask: the question, the action or the call. If the whole ask
// does not fit into a mail, the subject has no part of it.
func subjectOf(a askback.Ask) string {
	if fits(a) {
		return notice.Pending(a, nil).Title.String()
	}
	return notice.Short(a, true).Title.String()
}

// howToReply returns the sentences that explain how to answer by a reply. If a reply decides nothing, the
// sentences explain that. If replies are not configured, howToReply returns nil.
func (c *Channel) howToReply(a askback.Ask) []notice.Line {
	switch {
	case c.options.Reply == "":
		return nil
	case a.Confirmation != nil && a.Confirmation.Dangerous:
		return []notice.Line{notice.Own("This call is dangerous, so a reply to this mail decides nothing.")}
	case a.Confirmation != nil && isHardToSee(a):
		return []notice.Line{notice.Own("Parts of this call are hard to see, so a reply to this mail decides nothing.")}
	case a.Confirmation != nil:
		return []notice.Line{notice.Own("Or reply to this mail with the one word approve or deny.")}
	case len(a.Questions) == 1:
		return []notice.Line{notice.Own("Or reply to this mail with %s.", replyWith(a.Questions[0])), howToDecline}
	}
	lines := []notice.Line{notice.Own("Or reply to this mail. Begin the answer to each question with its number:")}
	for i, q := range a.Questions {
		s := replyWith(q)
		if q.Optional {
			s += ", or leave it out"
		}
		lines = append(lines, notice.Own("%d: %s", i+1, s))
	}
	return append(lines, howToDecline)
}

// howToDecline explains how to decline questions by a reply.
var howToDecline = notice.Own("To decline to answer, reply with the one word decline. A reason can follow below it.")

// replyWith returns the words that explain what to reply to a question.
func replyWith(q askback.Question) string {
	if len(q.Options) == 0 {
		return "your answer"
	}
	s := "the number or the exact name of an option"
	if q.MultiSelect {
		s = "the numbers or the exact names of options, with commas between them"
	}
	if !q.NoOther {
		s += ", or with your own answer"
	}
	return s
}

// testMessage returns the letter that askback channel test sends.
func (c *Channel) testMessage(to string) letter {
	m := letter{
		to: to, id: c.messageID("test", c.options.Now().String()), automatic: "auto-generated", content: notice.Test(),
	}
	m.subject = m.content.Title.String()
	return m
}

// lines returns all lines of the body except answerAbove.
func (m letter) lines() []notice.Line {
	lines := append([]notice.Line{}, m.first...)
	if len(m.first) > 0 {
		lines = append(lines, notice.Line{})
	}
	lines = append(lines, notice.Line{Foreign: m.content.Title.String()}, notice.Line{})
	lines = append(lines, m.content.Lines...)
	lines = append(lines, notice.Line{})
	lines = append(lines, m.content.Footer...)
	return append(lines, m.how...)
}

// text returns the body as plain text.
func (m letter) text() string {
	var b strings.Builder
	if len(m.how) > 0 {
		b.WriteString(answerAbove + "\n\n")
	}
	for _, l := range m.lines() {
		b.WriteString(l.Own + shown(l) + l.Link + "\n")
	}
	return b.String()
}

// shown returns the foreign text of a line as plain text. Exact text is unchanged, so that a person can copy it.
func shown(l notice.Line) string {
	if l.Exact {
		return l.Foreign
	}
	return unlink(l.Foreign)
}

// startExact begins an element in which spaces and line ends are kept.
const startExact = `<pre style="margin:0;white-space:pre-wrap;font-family:monospace">`

// markup returns the body as HTML. The HTML loads nothing, and only addresses of Askback are links.
func (m letter) markup() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html><head><meta charset="utf-8"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no"></head>` +
		`<body style="font-family:sans-serif;font-size:15px;line-height:1.45">` + "\n")
	if len(m.how) > 0 {
		b.WriteString(`<div style="color:#767676">` + answerAbove + "</div><br>\n")
	}
	exact := false
	for _, l := range m.lines() {
		if l.Exact != exact {
			exact = l.Exact
			b.WriteString(map[bool]string{true: startExact, false: "</pre>\n"}[exact])
		}
		if exact {
			b.WriteString(`<span style="user-select:none">` + html.EscapeString(l.Own) + "</span><bdi>" +
				exactMarkup(l.Foreign) + "</bdi>\n")
			continue
		}
		b.WriteString(markupText(l.Own))
		if l.Foreign != "" {
			b.WriteString("<bdi>" + markupText(unlink(l.Foreign)) + "</bdi>")
		}
		if l.Link != "" {
			address := html.EscapeString(l.Link)
			b.WriteString(`<a href="` + address + `">` + address + "</a>")
		}
		b.WriteString("<br>\n")
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// markupText returns a text as HTML, and keeps all spaces.
func markupText(s string) string {
	s = strings.ReplaceAll(html.EscapeString(s), "  ", " &nbsp;")
	if rest, ok := strings.CutPrefix(s, " "); ok {
		s = "&nbsp;" + rest
	}
	return s
}

// build encodes a letter. No text in the letter can end a line of the header.
func (c *Channel) build(m letter) (*mail.Msg, error) {
	out := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP),
		mail.WithNoDefaultUserAgent())
	out.FromMailAddress(&c.from)
	if err := out.To(m.to); err != nil {
		return nil, err
	}
	if m.replyTo != "" {
		if err := out.ReplyToFormat(c.from.Name, m.replyTo); err != nil {
			return nil, err
		}
	}
	out.Subject(fieldText(m.subject))
	out.SetDateWithValue(c.options.Now())
	out.SetGenHeader(mail.HeaderMessageID, m.id)
	if m.inReplyTo != "" {
		out.SetGenHeader(mail.HeaderInReplyTo, m.inReplyTo)
		out.SetGenHeader(mail.HeaderReferences, strings.Join(m.references, " "))
	}
	out.SetGenHeader("Auto-Submitted", m.automatic)
	out.SetGenHeader("X-Auto-Response-Suppress", "All")
	out.SetGenHeader(mail.HeaderUserAgent, fmt.Sprintf("askback/%s", fieldText(cmp.Or(c.options.Version, "devel"))))
	out.SetBodyString(mail.TypeTextPlain, m.text())
	out.AddAlternativeString(mail.TypeTextHTML, m.markup())
	return out, nil
}

// fieldText returns s as text for a field of the header, in one line. Mail programs do not decode text in s
// that looks like an encoded word (RFC 2047).
func fieldText(s string) string {
	s = strings.ReplaceAll(s, "=?", "="+string(joiner)+"?")
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// validID reports whether s has the form of the id of a message. Only such a text may be repeated in a
// header.
func validID(s string) bool {
	return len(s) > 2 && len(s) <= 250 && s[0] == '<' && s[len(s)-1] == '>' && strings.Count(s, "@") == 1 &&
		!strings.ContainsFunc(s[1:len(s)-1], func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' })
}
