package email

import (
	"context"
	"errors"

	"github.com/emersion/go-message/textproto"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// An Engine provides the clients of people.
type Engine interface {
	// Person returns the client of a person who answers through the channel via. The error is
	// [askback.ErrForbidden] if the person may not answer.
	Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error)
}

// maxAgain is the maximum number of times that a person is asked again about one ask. More attempts would not
// help, and two programs could reply to each other for ever.
const maxAgain = 3

// received is a message that has arrived in the mailbox.
type received struct {
	header textproto.Header
	id     string                 // Message-ID, or another id that is unique in the mailbox
	body   func() ([]byte, error) // returns the first maxIncoming bytes at most, with the header
	// again returns how often a person was asked again about an ask, because a reply was not an answer.
	again func(ask, person string) (n int, _ error)
}

// A disposal is the result of handling a message.
type disposal string

// The disposals. Unless its disposal is foreign, a message is marked as handled.
const (
	answered   disposal = "answered"
	askedAgain disposal = "asked again"
	refused    disposal = "refused"
	foreign    disposal = "foreign" // the message is not a reply, and is not changed
)

// handle answers an ask with a message if the message is a reply of a person who may answer. A repeat neither
// answers nor asks again a second time. After an error, handle must be called again.
func (c *Channel) handle(ctx context.Context, e Engine, m received) (disposal, error) {
	if err := c.loadKey(); err != nil {
		return "", err
	}
	to, ours := c.tokenOf(m.header)
	if !ours {
		return foreign, nil
	}
	why := c.refusal(m.header, to)
	if why != "" {
		c.options.Log.Warn("a reply by mail was refused", "ask", to.ask, "reason", why)
		return refused, nil
	}
	client, err := e.Person(ctx, to.person, askback.ChannelEmail)
	if err == nil {
		return c.answer(ctx, client, m, to)
	}
	return c.rejected(err, to)
}

// tokenOf returns the contents of the reply address of a message. The result ours is false if the message has
// no reply address. If this server did not make the token for a person, to is the zero value.
func (c *Channel) tokenOf(h textproto.Header) (to replyTo, ours bool) {
	for _, address := range recipients(h) {
		token, ok := c.findToken(address)
		if !ok {
			continue
		}
		ours = true
		if to, ok = c.parseToken(token); ok {
			return to, true
		}
	}
	return replyTo{}, ours
}

// refusal returns the reason why a message cannot be an answer, or "".
func (c *Channel) refusal(h textproto.Header, to replyTo) (why string) {
	if to.person == "" {
		return "this server did not make the reply address"
	}
	if why := automatic(h); why != "" {
		return why
	}
	from := sender(h)
	switch {
	case from == "" || lowerASCII(from) != lowerASCII(c.options.People()[to.person]):
		return "the sender is not the person who was asked"
	case c.options.AuthservID != "" && !authenticated(h, c.options.AuthservID, from):
		return "the sender is not authenticated: there is no dmarc=pass of " + c.options.AuthservID
	}
	return ""
}

// answer answers an ask with a message of a person. If the message is not an answer or is too late, answer
// sends the person a letter.
func (c *Channel) answer(ctx context.Context, client askback.Inbox, m received, to replyTo) (disposal, error) {
	a, err := client.Get(ctx, to.ask)
	if err != nil {
		return c.rejected(err, to)
	}
	raw, err := m.body()
	if err != nil {
		return "", err
	}
	if len(raw) == 0 { // another program has deleted the message
		return refused, nil
	}
	reply, why := c.read(a, raw, to)
	if why == "" {
		settled, err := reply.send(ctx, client, to.ask)
		var invalid askback.Invalid
		switch {
		case err == nil:
			return answered, nil
		case errors.Is(err, askback.ErrSettled):
			if a = settled; !a.Settled() {
				if a, err = client.Get(ctx, to.ask); err != nil {
					return c.rejected(err, to)
				}
			}
		case errors.As(err, &invalid), errors.Is(err, askback.ErrNotApprover):
			why = notAccepted
		default:
			return c.rejected(err, to)
		}
	}
	if err := client.Seen(ctx, to.ask); err != nil {
		return c.rejected(err, to)
	}
	return c.askAgain(ctx, m, to, a, why)
}

// send answers or declines an ask.
func (r reading) send(ctx context.Context, client askback.Inbox, id string) (askback.Ask, error) {
	if r.declines {
		return client.Decline(ctx, id, r.reason)
	}
	return client.Answer(ctx, id, r.answer)
}

// read returns the reading of a message, or the reason why the message is not an answer.
func (c *Channel) read(a askback.Ask, raw []byte, to replyTo) (reading, rejection) {
	in, err := parse(raw)
	switch {
	case err != nil || in.cutOff:
		return reading{}, notReadable
	case !fits(a):
		return reading{}, tooLong
	}
	asked := a
	// the quoted letter showed the ask as open, even if this message is handled again after the ask was settled
	asked.Status, asked.Outcome = askback.Pending, nil
	return interpret(a, written(in.text, c.outgoing(asked, to.person).text(), c.from.Address, to.token))
}

// rejected returns the disposal of a message if the engine returned err. If err may be temporary, rejected
// returns err, so that the message is handled again.
func (c *Channel) rejected(err error, to replyTo) (disposal, error) {
	if errors.Is(err, askback.ErrForbidden) || errors.Is(err, askback.ErrNotFound) ||
		errors.Is(err, askback.ErrSelfApproval) {
		c.options.Log.Warn("a reply by mail was refused", "ask", to.ask, "reason", "this person may not answer it")
		return refused, nil
	}
	return "", err
}

// askAgain sends a person a letter about a reply that is not an answer. The letter has the reason and the
// whole ask, or the way in which the ask was settled. A person gets at most maxAgain letters about an ask.
func (c *Channel) askAgain(
	ctx context.Context, m received, to replyTo, a askback.Ask, why rejection,
) (disposal, error) {
	address := c.options.People()[to.person]
	if address == "" { // the person was removed
		return refused, nil
	}
	n, err := m.again(to.ask, to.person)
	if err != nil {
		return "", err
	}
	if n = max(n, to.again); n >= maxAgain {
		c.options.Log.Warn("a reply by mail was refused", "ask", to.ask, "reason",
			"it is not clear, and the person was asked again often enough")
		return refused, nil
	}
	letter := c.outgoing(a, to.person)
	letter.to, letter.automatic = address, "auto-replied"
	if letter.replyTo != "" {
		letter.replyTo = c.replyAddress(to.ask, to.person, n+1)
	}
	switch {
	case !a.Settled() && !a.IsApprover(to.person):
		who := askback.NotApproverError{Who: a.Deciders()}
		letter.first, letter.how = []notice.Line{
			notice.Deciders("Your reply was not recorded: ", who), notice.Own("You can read the question:"),
		}, nil
	case a.Settled():
		letter.first = []notice.Line{notice.Own("Your reply came too late. It is recorded, but changes nothing.")}
	default:
		letter.first = []notice.Line{
			notice.Own("%s", string(why)), notice.Own("Nothing was decided. Please answer again:"),
		}
	}
	root, previous := letter.id, letter.id
	if validID(m.id) {
		previous = m.id
	}
	letter.thread(root, previous)
	letter.id = c.messageID("again", to.ask, to.person, m.id)
	built, err := c.build(letter)
	if err != nil {
		return refused, nil //nolint:nilerr // the settings were checked, so it cannot be written at all
	}
	var final *askback.SendError
	if err := c.transmit(ctx, built); errors.As(err, &final) && final.Final {
		return refused, nil
	} else if err != nil {
		return "", err
	}
	return askedAgain, nil
}
