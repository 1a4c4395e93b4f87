package telegram

import (
	"context"
	"errors"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A visit is one person in one chat, whose action an update reports.
type visit struct {
	*Channel
	client askback.PersonClient
	person string
	chat   chat
}

// A reaction is the response to an action of a person.
type reaction struct {
	text     string // text of the response, or ""
	alert    bool   // the text is shown until the person closes it
	question int    // question that the message of the ask shows next; see stay
	settled  bool   // whether the message of the ask is drawn as settled
}

// stay is the value of question in a reaction that does not change the message of the ask.
const stay = -1

func say(text string) reaction   { return reaction{text: text, question: stay} }
func alert(text string) reaction { return reaction{text: text, alert: true, question: stay} }

// Texts for people who may not do what they tried. They contain no part of an ask.
const (
	unknownText = "This account is not linked to a person. If you have access to Askback, run: askback channel " +
		"link telegram"
	notYoursText = "This question is not addressed to you, or it no longer exists."
	oldText      = "This button is not valid any more. /list shows what is open."
)

// visitor returns the visit of a user. If the user may not answer, the result why is a text that explains the
// reason to the user.
func (c *Channel) visitor(ctx context.Context, e Engine, from user, in chat) (v visit, why string, err error) {
	client, contact, err := e.ContactClient(ctx, Name, address(from.ID), askback.ChannelTelegram)
	switch {
	case errors.Is(err, askback.ErrNotFound):
		c.options.Log.Info("a user of Telegram who is not linked was refused", "user", from.ID, "chat", in.ID)
		return v, unknownText, nil
	case errors.Is(err, askback.ErrForbidden):
		c.options.Log.Warn("a person who may not answer any more was refused in Telegram", "person", contact.Person)
		return v, "You may not answer here any more.", nil
	case err != nil:
		return v, "", err
	}
	return visit{c, client, contact.Person, in}, "", nil
}

// pressed handles the press of a button. The returned error means that the press must be handled again.
func (c *Channel) pressed(ctx context.Context, e Engine, q callbackQuery) error {
	refuse := func(text string) error {
		c.logAnswer(ctx, c.api.answer(ctx, q.ID, text, true))
		return nil
	}
	if q.Message == nil {
		return refuse(oldText)
	}
	in := q.Message.Chat
	if in.private() && in.ID != q.From.ID || !in.private() && !c.allowed(in.ID) {
		c.options.Log.Warn("a button in a chat that is not allowed was refused", "user", q.From.ID, "chat", in.ID)
		return refuse(unknownText)
	}
	v, why, err := c.visitor(ctx, e, q.From, in)
	if err != nil || why != "" {
		if err == nil {
			err = refuse(why)
		}
		return err
	}
	p, err := c.signer.verify(in.ID, q.Data)
	if err == nil && p.Action != locate && p.MessageID != q.Message.ID {
		err = errors.New("this data is from another message")
	}
	if err != nil {
		c.options.Log.Warn("a button of Telegram was refused", "person", v.person, "error", err)
		return refuse(oldText)
	}
	if p.Action == locate {
		c.logAnswer(ctx, c.api.answer(ctx, q.ID, "", false))
		v.point(ctx, p.MessageID)
		return nil
	}
	r, err := v.act(ctx, p)
	if err != nil {
		return err
	}
	c.logAnswer(ctx, c.api.answer(ctx, q.ID, r.text, r.alert))
	v.show(ctx, p, r)
	return nil
}

func (c *Channel) logAnswer(ctx context.Context, err error) {
	if err != nil {
		c.logFailure(ctx, "an answer to a button was not sent", err)
	}
}

// act performs the action of a button and commits its result. It returns an error only if a retry can
// succeed.
func (v visit) act(ctx context.Context, p press) (reaction, error) {
	a, err := v.client.Get(ctx, p.AskID)
	switch {
	case err != nil:
		return v.refused(ctx, a, err)
	case a.Settled() && p.Action != choose && p.Action != approve && p.Action != deny:
		return v.refused(ctx, a, askback.ErrSettled)
	}
	// An answer to a settled ask goes to the engine, which records it as late.
	s := v.screen(a, v.person, v.chat.ID, p.MessageID)
	pending := s
	pending.ask.Outcome = nil
	switch {
	case !pending.answerable() || !hasButton(a, p):
		v.options.Log.Warn("a button that the message does not have was refused", "person", v.person, "ask", a.ID,
			"action", string(p.Action))
		return alert(oldText), nil
	}
	defer v.seen(ctx, a) // deferred, because an answer also marks the ask as seen
	switch {
	case p.Action == approve, p.Action == deny:
		return v.answer(ctx, a, decision(p.Action))
	case p.Action == decline:
		return v.decline(ctx, a, "")
	case p.Action == writeOther, p.Action == writeNotes, p.Action == writeReason, p.Action == writeDecline:
		return v.prompt(ctx, a, p), nil
	}
	d, err := loadDraft(ctx, v.client, a.ID)
	if err != nil {
		return v.refused(ctx, a, err)
	}
	return v.fillIn(ctx, a, p, d)
}

// seen records that the person has an ask on the screen. It does not change a settled ask.
func (v visit) seen(ctx context.Context, a askback.Ask) {
	err := v.client.Seen(ctx, a.ID)
	if err != nil && !errors.Is(err, askback.ErrNotFound) && ctx.Err() == nil {
		v.options.Log.Warn("could not record that a message in Telegram was seen", "person", v.person, "ask", a.ID,
			"error", err)
	}
}

// hasButton reports whether the ask has a button for p.
func hasButton(a askback.Ask, p press) bool {
	switch p.Action {
	case approve, deny, writeReason:
		return a.Confirmation != nil
	case submit, decline, writeDecline:
		return a.Confirmation == nil
	case goTo:
		return a.Confirmation == nil && p.Question <= len(a.Questions)+1
	}
	if a.Confirmation != nil || p.Question >= len(a.Questions) {
		return false
	}
	q := a.Questions[p.Question]
	switch p.Action {
	case choose, mark, unmark:
		return p.Option < len(q.Options) && q.MultiSelect == (p.Action != choose)
	case leaveOut:
		return q.Optional
	case writeOther:
		return !q.NoOther
	}
	return p.Action == writeNotes
}

// fillIn changes the draft as p requires. If the question is the only one and now has its answer, or the
// person submits the draft, fillIn sends the answer.
func (v visit) fillIn(ctx context.Context, a askback.Ask, p press, d draft) (reaction, error) {
	several := len(a.Questions) > 1
	if p.Action == goTo {
		return reaction{question: p.Question}, nil
	}
	if p.Action == submit {
		return v.submit(ctx, a, d)
	}
	q := a.Questions[p.Question]
	e := d.entry(q)
	next := p.Question + 1
	switch p.Action {
	case choose:
		e.Picks, e.Other, e.OtherPicked = []int{p.Option}, "", false
	case mark:
		e.Picks, next = append(e.Picks, p.Option), p.Question
	case unmark:
		var rest []int
		for _, n := range e.Picks {
			if n != p.Option {
				rest = append(rest, n)
			}
		}
		e.Picks, next = rest, p.Question
	case leaveOut:
		e = view.Entry{}
	}
	d.set(q, e)
	if !several && (p.Action == choose || p.Action == leaveOut) {
		return v.answer(ctx, a, d.answer(a))
	}
	if err := d.save(ctx, v.client, a.ID); err != nil {
		return v.refused(ctx, a, err)
	}
	return reaction{question: next}, nil
}

// submit sends the answers of the draft. If a required answer is missing, the message shows its question.
func (v visit) submit(ctx context.Context, a askback.Ask, d draft) (reaction, error) {
	for i, q := range a.Questions {
		if !answered(d.entry(q)) && !q.Optional {
			r := alert("This question is not answered yet.")
			r.question = i
			return r, nil
		}
	}
	return v.answer(ctx, a, d.answer(a))
}

// answer commits an answer and returns the reaction to its result.
func (v visit) answer(ctx context.Context, a askback.Ask, answer askback.Answer) (reaction, error) {
	after, err := v.client.Answer(ctx, a.ID, answer)
	if err != nil {
		return v.refused(ctx, after, err)
	}
	if !after.Settled() {
		return say("Recorded. Other people must decide as well."), nil
	}
	v.options.Log.Debug("answered in Telegram", "person", v.person, "ask", a.ID)
	switch {
	case a.Confirmation != nil && after.Outcome.Approved():
		return say("Approved."), nil
	case a.Confirmation != nil:
		return say("Denied."), nil
	}
	return say("Answered."), nil
}

// decline declines an ask and returns the reaction to the result.
func (v visit) decline(ctx context.Context, a askback.Ask, reason string) (reaction, error) {
	after, err := v.client.Decline(ctx, a.ID, reason)
	if err != nil {
		return v.refused(ctx, after, err)
	}
	v.options.Log.Debug("declined in Telegram", "person", v.person, "ask", a.ID)
	return say("You declined to answer."), nil
}

// refused returns the reaction to err. If a retry can succeed, it returns err instead. A person whose answer
// was late is told who was first.
func (v visit) refused(ctx context.Context, a askback.Ask, err error) (reaction, error) {
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrSettled) && a.Settled():
		r := alert(view.ConflictOf(*a.Outcome, v.person).Sentence.String() + ".")
		r.settled = true
		return r, nil
	case errors.Is(err, askback.ErrNotApprover):
		other, _ := errors.AsType[askback.NotApproverError](err)
		return alert("Not recorded: " + safetext.Line(other.Error()).String() + "."), nil
	case errors.Is(err, askback.ErrSelfApproval):
		return alert("Not recorded: " + askback.ErrSelfApproval.Error() + "."), nil
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrForbidden):
		v.options.Log.Warn("an answer in Telegram was refused", "person", v.person, "error", err)
		return alert(notYoursText), nil
	case errors.As(err, &invalid):
		return alert(
			"This cannot be sent: " + safetext.Line(strings.TrimSuffix(invalid[0].Detail, ".")).String() + ".",
		), nil
	case isTransient(err) || ctx.Err() != nil:
		return reaction{}, err
	}
	v.logFailure(ctx, "an answer in Telegram failed", err, "person", v.person)
	return alert("The action failed. Try again, or answer at the computer."), nil
}

// show draws the message of an ask after a reaction. If the ask is settled while show draws the message, show
// draws it again, without buttons. The outcome is committed before the channel draws it. So either the
// channel draws the outcome after this call, or this call reads the outcome.
func (v visit) show(ctx context.Context, p press, r reaction) {
	if r.question == stay && !r.settled {
		return
	}
	a, err := v.client.Get(ctx, p.AskID)
	for range 2 {
		if err != nil {
			break
		}
		s := v.screen(a, v.person, v.chat.ID, p.MessageID)
		if a.Settled() {
			err = v.edit(ctx, s.settled())
			break
		}
		var d draft
		if d, err = loadDraft(ctx, v.client, a.ID); err != nil {
			break
		}
		if err = v.edit(ctx, s.draw(max(r.question, 0), d)); err != nil {
			break
		}
		if a, err = v.client.Get(ctx, p.AskID); err == nil && !a.Settled() {
			return
		}
	}
	if err != nil {
		v.logFailure(ctx, "a message in Telegram was not changed", err)
	}
}
