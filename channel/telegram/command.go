package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// commands are the commands of the bot, as its menu shows them.
var commands = []struct{ name, help string }{
	{"list", "Show the questions that are open"},
	{"snooze", "Hide a question from the list: reply to it with /snooze 2h"},
	{"decline", "Decline to answer: reply to a question with /decline and a reason"},
	{"help", "Explain how to answer"},
	{"stop", "Unlink this chat: it gets no more questions"},
}

// parseCommand returns the command in a message, such as "list" for "/list@bot all", and the text after it.
// It reports false if the message does not begin with a slash.
func parseCommand(m message) (name, argument string, ok bool) {
	rest, ok := strings.CutPrefix(m.Text, "/")
	if !ok {
		return "", "", false
	}
	name, argument, _ = strings.Cut(rest, " ")
	name, _, _ = strings.Cut(name, "@")
	return strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(argument), true
}

// link links a private chat to the person with the code. A repeat changes nothing, because the chat is
// already linked. A wrong code is reported to the user and is not an error.
func (c *Channel) link(ctx context.Context, e Engine, m message, code string) error {
	if _, err := c.signer.verify(m.Chat.ID, code); err == nil {
		c.tell(ctx, m.Chat.ID, 0, plain("Write your text as a reply to the message that asks for it."), nil)
		return nil
	}
	contact, err := e.LinkContact(ctx, Name, code, address(m.From.ID), displayName(*m.From))
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrForbidden):
		if known, err := e.ContactAt(ctx, Name, address(m.From.ID)); err == nil {
			c.tell(ctx, m.Chat.ID, 0, greeting(known), nil)
			return nil
		}
		c.options.Log.Warn("a wrong code was refused in Telegram", "user", m.From.ID)
		c.tell(ctx, m.Chat.ID, 0,
			plain("This code is wrong or has expired. Run askback channel link telegram for a new one."), nil)
		return nil
	case errors.Is(err, askback.ErrTooFast):
		c.options.Log.Warn("a Telegram user guesses codes", "user", m.From.ID)
		return nil
	case err != nil:
		return err
	}
	c.options.Log.Info("a chat of Telegram was linked", "person", contact.Person, "user", m.From.ID)
	t := greeting(contact)
	if client, _, err := e.ContactClient(ctx, Name, address(m.From.ID), askback.ChannelTelegram); err == nil {
		if open, err := client.List(ctx, askback.Query{Snoozed: new(bool), Limit: 1}); err == nil &&
			len(open.Items) > 0 {
			t.add(" Questions that are already open do not arrive here: /list shows them.")
		}
	}
	c.tell(ctx, m.Chat.ID, 0, t, nil)
	return nil
}

func greeting(contact askback.Contact) *text {
	t := &text{}
	t.add("This chat is linked: questions for ")
	t.addAs("code", safetext.Line(contact.Person).String(), "")
	t.add(" arrive here. /help explains how to answer, and /stop unlinks the chat.")
	return t
}

// command performs a command of a person in a private chat. An unknown command is answered with the help.
func (v visit) command(ctx context.Context, e Engine, name, argument string, m message) error {
	switch name {
	case "start":
		v.tell(ctx, v.chat.ID, 0, greeting(askback.Contact{Person: v.person}), nil)
	case "list":
		return v.list(ctx)
	case "snooze":
		return v.snooze(ctx, argument, m)
	case "decline":
		return v.declineBy(ctx, argument, m)
	case "stop":
		if err := e.RemoveContact(ctx, Name, address(m.From.ID)); err != nil && !errors.Is(err, askback.ErrNotFound) {
			return err
		}
		v.options.Log.Info("a chat of Telegram was unlinked", "person", v.person, "why", "/stop")
		v.tell(ctx, v.chat.ID, 0, plain("This chat is not linked any more, and gets no questions. To link it again, "+
			"run askback channel link telegram."), nil)
	default:
		v.tell(ctx, v.chat.ID, 0, plain(helpText), nil)
	}
	return nil
}

const helpText = `Questions of agents arrive here as messages.

Press a button to answer. Where you may write your own answer, press Write an answer, or reply to the message of the question.
Several questions come one after another; nothing is sent before you press Send the answers.
What you have begun is kept, and is also on the page of the question.
A dangerous call is decided on its page.

/list shows the questions that are open
/snooze hides one: reply to its message with /snooze 2h, /snooze evening or /snooze monday
/decline declines one: reply to its message with /decline, and a reason if you like
/stop unlinks this chat`

// declineBy declines the ask to whose message m is a reply. Its argument is the reason.
func (v visit) declineBy(ctx context.Context, reason string, m message) error {
	p, ok := v.subject(m)
	if !ok {
		v.tell(ctx, v.chat.ID, 0,
			plain("Reply to the message of the question with /decline, and a reason if you like."), nil)
		return nil
	}
	a, err := v.client.Get(ctx, p.AskID)
	var r reaction
	switch {
	case err != nil:
		r, err = v.refused(ctx, a, err)
	case !a.Settled() && !v.screen(a, v.person, v.chat.ID, p.MessageID).answerable():
		r = say("This must be answered on its page.")
	default:
		r, err = v.decline(ctx, a, reason)
	}
	if err != nil {
		return err
	}
	v.tell(ctx, v.chat.ID, m.ID, plain(r.text), nil)
	return nil
}

// maxListed is the maximum number of asks in a list.
const maxListed = 10

// list sends the open asks, with buttons that point to their messages.
func (v visit) list(ctx context.Context) error {
	found, err := v.client.List(ctx, askback.Query{Snoozed: new(bool), Limit: maxListed + 1})
	if err != nil {
		return err
	}
	t := &text{}
	var row []button
	for i, a := range found.Items {
		if i == maxListed {
			t.add("There are more.\n")
			break
		}
		s := v.screen(a, v.person, v.chat.ID, v.located(a.ID, v.chat.ID))
		t.add(strconv.Itoa(i+1) + ". ")
		t.addAs("code", cut(s.view.Headline().String(), maxStateQuestion), "")
		t.add(" from ")
		t.addAs("code", cut(s.view.From().String(), maxLabel), "")
		if s.link != "" {
			t.add(" ")
			t.addAs("text_link", "open", s.link)
		}
		t.add("\n")
		if s.messageID != 0 {
			row = append(row, s.press(strconv.Itoa(i+1), locate, 0, 0))
		}
	}
	if len(found.Items) == 0 {
		t.add("No question is open.")
	}
	var markup any
	if len(row) > 0 {
		markup = keyboard{rows(row)}
		t.add("\nA button shows where the message of the question is.")
	}
	v.tell(ctx, v.chat.ID, 0, t, markup)
	return nil
}

// rows splits buttons into rows of at most maxRow.
func rows(all []button) (out [][]button) {
	for len(all) > 0 {
		n := min(len(all), maxRow)
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

// snooze hides an ask until a time. The message m is a reply to a message about the ask. If m is not such a
// reply, snooze hides the only open ask. The time counts from the time of m, so the command can be repeated.
func (v visit) snooze(ctx context.Context, argument string, m message) error {
	id := ""
	if p, ok := v.subject(m); ok {
		id = p.AskID
	}
	if id == "" {
		found, err := v.client.List(ctx, askback.Query{Snoozed: new(bool), Limit: 2})
		if err != nil {
			return err
		}
		if len(found.Items) != 1 {
			v.tell(ctx, v.chat.ID, 0,
				plain("Reply to the message of the question with /snooze and a time, such as /snooze 2h."), nil)
			return nil
		}
		id = found.Items[0].ID
	}
	if argument == "" {
		argument = "1h"
	}
	sent, zone := time.Unix(m.Date, 0), time.UTC
	if v.options.Zone != nil {
		zone = v.options.Zone(v.person)
	}
	until, err := view.ParseSnooze(argument, sent, zone)
	if err == nil {
		err = askback.CheckSnooze(until, v.options.Now())
	}
	if err != nil {
		v.tell(ctx, v.chat.ID, m.ID, plain("This is not a time in the future. Write /snooze 2h, /snooze 18:00, "+
			"/snooze tomorrow or /snooze monday."), nil)
		return nil
	}
	_, err = v.client.Snooze(ctx, id, until)
	text := fmt.Sprintf("Hidden from the list until %s %s. It can still be answered.",
		view.FormatSnooze(until, sent, zone), view.ZoneName(until.In(zone)))
	if err != nil {
		a, _ := v.client.Get(ctx, id)
		r, err := v.refused(ctx, a, err)
		if err != nil {
			return err
		}
		text = r.text
	}
	v.tell(ctx, v.chat.ID, m.ID, plain(text), nil)
	return nil
}
