// Package telegram asks people in Telegram, and reads their answers. It is a bot that uses long polling, so
// no port has to be open. A person links a chat once, with a code. Only the numeric id of a user counts,
// never a name. An answer is committed before its update is confirmed, and each update can be handled again
// without a second effect. The data of a button is signed, and the texts that a person has written are the
// draft of the ask, so a restart loses nothing.
package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/text/view"
)

// Name is the name of the channel, in the settings and in deliveries.
const Name = "telegram"

// DefaultURL is the URL of Telegram's own Bot API server.
const DefaultURL = "https://api.telegram.org"

// Options configure a [Channel].
type Options struct {
	Token  string           // token of the bot
	URL    string           // URL of the Bot API server; "" for DefaultURL
	Allow  []egress.Allowed // addresses of the server that are allowed although they are not public
	Groups []int64          // groups in which the bot asks and takes answers

	// Link returns the address of the page where a person answers an ask. It returns "" if other devices
	// cannot open such a page. If person is "", it returns a page that requires a log-in. If Link is nil,
	// messages have the address of the ask.
	Link  func(a askback.Ask, person string) string
	Burst int // maximum number of messages to a chat in a burst; 0 means 20

	// Zone returns the time zone for messages to a person, and for times that the person writes. If the name is "",
	// several people read the messages. If Zone is nil, the zone is UTC.
	Zone func(person string) *time.Location

	Log *slog.Logger     // nil logs nothing
	Now func() time.Time // nil means time.Now
}

// A Channel sends asks to chats of Telegram, and reads the answers. It is safe for concurrent use.
type Channel struct {
	options Options
	api     *api
	signer  signer
	limits  *limiter
	me      atomic.Pointer[user]

	mu       sync.Mutex
	moved    map[int64]int64     // current ids of groups that became supergroups, keyed by their former ids
	messages map[place]time.Time // times of messages; see [Channel.remember]
	refused  map[int64]time.Time // time of the last reply to each user who is not linked
}

// tokenForm is the form of the token of a bot.
var tokenForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]{3,20}:[A-Za-z0-9_-]{30,100}$`)
})

// CheckToken returns the problem with a token, or "". It does not repeat the token.
func CheckToken(token string) string {
	if !tokenForm().MatchString(token) {
		return "is not the token of a bot: digits, a colon and letters, as @BotFather gives it"
	}
	return ""
}

// CheckURL returns the problem with the URL of a Bot API server, or "".
func CheckURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		return "is not the address of a Bot API server"
	}
	return ""
}

// New returns a Channel, or an error if an option is not valid.
func New(o Options) (*Channel, error) {
	o.URL = cmp.Or(o.URL, DefaultURL)
	if p := cmp.Or(CheckToken(o.Token), CheckURL(o.URL)); p != "" {
		return nil, errors.New("telegram: an option " + p)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Link == nil {
		o.Link = func(a askback.Ask, _ string) string { return a.PageURL }
	}
	return &Channel{
		options: o, api: newAPI(o.URL, o.Token, o.Allow), signer: newSigner(o.Token),
		limits: newLimiter(o.Now, cmp.Or(o.Burst, chatBurst)), moved: map[int64]int64{},
		messages: map[place]time.Time{}, refused: map[int64]time.Time{},
	}, nil
}

// Close closes idle connections.
func (c *Channel) Close() { c.api.client.CloseIdleConnections() }

// screen returns the screen for an ask and a person in a chat. If other devices cannot open the link, the
// screen has no link.
func (c *Channel) screen(a askback.Ask, person string, chatID, messageID int64) screen {
	link := c.options.Link(a, person)
	if u, err := url.Parse(link); err != nil || egress.IsLoopback(u.Host) {
		link = ""
	}
	a = notice.InZone(a, person, c.options.Zone)
	a.PageURL = link
	return screen{
		ask: a, view: view.Of(a), chatID: chatID, messageID: messageID, link: link, group: chatID < 0, signer: c.signer,
	}
}

// CodeTarget returns the bot to which a person sends the code that links a chat, and a link that sends the
// code. Before the bot has reached Telegram, both are "".
func (c *Channel) CodeTarget(code string) (to, url string) {
	me := c.me.Load()
	if me == nil {
		return "", ""
	}
	return "@" + me.Username, c.startLink(code)
}

// Check requests the account of the bot, and returns its name, such as @my_bot.
func (c *Channel) Check(ctx context.Context) (string, error) {
	var me user
	if err := c.api.call(ctx, "getMe", struct{}{}, &me); err != nil {
		return "", sendError(err)
	}
	return "@" + me.Username, nil
}

// SendTest sends a test message to a chat.
func (c *Channel) SendTest(ctx context.Context, chatID int64) error {
	m := notice.Test()
	t := &text{}
	t.title(m.Title)
	t.lines(m.Lines)
	_, err := c.api.send(ctx, t.outgoing(chatID, 0))
	return sendError(err)
}

// A receipt names the message of a delivery: "chat/message", followed by "/file" once the file with the whole
// ask was sent.
type receipt struct {
	chatID, messageID int64
	file              bool
}

func (r receipt) String() string {
	s := fmt.Sprintf("%d/%d", r.chatID, r.messageID)
	if r.file {
		s += "/file"
	}
	return s
}

// parseReceipt parses a receipt. It reports false if s is not a receipt.
func parseReceipt(s string) (r receipt, ok bool) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 {
		return r, false
	}
	var err1, err2 error
	r.chatID, err1 = strconv.ParseInt(parts[0], 10, 64)
	r.messageID, err2 = strconv.ParseInt(parts[1], 10, 64)
	r.file = len(parts) > 2
	return r, err1 == nil && err2 == nil
}

// errAddress is returned for an address that is not a chat, or for a group that is not in the settings.
var errAddress = &askback.SendError{
	Err: errors.New("channels.telegram.groups in the settings does not have this group"), Final: true,
}

// Send sends a notification to a chat. A question is first sent without buttons. The id of its message is
// recorded, and then the buttons are added. So a message that a crash leaves behind has no buttons. An
// outcome replaces the question or, without a receipt of the question, is a separate message. The receipt
// names the message, or is "" if nothing is sent.
func (c *Channel) Send(ctx context.Context, n askback.Notification) (string, error) {
	chatID, err := strconv.ParseInt(n.Address, 10, 64)
	if err != nil || chatID < 0 && !slices.Contains(c.options.Groups, chatID) {
		return "", errAddress
	}
	r, err := c.send(ctx, n, c.current(chatID))
	var failed *apiError
	if errors.As(err, &failed) && failed.movedTo != 0 && chatID < 0 {
		c.move(chatID, failed.movedTo)
		r, err = c.send(ctx, n, failed.movedTo)
	}
	if errors.As(err, &failed) && failed.retryAfter > 0 {
		c.limits.hold(chatID, failed.retryAfter)
	}
	if err != nil {
		return "", sendError(err)
	}
	return r, nil
}

func (c *Channel) send(ctx context.Context, n askback.Notification, chatID int64) (string, error) {
	earlier, known := parseReceipt(cmp.Or(n.Receipt, n.Earlier))
	switch {
	case n.Ask.ID == "":
		return "", &askback.SendError{Err: errors.New("this channel sends only asks"), Final: true}
	case n.Ask.Settled() && !known && !n.Event.Settles():
		return "", nil
	case n.Ask.Settled() && !known:
		return c.outcome(ctx, n, chatID)
	case n.Ask.Settled():
		s := c.screen(n.Ask, n.Person, earlier.chatID, earlier.messageID)
		return earlier.String(), ignoreGone(c.api.edit(ctx, s.settled()))
	case known && (n.Event == askback.EventQuestionReassigned || n.Person != "" && !n.Ask.Addressed(n.Person)):
		s := c.screen(n.Ask, n.Person, earlier.chatID, earlier.messageID)
		return earlier.String(), ignoreGone(c.api.edit(ctx, s.moved()))
	case known && n.Receipt == "" && n.Event == askback.EventQuestionReminded:
		return c.remind(ctx, n, earlier, "Reminder: this is still open.")
	case known && n.Event == askback.EventQuestionReminded:
		return n.Receipt, nil // the reminder was sent before a crash
	}
	r, err := c.ask(ctx, n, chatID, earlier)
	if err == nil && known && n.Receipt == "" && n.Event == askback.EventQuestionPending {
		_, err = c.remind(ctx, n, earlier, "This question is for you again.")
	}
	return r, err
}

// outcome sends the outcome of an ask as a separate message. A crash may have left the question in the chat,
// in an unknown message.
func (c *Channel) outcome(ctx context.Context, n askback.Notification, chatID int64) (string, error) {
	if err := c.limits.wait(ctx, chatID); err != nil {
		return "", err
	}
	id, err := c.api.send(ctx, c.screen(n.Ask, n.Person, chatID, 0).settled())
	if err != nil {
		return "", err
	}
	r := receipt{chatID: chatID, messageID: id}
	return r.String(), record(ctx, n, r)
}

// remind sends a message without buttons as a reply to the question, because an edit notifies no person.
// After a crash, the message may be sent twice.
func (c *Channel) remind(ctx context.Context, n askback.Notification, question receipt, words string) (string, error) {
	s := c.screen(n.Ask, n.Person, question.chatID, question.messageID)
	t := &text{}
	t.addAs("bold", words, "")
	t.add("\n")
	t.addAs("code", cut(s.view.Headline().String(), maxStateQuestion), "")
	if s.link != "" {
		t.add("\n")
		t.addAs("text_link", "Open its page", s.link)
	}
	out := t.outgoing(question.chatID, 0)
	out.ReplyTo = &replyParameters{MessageID: question.messageID, AllowWithout: true}
	if err := c.limits.wait(ctx, question.chatID); err != nil {
		return "", err
	}
	id, err := c.api.send(ctx, out)
	return receipt{chatID: question.chatID, messageID: id}.String(), err
}

// ask sends a question, or updates the message that the question already has. A new message gets buttons only
// after the message is recorded. If the question does not fit in the message, ask also sends a file.
func (c *Channel) ask(ctx context.Context, n askback.Notification, chatID int64, r receipt) (string, error) {
	s := c.screen(n.Ask, n.Person, chatID, r.messageID)
	if r.messageID == 0 {
		out := s.draw(0, emptyDraft())
		out.Markup = nil
		if err := c.limits.wait(ctx, chatID); err != nil {
			return "", err
		}
		id, err := c.api.send(ctx, out)
		if err != nil {
			return "", err
		}
		r = receipt{chatID: chatID, messageID: id}
		if err := record(ctx, n, r); err != nil {
			return "", err
		}
	}
	s.chatID, s.messageID = r.chatID, r.messageID
	if how, _ := s.form(); how == file && !r.file {
		if err := c.limits.wait(ctx, chatID); err != nil {
			return "", err
		}
		if err := c.api.sendFile(ctx, chatID, r.messageID, s.fileName(), "The whole question.", s.file()); err != nil {
			return "", err
		}
		r.file = true
		if err := record(ctx, n, r); err != nil {
			return "", err
		}
	}
	c.remember(n.Ask.ID, r.chatID, r.messageID)
	return r.String(), ignoreGone(c.api.edit(ctx, s.draw(0, emptyDraft())))
}

func record(ctx context.Context, n askback.Notification, r receipt) error {
	if n.Record == nil {
		return nil
	}
	return n.Record(ctx, r.String())
}

// ignoreGone returns nil for errGone, because a deleted message need not change. Otherwise it returns err.
func ignoreGone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// current returns the present id of a group.
func (c *Channel) current(chatID int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.moved[chatID], chatID)
}

// move records the new id of a group until the next start.
func (c *Channel) move(from, to int64) {
	c.mu.Lock()
	c.moved[from] = to
	c.mu.Unlock()
	c.options.Log.Warn(
		"a group has become a supergroup with another id: change channels.telegram.groups in the settings", "from",
		from, "to", to,
	)
}

// allowed reports whether a group is in the settings, with its present id or its former id.
func (c *Channel) allowed(chatID int64) bool {
	if slices.Contains(c.options.Groups, chatID) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.options.Groups {
		if c.moved[g] == chatID {
			return true
		}
	}
	return false
}

// A place is a message about an ask in a chat.
type place struct {
	askID             string
	chatID, messageID int64
}

// maxMessages is the maximum number of messages that are remembered for /list. A restart forgets them.
const maxMessages = 1000

// remember stores the message about an ask, so that /list can point to it. If maxMessages messages are
// stored, it forgets the oldest message.
func (c *Channel) remember(askID string, chatID, messageID int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.messages) >= maxMessages {
		var oldest place
		for p, at := range c.messages {
			if oldest.askID == "" || at.Before(c.messages[oldest]) {
				oldest = p
			}
		}
		delete(c.messages, oldest)
	}
	c.messages[place{askID, chatID, messageID}] = c.options.Now()
}

// located returns the latest message about an ask in a chat, or 0.
func (c *Channel) located(askID string, chatID int64) (messageID int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.messages {
		if p.askID == askID && p.chatID == chatID {
			messageID = max(messageID, p.messageID)
		}
	}
	return messageID
}
