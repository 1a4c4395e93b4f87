package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// maxPatience is the maximum pause that deliver waits if Telegram requests a pause. A person may be waiting
// for the message.
const maxPatience = 5 * time.Second

// deliver sends a message. If the message has an id, deliver edits the existing message. If Telegram requests
// a short pause, deliver waits and tries again, once. An edit of a deleted message is not an error.
func (c *Channel) deliver(ctx context.Context, out outgoing) (err error) {
	for range 2 {
		if out.MessageID != 0 {
			err = ignoreGone(c.api.edit(ctx, out))
		} else if err = c.limits.wait(ctx, out.ChatID); err == nil {
			_, err = c.api.send(ctx, out)
		}
		var failed *apiError
		if !errors.As(err, &failed) || failed.code != http.StatusTooManyRequests || failed.retryAfter > maxPatience ||
			pause.For(ctx, failed.retryAfter) != nil {
			return err
		}
	}
	return err
}

func (c *Channel) edit(ctx context.Context, out outgoing) error { return c.deliver(ctx, out) }

// tell sends a text to a chat, as a reply to the message replyTo unless replyTo is 0. An error is logged.
func (c *Channel) tell(ctx context.Context, chatID, replyTo int64, t *text, markup any) {
	out := t.outgoing(chatID, 0)
	out.Markup = markup
	if replyTo != 0 {
		out.ReplyTo = &replyParameters{MessageID: replyTo, AllowWithout: true}
	}
	if err := c.deliver(ctx, out); err != nil {
		c.logFailure(ctx, "a message in Telegram was not sent", err)
	}
}

func plain(s string) *text {
	t := &text{}
	t.add(s)
	return t
}

// point sends a reply to the message about an ask, so that a tap on the reply opens the message.
func (v visit) point(ctx context.Context, messageID int64) {
	v.tell(ctx, v.chat.ID, messageID, plain("The message is here ↑"), nil)
}

// prompt asks the person for a text, as a reply to the prompt. The purpose of the text is signed in a link of
// the prompt, which is part of the reply. So a restart in between loses nothing. In a group, prompt returns
// an explanation instead.
func (v visit) prompt(ctx context.Context, a askback.Ask, p press) reaction {
	if v.chat.ID < 0 {
		return alert("Reply to the message of the question with your own answer.")
	}
	t := &text{}
	placeholder := ""
	switch p.Action {
	case writeReason:
		t.add("Write why you deny ")
		placeholder = "Why you deny it"
	case writeDecline:
		t.add("Write why you decline to answer ")
		placeholder = "Why you decline"
	case writeNotes:
		t.add("Write your note on ")
		placeholder = "Your note"
	default:
		t.add("Write your own answer to ")
		placeholder = "Your answer"
	}
	what := "this question"
	switch {
	case a.Confirmation != nil:
		what = "this call"
	case len(a.Questions) > 1 && p.Action == writeDecline:
		what = "these questions"
	case len(a.Questions) > 1:
		what = fmt.Sprintf("question %d of %d", p.Question+1, len(a.Questions))
	}
	t.addAs("text_link", what, v.startLink(v.signer.sign(v.chat.ID, p)))
	t.add(", as a reply to this message.")
	v.tell(ctx, v.chat.ID, p.MessageID, t, forceReply{true, placeholder})
	return reaction{question: stay}
}

// startLink returns a link that starts the bot with a payload.
func (c *Channel) startLink(payload string) string {
	name := ""
	if me := c.me.Load(); me != nil {
		name = me.Username
	}
	return "https://t.me/" + name + "?start=" + payload
}

// written handles a message that a user wrote. The returned error means that the message must be handled
// again.
func (c *Channel) written(ctx context.Context, e Engine, m message) error {
	if m.Chat.private() && m.Chat.ID != m.From.ID {
		return nil
	}
	name, argument, isCommand := parseCommand(m)
	if isCommand && m.Chat.private() && name == "start" && argument != "" {
		return c.link(ctx, e, m, argument)
	}
	v, why, err := c.visitor(ctx, e, *m.From, m.Chat)
	switch {
	case err != nil:
		return err
	case why != "":
		if m.Chat.private() && c.mayRefuse(m.From.ID) {
			c.tell(ctx, m.Chat.ID, 0, plain(why), nil)
		}
		return nil
	case isCommand && m.Chat.private():
		return v.command(ctx, e, name, argument, m)
	case isCommand: // in a group, a command may be for another bot
		return nil
	}
	p, ok := c.subject(m)
	if !ok {
		if m.Chat.private() {
			c.tell(ctx, m.Chat.ID, 0,
				plain("Answer with the buttons of a question, or by a reply to its message. /list shows what is open."),
				nil)
		}
		return nil
	}
	return v.reply(ctx, m, p)
}

// subject returns the press that a reply completes. For a reply to a prompt, this is the press in the link of
// the prompt. For a reply to a question, this is the press of own words. It reports false if m is not such a
// reply.
func (c *Channel) subject(m message) (press, bool) {
	if !c.isReplyToBot(m) {
		return press{}, false
	}
	for _, entity := range m.ReplyTo.Entities {
		if data, ok := strings.CutPrefix(entity.URL, c.startLink("")); ok && entity.Type == "text_link" {
			if p, err := c.signer.verify(m.Chat.ID, data); err == nil {
				return p, true
			}
		}
	}
	m.ReplyTo.Chat = m.Chat
	p, ok := c.signer.shown(*m.ReplyTo)
	switch p.Action {
	case writeNotes, writeReason:
	case writeDecline, decline:
		p.Action = decline // a text alone does not decline
	default:
		p.Action = writeOther
	}
	return p, ok
}

// reply commits a text that a person wrote as a reply, and shows the result.
func (v visit) reply(ctx context.Context, m message, p press) error {
	r, err := v.write(ctx, p, m.Text)
	if err != nil {
		return err
	}
	if r.text != "" {
		v.tell(ctx, v.chat.ID, m.ID, plain(r.text), nil)
	}
	v.show(ctx, p, r)
	return nil
}

// write commits a text that the person wrote for the press p: as the answer to the ask, or as a part of the
// draft.
func (v visit) write(ctx context.Context, p press, written string) (reaction, error) {
	a, err := v.client.Get(ctx, p.AskID)
	switch {
	case err != nil:
		return v.refused(ctx, a, err)
	case a.Settled():
		return v.late(ctx, a, p, written)
	}
	defer v.seen(ctx, a)
	switch {
	case p.Action == decline:
		return say("Please press a button: decline, or go back to answer."), nil
	case a.Confirmation != nil && p.Action != writeReason:
		return say("Decide with the buttons, please: a text decides nothing."), nil
	}
	switch s := v.screen(a, v.person, v.chat.ID, p.MessageID); {
	case !s.answerable():
		return say("This must be answered on its page."), nil
	case strings.TrimSpace(written) == "":
		return say("Only a text can be an answer."), nil
	case p.Action == writeOther && p.Question < len(a.Questions) && a.Questions[p.Question].NoOther:
		return say("This question takes no text of your own. Choose with the buttons."), nil
	case !hasButton(a, p):
		return say(oldText), nil
	case p.Action == writeReason:
		return v.answer(ctx, a, askback.Decide(askback.Deny, written))
	case p.Action == writeDecline:
		return v.decline(ctx, a, written)
	}
	return v.store(ctx, a, p, written)
}

// late sends a late text to the engine if the text alone would have been an answer. The engine records the
// text. The reaction explains how the ask was settled.
func (v visit) late(ctx context.Context, a askback.Ask, p press, written string) (reaction, error) {
	if p.Action == writeReason && a.Confirmation != nil {
		return v.answer(ctx, a, askback.Decide(askback.Deny, written))
	}
	if p.Action == writeOther && len(a.Questions) == 1 && !a.Questions[0].NoOther {
		return v.answer(ctx, a, askback.Choose(written))
	}
	return v.refused(ctx, a, askback.ErrSettled)
}

// store stores a text in the draft. If the text alone is the answer, store sends the answer.
func (v visit) store(ctx context.Context, a askback.Ask, p press, written string) (reaction, error) {
	d, err := loadDraft(ctx, v.client, a.ID)
	if err != nil {
		return v.refused(ctx, a, err)
	}
	q := a.Questions[p.Question]
	e := d.entry(q)
	r := reaction{text: "Your note is added.", question: p.Question}
	switch {
	case p.Action == writeNotes:
		e.Notes = view.RawText(written)
	case q.MultiSelect:
		e.Other, e.OtherPicked = view.RawText(written), true
		r.text = "Your answer is noted. Choose more, or go on."
	default:
		e = view.Entry{Other: view.RawText(written), OtherPicked: true, Notes: e.Notes}
		r = reaction{text: "Your answer is noted.", question: p.Question + 1}
	}
	d.set(q, e)
	if len(a.Questions) == 1 && !q.MultiSelect && p.Action == writeOther {
		return v.answer(ctx, a, d.answer(a))
	}
	if err := d.save(ctx, v.client, a.ID); err != nil {
		return v.refused(ctx, a, err)
	}
	switch {
	case r.question == p.Question:
	case r.question < len(a.Questions):
		r.text += fmt.Sprintf(" Next: question %d of %d.", r.question+1, len(a.Questions))
	default:
		r.text += " Check your answers and send them."
	}
	return r, nil
}

// refusalPause is the minimum pause between two replies to a user who is not linked.
const refusalPause = time.Minute

// mayRefuse reports whether a user who is not linked gets a reply now. If so, mayRefuse records the time of
// the reply.
func (c *Channel) mayRefuse(userID int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	if len(c.refused) > maxChats {
		clear(c.refused)
	}
	if at, ok := c.refused[userID]; ok && now.Sub(at) < refusalPause {
		return false
	}
	c.refused[userID] = now
	return true
}

// displayName returns the name of a user's account, for people.
func displayName(u user) string {
	if u.Username != "" {
		return "@" + safetext.Line(u.Username).String()
	}
	return cut(safetext.Line(u.FirstName).String(), 60)
}
