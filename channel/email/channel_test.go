package email_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/email/emailtest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/test/kit/racedetector"
)

// A mailer is a mail server with two people who read mails.
type mailer struct {
	t        testing.TB
	s        *emailtest.Server
	settings channeltest.Settings

	mu   sync.Mutex
	sent int    // replies
	last string // the last reply
}

func (m *mailer) Open(t testing.TB) channeltest.Channel {
	o := options(t, m.s, emailtest.None)
	o.Now, o.Log, o.Link = m.settings.Now, m.settings.Log, m.settings.Link
	o.Zone = m.settings.Zone
	c := newChannel(t, o)
	return channeltest.Channel{Send: c, Run: func(ctx context.Context, e *engine.Engine) { c.Run(ctx, e) }}
}

func (m *mailer) Join(context.Context, *engine.Engine, string) error { return nil }

func (m *mailer) Receivers() (all []engine.Receiver) {
	for _, person := range []string{"ana", "ben"} {
		all = append(all, engine.Receiver{Channel: "email", Name: person, Person: person})
	}
	return all
}

func (m *mailer) Address(person string) string { return person }

func (m *mailer) Secrets() []string {
	return []string{emailtest.Password, strings.Repeat("k", 32)}
}

// letters returns the letters to a person. Like a mailbox, it returns several letters with the same id as one
// letter.
func (m *mailer) letters(person string) (all []emailtest.Letter) {
	for _, one := range m.s.Messages() {
		l := one.Decode(m.t)
		same := func(other emailtest.Letter) bool {
			return other.Header.Get("Message-Id") == l.Header.Get("Message-Id")
		}
		if slices.Equal(one.To, []string{person + "@example.com"}) && !slices.ContainsFunc(all, same) {
			all = append(all, l)
		}
	}
	return all
}

var askOfLink = regexp.MustCompile(regexp.QuoteMeta(channeltest.Pages) + `/\S*?(ask_[0-9a-z]+)\S*`)

func (m *mailer) Messages(person string) (all []channeltest.Message) {
	for _, l := range m.letters(person) {
		text := strings.ReplaceAll(l.Text, joiner, "")
		out := channeltest.Message{
			ID: l.Header.Get("Message-Id"), Text: l.Field("Subject") + "\n" + text,
			Also:    []string{visible(m.t, l.Markup)},
			Settled: strings.Contains(text, "\nDone: ") || strings.HasPrefix(text, "Done: "),
			Live:    strings.Contains(text, "Or reply to this mail"), Damage: acts(m.t, l),
		}
		if found := askOfLink.FindStringSubmatch(l.Text); found != nil {
			out.Link, out.AskID = found[0], found[1]
		}
		for i := range all {
			if all[i].AskID == out.AskID && out.Settled {
				all[i].Live = false
			}
		}
		all = append(all, out)
	}
	return all
}

const joiner = "\u2060"

// linkable matches text that mail programs turn into a link.
var linkable = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S+|\bwww\.\w\S*|\b[\w.+-]+@[\w-]+\.[\w.-]+|\b(mailto|tel|javascript|data|file):\S+|\\\\\w+\\|\b[\w-]+\.(com|example|org|net|io|md|sh)\b\S*`)

// acts returns the parts of a letter that a mail program would act on, apart from the link to the page.
func acts(t testing.TB, l emailtest.Letter) (all []string) {
	for _, text := range []string{withoutArguments(l.Text), visibleWith(t, l.Markup, true)} {
		for _, link := range linkable.FindAllString(text, -1) {
			if !strings.HasPrefix(link, channeltest.Pages+"/") {
				all = append(all, "the link "+link)
			}
		}
	}
	tokens := html.NewTokenizer(strings.NewReader(l.Markup))
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		if !slices.Contains([]string{
			"html", "head", "meta", "body", "div", "br", "bdi", "a", "pre", "span", "wbr",
		}, token.Data) {
			all = append(all, "the element "+token.Data)
		}
		for _, a := range token.Attr {
			if strings.Contains(a.Val, "://") && (a.Key != "href" || !strings.HasPrefix(a.Val, channeltest.Pages+"/")) {
				all = append(all, "the attribute "+a.Key+"="+a.Val)
			}
		}
	}
	for name, values := range l.Header {
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") || name == "Bcc" {
				all = append(all, "the field "+name)
			}
		}
	}
	return all
}

// withoutArguments returns a text without the exact arguments of a call, which no joiner may change.
func withoutArguments(text string) string {
	var kept []string
	exact := false
	for line := range strings.SplitSeq(text, "\n") {
		if exact = line == "Arguments:" || exact && strings.HasPrefix(line, notice.Gutter); !exact {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// visible returns the text that a mail program shows for HTML.
func visible(t testing.TB, markup string) string {
	return strings.ReplaceAll(visibleWith(t, markup, false), joiner, "")
}

// visibleWith returns the text of HTML with its joiners. With breaks, a line end is where an element divides a
// word.
func visibleWith(t testing.TB, markup string, breaks bool) string {
	t.Helper()
	var b strings.Builder
	exact := false
	tokens := html.NewTokenizer(strings.NewReader(markup))
	for tokens.Next() != html.ErrorToken {
		switch token := tokens.Token(); {
		case token.Type == html.TextToken && exact:
			b.WriteString(token.Data)
		case token.Type == html.TextToken:
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(token.Data, "\n", " "), "\u00a0", " "))
		case token.Data == "pre":
			exact = token.Type == html.StartTagToken
		case token.Data == "br", token.Data == "wbr" && breaks:
			b.WriteString("\n")
		}
	}
	return b.String()
}

// body returns the text that a person writes for an answer.
func body(a askback.Answer) (string, error) {
	switch a.Decision {
	case askback.Approve:
		return "approve", nil
	case askback.Deny:
		return "deny", nil
	}
	var lines []string
	for i, q := range a.Answers {
		if q.Notes != "" {
			return "", errors.ErrUnsupported
		}
		line := strings.Join(append(slices.Clone(q.Selected), q.Other), ", ")
		if q.Other == "" {
			line = strings.Join(q.Selected, ", ")
		}
		if len(a.Answers) > 1 {
			line = fmt.Sprintf("%d: %s", i+1, line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

const quotingStyle = "Content-Type: text/plain; charset=utf-8\n\n{ANSWER}\n\nOn Mon, Nov 23, 2026 at 3:03 PM " +
	"Askback <{TO}> wrote:\n\n{QUOTED}\n"

// deliver delivers a reply of a person. It returns the text of the letter that answers the reply, or "".
func (m *mailer) deliver(person, raw string) (string, error) {
	m.mu.Lock()
	m.sent++
	id := fmt.Sprintf("<reply-%d@example.com>", m.sent)
	if i := strings.Index(raw, "Message-ID: <reply-"); i >= 0 {
		end := i + strings.Index(raw[i:], "\n")
		raw = raw[:i] + "Message-ID: " + id + raw[end:]
	}
	m.last = raw
	m.s.Deliver(m.t, raw)
	m.mu.Unlock()
	waitUnseen(m.t, m.s, 0)
	for _, l := range m.letters(person) {
		if l.Header.Get("In-Reply-To") == id {
			return l.Text, nil
		}
	}
	return "", nil
}

func (m *mailer) reply(id, person string, a askback.Answer) (string, error) {
	answer, err := body(a)
	if err != nil {
		return "", err
	}
	for _, to := range m.letters("ana") {
		if to.Header.Get("Message-Id") == id {
			return reply(to, quotingStyle, answer), nil
		}
	}
	for _, to := range m.letters("ben") {
		if to.Header.Get("Message-Id") == id {
			return strings.ReplaceAll(reply(to, quotingStyle, answer), "Ana Example <ana@", "Ben Example <ben@"), nil
		}
	}
	return "", errors.New("there is no such letter")
}

func (m *mailer) Answer(_ context.Context, person string, to channeltest.Message, a askback.Answer) (string, error) {
	raw, err := m.reply(to.ID, person, a)
	if err != nil {
		return "", err
	}
	return m.deliver(person, raw)
}

// Handle sends a reply that is not an answer.
func (m *mailer) Handle(_ context.Context, person string, to channeltest.Message) error {
	raw, err := m.reply(to.ID, person, askback.Choose("What do you mean?"))
	if err == nil {
		_, err = m.deliver(person, raw)
	}
	return err
}

var replyAddress = regexp.MustCompile(`ask\+([0-9a-z]+)@`)

func (m *mailer) Attack(_ context.Context, how channeltest.Attack, to channeltest.Message, a askback.Answer) error {
	raw, err := m.reply(to.ID, "ana", a)
	if err != nil {
		return err
	}
	token := replyAddress.FindStringSubmatch(raw)[1]
	switch how {
	case channeltest.Stranger:
		raw = strings.ReplaceAll(raw, "ana@example.com", "eve@example.com")
	case channeltest.Forged:
		raw = strings.ReplaceAll(raw, token, token[:27]+strings.Repeat("a", 20))
	case channeltest.Tampered:
		i := strings.IndexByte("01234567", token[0])
		raw = strings.ReplaceAll(raw, token, string("12345670"[i])+token[1:])
	case channeltest.Other:
		raw = strings.ReplaceAll(raw, "ana@example.com", "ben@example.com")
	case channeltest.Replayed:
		m.mu.Lock()
		raw = m.last
		m.mu.Unlock()
	}
	_, err = m.deliver("ana", raw)
	return err
}

func (m *mailer) Fail(how channeltest.Failure, skip, count int) (failed func() int) {
	return m.s.FailAs(map[channeltest.Failure]emailtest.Failure{
		channeltest.TooMany: {Mail: 452}, channeltest.Broken: {Data: 451}, channeltest.LostReply: {LostReply: true},
		channeltest.Slow: {Slow: true},
	}[how], skip, count)
}

// Mails pass the suite of channels (F3, T7, T9, T10, T14).
func TestMailsPassTheSuite(t *testing.T) {
	racedetector.Omit(t)
	channeltest.Test(t, channeltest.Driver{
		Channel: "email", Via: askback.ChannelEmail, Handled: "single", Appends: true,
		Start: func(t testing.TB, s channeltest.Settings) channeltest.Service {
			return &mailer{t: t, s: emailtest.Start(t, emailtest.Options{}), settings: s}
		},
		Short: []string{"1 MB", "call of 1 MB"},
		InPlace: []string{
			"single/choice", "other/choice", "other/own words", "multi/two", "free text/text", "previews/choice",
			"four questions/all", "context/choice", "context object/choice", "right to left/choice", "hostile/choice",
			"hidden characters/choice", "long label/choice", "50 options/choice", "3 800 characters/choice",
			"quotes and newlines/choice", "10 000 characters/choice", "call/approve", "call/deny",
			"action/approve", "action/deny",
			"call with lines/approve", "call with lines/deny", "hostile call/approve", "call of 20 kB/approve",
			"call of 20 kB/deny",
		},
	})
}
