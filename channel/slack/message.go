package slack

import (
	"html"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Limits of Slack for a message. Lengths are counted in UTF-16 after &, < and > are escaped, which is never
// less than the length that Slack counts. The limit for all blocks together is not documented. maxTotal is
// below the observed limits.
const (
	maxHeader = 150
	maxText   = 3000
	maxBlocks = 50
	maxTotal  = 12_000
)

// A message is a message that the channel posts.
type message struct {
	title    string        // safe text, for the notification and the header
	body     []slack.Block // text
	controls []slack.Block // blocks with which people answer
	footer   []slack.Block
}

// blocks returns the blocks of the whole message.
func (m message) blocks() []slack.Block {
	all := append(headerBlocks(m.title), m.body...)
	all = append(all, m.controls...)
	return append(all, m.footer...)
}

// options returns the options of a call that sends the message. The title is the text of the notification. It
// is escaped, because the text is markup of Slack.
func (m message) options() []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.title, true), slack.MsgOptionDisableMarkdown(), slack.MsgOptionBlocks(m.blocks()...),
	}
}

// withoutControls returns the message without its controls.
func (m message) withoutControls() message {
	m.controls = nil
	return m
}

// length returns the maximum length that Slack may count for a text.
func length(s string) int { return len(utf16.Encode([]rune(html.EscapeString(s)))) }

// plain returns s as text in which Slack does not interpret markup, mentions, links or emoji.
func plain(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
}

// headerBlocks returns a title as a block: a header or, if the title is too long for a header, a section.
func headerBlocks(title string) []slack.Block {
	if length(title) > maxHeader {
		return []slack.Block{slack.NewSectionBlock(plain(title), nil, nil)}
	}
	return []slack.Block{slack.NewHeaderBlock(plain(title))}
}

// pending returns the message about an open ask. It has the whole ask, with controls if the ask may be
// answered in Slack. If the ask does not fit, the message has only the link.
func (c *Channel) pending(a askback.Ask) message {
	n := notice.Pending(a, nil)
	m := message{title: n.Title.String()}
	m.controls = c.controls(a)
	m.footer = footer(a.PageURL, len(m.controls) > 0)
	var ok bool
	if m.body, ok = draw(n.Lines); !ok || !m.fits(n.Lines) {
		return short(a)
	}
	return m
}

// fits reports whether a message with these lines is within the limits of Slack.
func (m message) fits(lines []notice.Line) bool {
	total := length(m.title)
	for _, l := range lines {
		total += length(l.Own) + length(l.Foreign) + 1
	}
	return len(m.blocks()) <= maxBlocks && total+weight(m.controls) <= maxTotal
}

// weight returns the length of the option texts in controls.
func weight(controls []slack.Block) (total int) {
	for _, b := range controls {
		actions, ok := b.(*slack.ActionBlock)
		if !ok {
			continue
		}
		for _, e := range actions.Elements.ElementSet {
			for _, o := range optionsOf(e) {
				total += length(o.Text.Text)
			}
		}
	}
	return total
}

// short returns the message for an ask that does not fit in one message.
func short(a askback.Ask) message {
	n := notice.Short(a, true)
	body, ok := draw(n.Lines)
	if !ok {
		n = notice.Short(a, false)
		body, _ = draw(n.Lines)
	}
	return message{title: n.Title.String(), body: body, footer: footer(a.PageURL, false)}
}

// settled returns the message about an ask that needs no answer any more.
func settled(a askback.Ask) message {
	n := notice.Settled(a, true, false)
	body, ok := draw(n.Lines)
	if !ok {
		n = notice.Settled(a, false, false)
		body, _ = draw(n.Lines)
	}
	m := message{title: n.Title.String(), body: body}
	if a.PageURL != "" {
		m.footer = []slack.Block{linkBlock("Details: ", a.PageURL)}
	}
	return m
}

// reminder returns a message that explains why an ask is mentioned again, and when the ask was open. Its title
// is the title of the earlier message, which has the whole ask.
func (c *Channel) reminder(n askback.Notification, why string) message {
	var zone *time.Location
	if c.options.Zone != nil {
		zone = c.options.Zone(n.Person)
	}
	text := "Open on " + view.FormatTime(c.options.Now(), zone) + ". The question is above."
	return message{
		title: why + ": " + c.pending(n.Ask).title, footer: footer(n.Ask.PageURL, false),
		body: []slack.Block{slack.NewSectionBlock(plain(text), nil, nil)},
	}
}

// reassigned returns the message for a person who is not asked any more.
func reassigned(a askback.Ask) message {
	others := strings.Join(names(a.People()), ", ")
	if others == "" {
		others = "other people"
	}
	return message{title: "No answer needed any more", body: []slack.Block{
		slack.NewSectionBlock(plain("This is now for "+others+"."), nil, nil),
	}}
}

func names(people []string) (names []string) {
	for i, name := range people {
		if i == maxNames {
			return append(names, "others")
		}
		names = append(names, safetext.Line(name).String())
	}
	return names
}

// maxNames is the maximum number of people that a message lists.
const maxNames = 5

// test returns the message that askback channel test sends.
func test() message {
	n := notice.Test()
	body, _ := draw(n.Lines)
	return message{title: n.Title.String(), body: body}
}

// notePlain returns a message with a text for one person. If the text does not fit, the message points to the
// page of the ask.
func notePlain(text string) message {
	lines := strings.SplitSeq(text, "\n")
	var all []notice.Line
	for l := range lines {
		all = append(all, notice.Own("%s", l))
	}
	body, ok := draw(all)
	if !ok {
		body = []slack.Block{slack.NewSectionBlock(plain("See the page of this ask."), nil, nil)}
	}
	return message{title: "Askback", body: body}
}

// footer returns the last block of a message about an open ask. It returns nil if the message has controls
// and no link.
func footer(link string, controls bool) []slack.Block {
	switch {
	case link == "" && controls:
		return nil
	case link == "":
		return []slack.Block{slack.NewSectionBlock(plain("Answer at the computer: askback inbox"), nil, nil)}
	case controls:
		return []slack.Block{linkBlock("Or answer on the page: ", link)}
	}
	return []slack.Block{linkBlock("Answer on the page: ", link)}
}

// linkBlock returns a block with words and a link. The words are not markup.
func linkBlock(words, link string) slack.Block {
	return slack.NewRichTextBlock("", slack.NewRichTextSection(
		slack.NewRichTextSectionTextElement(words, nil), slack.NewRichTextSectionLinkElement(link, "", nil),
	))
}

// draw returns lines as blocks without markup. It reports false if a line does not fit or there is no text.
// Exact lines are preformatted text in a frame, without the gutter. Other lines are sections.
func draw(lines []notice.Line) (blocks []slack.Block, ok bool) {
	var part []string
	var exact bool
	total := 0
	flush := func() {
		text := strings.Join(part, "\n")
		part, total = nil, 0
		switch {
		case strings.TrimSpace(text) == "":
		case exact:
			e := slack.NewRichTextSectionTextElement(text, nil)
			blocks = append(blocks, slack.NewRichTextBlock("", &slack.RichTextPreformatted{
				Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{e},
			}))
		default:
			blocks = append(blocks, slack.NewSectionBlock(plain(text), nil, nil))
		}
	}
	for _, l := range lines {
		s := l.Own + l.Foreign + l.Link
		if l.Exact {
			s = l.Foreign
		}
		size := length(s) + 1
		if size > maxText {
			return nil, false
		}
		if l.Exact != exact || total+size > maxText {
			flush()
		}
		exact = l.Exact
		part, total = append(part, s), total+size
	}
	flush()
	return blocks, len(blocks) > 0
}
