// Package slack asks people in Slack: in one channel of a workspace or, if an ask is addressed to people, in
// their direct messages. Answers arrive over Socket Mode, which needs no public address, or over HTTP. A
// message has the whole ask or, if the ask does not fit, only the agent and the link (F3). Text of agents is
// plain text everywhere, so it cannot mention people, link or imitate lines of Askback (T7, T9, T10). The
// value of a button contains no answer. It is a code that only this app can make for this ask.
package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/notice"
)

// Room is the address of deliveries to the channel of the settings. Any other address is the id of a member,
// who gets direct messages.
const Room = "channel"

// Options configure a [Channel].
type Options struct {
	BotToken      string // token of the installed app, xoxb-…
	SigningSecret string // verifies requests over HTTP; if "", all requests are rejected
	AppToken      string // token for Socket Mode, xapp-…; "" for none
	Channel       string // id of the channel
	Team          string // id of the workspace; accounts of other workspaces may not answer
	// Person returns the name of the person with a member id. It reports false if there is no such person.
	Person func(member string) (name string, ok bool)
	// Thread returns the receipt of an earlier message to the same address in the session of the ask, or "".
	// [ThreadOf] can implement Thread. If Thread is nil, no message is in a thread.
	Thread func(ctx context.Context, n askback.Notification) (receipt string)
	// Link returns the address of the page where a person can answer, or "". Direct messages have this
	// address. If Link is nil, messages have the page of the ask.
	Link func(a askback.Ask, person string) string
	// Zone returns the time zone for messages to a person. If the name is "", several people read the messages. If
	// Zone is nil, the zone is UTC.
	Zone func(person string) *time.Location

	Log *slog.Logger     // nil logs nothing
	Now func() time.Time // nil means time.Now

	APIURL string        // URL of the Web API, with a slash at the end; "" for slack.com
	Budget time.Duration // time limit for recording an answer; 0 means 2.5 s, because Slack waits for 3 s
	Pace   time.Duration // pause between posts to one channel; 0 means 1 s, as Slack requires
	// Reconnect is the first pause before Run connects again after Slack has rejected the app. Each further
	// pause is twice as long, up to five minutes. Zero means 5 s.
	Reconnect time.Duration
}

// The defaults of [Options].
const (
	defaultBudget    = 2500 * time.Millisecond
	defaultPace      = time.Second
	defaultReconnect = 5 * time.Second
)

// An Engine provides the clients of people.
type Engine interface {
	// Person returns the client of a person who answers through the channel via. The error is
	// [askback.ErrForbidden] if the person may not answer now.
	Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error)
}

// A Channel sends asks to Slack and receives answers. It is safe for concurrent use.
type Channel struct {
	options Options
	api     *slack.Client
	http    *http.Client
	key     []byte // signs the codes in buttons
	pacer   pacer
	seen    seen
	forged  forgeries
	working background // messages sent after an acknowledgement
}

// New returns a Channel, or an error if the options are not complete.
func New(o Options) (*Channel, error) {
	switch {
	case o.BotToken == "" || o.Channel == "" || o.Team == "":
		return nil, errors.New("bot_token, channel and team are required")
	case o.SigningSecret == "" && o.AppToken == "":
		return nil, errors.New("app_token or signing_secret is required, to receive answers")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Person == nil {
		o.Person = func(string) (string, bool) { return "", false }
	}
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.Pace = cmp.Or(o.Pace, defaultPace)
	o.Reconnect = cmp.Or(o.Reconnect, defaultReconnect)
	c := &Channel{options: o, pacer: pacer{pause: o.Pace, now: o.Now}, seen: seen{now: o.Now}}
	c.key = []byte(o.BotToken) // the key is secret, and the same after a restart
	c.http = egress.NewClient(nil, nil)
	settings := []slack.Option{slack.OptionAppLevelToken(o.AppToken)}
	if o.APIURL != "" {
		c.http = &http.Client{Timeout: time.Minute}
		settings = append(settings, slack.OptionAPIURL(o.APIURL))
	}
	c.api = slack.New(o.BotToken, append(settings, slack.OptionHTTPClient(c.http))...)
	return c, nil
}

// Close waits for messages that are being sent and closes idle connections.
func (c *Channel) Close() {
	c.working.Wait()
	c.http.CloseIdleConnections()
}

// Send posts a delivery about an ask, or changes the message of the question. The receipt is the channel, the
// timestamp of the message and, in a thread, the timestamp of the first message of the thread. An outcome is
// posted as a new message if there is no receipt of the question. For any other event of a settled ask
// without a message, Send posts nothing.
//
// The question is posted without buttons, its receipt is recorded, and then the buttons are added. So a
// message that a crash leaves behind has no buttons.
func (c *Channel) Send(ctx context.Context, n askback.Notification) (receipt string, err error) {
	if n.Session != nil {
		return "", &askback.SendError{Err: errors.New("this channel sends only asks"), Final: true}
	}
	n.Ask = notice.InZone(n.Ask, n.Person, c.options.Zone)
	if u, err := url.Parse(n.Ask.PageURL); err != nil || egress.IsLoopback(u.Host) {
		n.Ask.PageURL = "" // other devices cannot open the page
	}
	if c.options.Link != nil && n.Person != "" && !n.Ask.Settled() {
		if link := c.options.Link(n.Ask, n.Person); link != "" {
			n.Ask.PageURL = link
		}
	}
	receipt = n.Receipt
	if receipt == "" {
		receipt = n.Earlier
	}
	switch {
	case n.Event == askback.EventQuestionReminded && n.Earlier != "" && !n.Ask.Settled():
		return c.remind(ctx, n)
	case receipt == "" && n.Ask.Settled() && !n.Event.Settles():
		return "", nil // there is no message to change, and no answer is needed
	case receipt == "":
		return c.question(ctx, n)
	}
	err = c.show(ctx, receipt, n.Ask, c.current(n))
	if isGone(err) && n.Ask.Settled() {
		err = nil // the message was deleted in Slack, with its buttons
	}
	if err == nil && n.Event == askback.EventQuestionPending && n.Receipt == "" && !n.Ask.Settled() {
		// the ask was reassigned away from the person and back
		_, err = c.inThread(ctx, receipt, c.reminder(n, "This is for you again"))
	}
	return receipt, err
}

// question posts a question, records its receipt and adds the buttons. If the question is too long for Slack,
// it posts only the link.
func (c *Channel) question(ctx context.Context, n askback.Notification) (receipt string, err error) {
	address, err := c.addressOf(n.Address)
	if err != nil {
		return "", err
	}
	full := c.current(n)
	receipt, err = c.post(ctx, address, c.parent(ctx, n), full.withoutControls())
	if isTooLong(err) {
		full = short(n.Ask)
		receipt, err = c.post(ctx, address, c.parent(ctx, n), full)
	}
	if err != nil {
		return "", err
	}
	if n.Record != nil {
		if err := n.Record(ctx, receipt); err != nil {
			return "", fmt.Errorf("record the message: %w", err)
		}
	}
	if len(full.controls) == 0 {
		return receipt, nil
	}
	return receipt, c.show(ctx, receipt, n.Ask, full)
}

// remind posts in the thread of its message that an ask is still open. The reminder has no buttons. The
// buttons are in the message of the question, which is changed when the ask is settled.
func (c *Channel) remind(ctx context.Context, n askback.Notification) (receipt string, err error) {
	if n.Receipt != "" { // the reminder was posted before a crash
		return n.Receipt, nil
	}
	receipt, err = c.inThread(ctx, n.Earlier, c.reminder(n, "Reminder"))
	if err != nil || n.Record == nil {
		return receipt, err
	}
	return receipt, n.Record(ctx, receipt)
}

// inThread posts a message in the thread of an earlier message, whose receipt is of.
func (c *Channel) inThread(ctx context.Context, of string, m message) (receipt string, err error) {
	conversation, ts, thread := parseReceipt(of)
	return c.post(ctx, conversation, cmp.Or(thread, ts), m)
}

// show replaces the message with this receipt by m. If m does not fit, show omits the buttons, and then the
// question.
func (c *Channel) show(ctx context.Context, receipt string, a askback.Ask, m message) error {
	err := c.edit(ctx, receipt, m)
	if isTooLong(err) && len(m.controls) > 0 {
		err = c.edit(ctx, receipt, m.withoutControls())
	}
	if isTooLong(err) && !a.Settled() {
		err = c.edit(ctx, receipt, short(a))
	}
	return err
}

// current returns the message about an ask as it is now.
func (c *Channel) current(n askback.Notification) message {
	switch {
	case n.Ask.Settled():
		return settled(n.Ask)
	case n.Event == askback.EventQuestionReassigned, n.Person != "" && !n.Ask.Addressed(n.Person):
		return reassigned(n.Ask)
	}
	return c.pending(n.Ask)
}

// parent returns the timestamp of the first message of the thread to which a question belongs, or "" if the
// question begins a thread.
func (c *Channel) parent(ctx context.Context, n askback.Notification) string {
	if c.options.Thread == nil || ownSession(n.Ask) {
		return ""
	}
	_, ts, thread := parseReceipt(c.options.Thread(ctx, n))
	return cmp.Or(thread, ts)
}

// ownSession reports whether Askback made the session for this ask alone. The ids then have the same number.
func ownSession(a askback.Ask) bool {
	_, ask, _ := strings.Cut(a.ID, "_")
	_, session, _ := strings.Cut(a.SessionID, "_")
	return ask == session
}

// addressOf returns the conversation for the address of a delivery. For an address that is neither Room nor
// the id of a member, the error is final.
func (c *Channel) addressOf(address string) (string, error) {
	switch {
	case address == Room:
		return c.options.Channel, nil
	case strings.HasPrefix(address, "U") || strings.HasPrefix(address, "W"):
		return address, nil
	}
	return "", &askback.SendError{Err: errors.New("this is not the id of a member of Slack"), Final: true}
}

// SendTest posts a test message to the channel. It first checks that the token belongs to the workspace of
// the settings.
func (c *Channel) SendTest(ctx context.Context) error {
	if err := c.checkTeam(ctx); err != nil {
		return err
	}
	_, err := c.post(ctx, c.options.Channel, "", test())
	return err
}

// checkTeam returns an error unless the token belongs to the workspace of the settings.
func (c *Channel) checkTeam(ctx context.Context) error {
	who, err := c.api.AuthTestContext(ctx)
	switch {
	case err != nil:
		return c.failed("auth.test", err)
	case who.TeamID != c.options.Team:
		return fmt.Errorf("the token belongs to the workspace %s, but the settings have team: %s", who.TeamID,
			c.options.Team)
	}
	return nil
}
