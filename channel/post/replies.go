package post

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/pause"
)

// An Engine provides the clients of people. Package engine implements it.
type Engine interface {
	// Person returns the client of a person who answers through the channel via. The error is
	// [askback.ErrForbidden] if the person may not answer now.
	Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error)
}

// Run reads the reply topics of all receivers until ctx ends. A button of ntfy publishes a signed token to
// the topic, so that no phone has to reach this server. Other messages are ignored, because anyone who knows
// the name of a topic may publish.
func (c *Channel) Run(ctx context.Context, people Engine) {
	topics := map[topicKey]*replyTopic{}
	for name, r := range c.options.Receivers {
		if r.ReplyTopic == "" || c.options.Replies == nil {
			continue
		}
		key := c.topicOf(r)
		t := topics[key]
		if t == nil {
			t = &replyTopic{topicKey: key, channel: c, people: people, since: "all", started: c.options.Now()}
			client := *c.clients[name]
			client.Timeout = 0 // a stream has no end
			t.client, t.log = &client, c.options.Log.With("receiver", name)
			topics[key] = t
		}
		t.receivers = append(t.receivers, name)
	}
	var group sync.WaitGroup
	for _, t := range topics {
		group.Go(func() { t.run(ctx) })
	}
	group.Wait()
}

// A topicKey has the values that are needed to read a topic.
type topicKey struct {
	origin, topic, token, userAgent string
}

// topicOf returns the reply topic of a receiver.
func (c *Channel) topicOf(r Receiver) topicKey {
	return topicKey{r.Origin(), r.ReplyTopic, cmp.Or(r.ReplyToken, r.Token), c.userAgent()}
}

// A replyTopic is a topic to which the buttons of receivers publish.
type replyTopic struct {
	topicKey
	channel   *Channel
	people    Engine
	receivers []string // names
	client    *http.Client
	log       *slog.Logger

	since   string    // messages after this time are read; "all" for all messages
	started time.Time // see tell: replies from before this time cause no notice
	done    recent    // tokens that have already been handled
	forged  forgeries // state of the log of forged replies
	lost    bool      // whether the last attempt to read failed
}

// firstWait and lastWait are the first and the longest wait between attempts to read a topic. Each further
// wait is twice as long.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// silence is the maximum time without a line in a stream. By default, servers of ntfy send a line every 45
// seconds.
const silence = 4 * time.Minute

// overlap is the time span that is read again after a break. A server may send messages out of order, so a
// message that is older than the last message may be missing.
const overlap = time.Minute

// run reads the topic until ctx ends. After a break, it resumes shortly before the last message.
func (t *replyTopic) run(ctx context.Context) {
	waits := pause.Backoff{First: t.channel.firstWait, Max: lastWait}
	for {
		connected, err := t.read(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected {
			waits.Reset()
		} else if !t.lost {
			t.lost = true
			t.log.Warn("replies of phones cannot be read; trying again", "server", t.origin, "error", err)
		}
		wait := waits.Next()
		wait = wait/2 + rand.N(wait/2)
		var sending *askback.SendError
		if errors.As(err, &sending) {
			wait = max(wait, min(sending.RetryAfter, 10*lastWait))
		}
		if pause.For(ctx, wait) != nil {
			return
		}
	}
}

// read reads the stream of the topic until it ends. The result connected reports whether a line was read.
func (t *replyTopic) read(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reply, err := t.open(ctx, t.client, url.Values{"since": {t.since}})
	if err != nil {
		return false, err
	}
	defer reply.Body.Close()
	silent := time.AfterFunc(t.channel.silence, cancel)
	defer silent.Stop()
	lines := bufio.NewReaderSize(reply.Body, maxLine)
	for {
		line, err := readLine(lines)
		if err != nil {
			return connected, errors.New("the connection ended")
		}
		silent.Reset(t.channel.silence)
		if connected = true; t.lost {
			t.lost = false
			t.log.Info("replies of phones are read again", "server", t.origin)
		}
		if err := t.handle(ctx, line); err != nil {
			return connected, err
		}
	}
}

// open requests the messages of the topic. If the status of the reply is not 200, open returns an error.
func (k topicKey) open(ctx context.Context, client *http.Client, query url.Values) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.origin+"/"+k.topic+"/json?"+query.Encode(), nil)
	if err != nil {
		return nil, errors.New("this is not an address")
	}
	if header, secret := bearer(k.token); header != "" {
		r.Header.Set(header, secret)
	}
	r.Header.Set("User-Agent", k.userAgent)
	reply, err := client.Do(r)
	if err != nil {
		return nil, egress.NoReply(err)
	}
	if reply.StatusCode != http.StatusOK {
		egress.Discard(reply)
		return nil, cmp.Or(replyError(reply, time.Now()), fmt.Errorf("the reply was %d", reply.StatusCode))
	}
	return reply, nil
}

// TestReplies checks that the reply topic of a receiver can be read. Without a reply topic it returns nil. It
// returns the same errors as Send.
func (c *Channel) TestReplies(ctx context.Context, name string) error {
	r, ok := c.options.Receivers[name]
	if !ok || r.ReplyTopic == "" {
		return nil
	}
	reply, err := c.topicOf(r).open(ctx, c.clients[name], url.Values{"poll": {"1"}, "since": {"1s"}})
	if err == nil {
		egress.Discard(reply)
	}
	return err
}

// maxLine is more than the length of a line in which a server of ntfy sends a token.
const maxLine = 64 << 10

// readLine returns the next line that is not longer than the buffer, and skips longer lines.
func readLine(r *bufio.Reader) ([]byte, error) {
	for {
		line, isPrefix, err := r.ReadLine()
		if err != nil || !isPrefix {
			return line, err
		}
		for isPrefix && err == nil {
			_, isPrefix, err = r.ReadLine()
		}
		if err != nil {
			return nil, err
		}
	}
}

// handle handles a line of the stream. After an error, the message must be read again.
func (t *replyTopic) handle(ctx context.Context, line []byte) error {
	var m struct {
		ID, Event, Message string
		Time               int64
	}
	if json.Unmarshal(bytes.TrimSpace(line), &m) != nil || m.Event != "message" || m.ID == "" {
		return nil
	}
	if err := t.answer(ctx, strings.TrimSpace(m.Message), time.Unix(m.Time, 0)); err != nil {
		return err
	}
	at := min(m.Time, t.channel.options.Now().Unix()) - int64(overlap/time.Second)
	t.since = strconv.FormatInt(at, 10)
	return nil
}

// answer gives the answer of a token that was published at the time published. It returns an error only if
// the answer may succeed later.
func (t *replyTopic) answer(ctx context.Context, token string, published time.Time) error {
	link, err := t.channel.options.Replies.Verify(token)
	switch {
	case errors.Is(err, answerlink.ErrInvalid) || err == nil && !t.isFor(link):
		t.logForged()
		return nil
	case err != nil:
		return err
	case t.done.has(token):
		return nil
	}
	after, err := t.send(ctx, link)
	var invalid askback.Invalid
	switch {
	case err == nil && !after.Settled():
		t.tell(ctx, published, link, notice.Counted(after))
	case err == nil:
	case errors.Is(err, askback.ErrSettled) && after.Outcome != nil:
		t.log.Info("a reply came too late", "ask", link.AskID, "name", link.Person)
		t.tell(ctx, published, link, notice.TooLate(after, link.Person))
	case errors.As(err, &invalid) || isFinal(err):
		t.log.Info("a reply was rejected", "ask", link.AskID, "name", link.Person, "error", err)
		rejected := notice.Ended(link.AskID)
		if other, ok := errors.AsType[askback.NotApproverError](err); ok {
			rejected = notice.NotApprover(link.AskID, other)
		}
		t.tell(ctx, published, link, rejected)
	default:
		return err
	}
	t.done.add(token)
	return nil
}

// isFinal reports whether an answer that failed with err cannot succeed later. Such a reply is not read
// again. Otherwise the later replies would wait for ever.
func isFinal(err error) bool {
	for _, final := range []error{
		askback.ErrNotFound, askback.ErrForbidden, askback.ErrSelfApproval, askback.ErrNotApprover, askback.ErrDamaged,
		errNoChoice,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

var errNoChoice = errors.New("the ask has no such choice")

// isFor reports whether a link is for a button of a receiver of this topic.
func (t *replyTopic) isFor(l answerlink.Link) bool {
	return l.Channel == askback.ChannelPush && slices.ContainsFunc(t.receivers, func(name string) bool {
		return t.channel.options.Receivers[name].Person == l.Person
	})
}

// send answers the ask of a link with the choice of the link. The error is errNoChoice if the ask has no such
// choice.
func (t *replyTopic) send(ctx context.Context, l answerlink.Link) (askback.Ask, error) {
	client, err := t.people.Person(ctx, l.Person, l.Channel)
	if err != nil {
		return askback.Ask{}, err
	}
	a, err := client.Get(ctx, l.AskID)
	if err != nil {
		return a, err
	}
	choices := notice.Choices(a, ButtonLimits)
	if l.Choice < 1 || l.Choice > len(choices) {
		return a, errNoChoice
	}
	return client.Answer(ctx, a.ID, choices[l.Choice-1].Answer)
}

// tell sends the message m to the person whose button had no effect. It sends nothing for a reply that was
// published before this server started, because the person got the message then. The outcome is another
// message, which every receiver of the question gets.
func (t *replyTopic) tell(ctx context.Context, published time.Time, l answerlink.Link, m notice.Message) {
	if published.Before(t.started.Truncate(time.Second)) {
		return
	}
	for _, name := range t.receivers {
		receiver := t.channel.options.Receivers[name]
		if receiver.Person != l.Person {
			continue
		}
		request, err := first(receiver, m)
		if err == nil {
			err = t.channel.post(ctx, name, request)
		}
		if err != nil {
			t.log.Warn("the notice of a late reply was not sent", "ask", l.AskID, "error", err)
		}
	}
}

// maxForged is the maximum number of forged replies that are logged in a minute. Without a limit, anyone who
// knows the topic could fill the log.
const maxForged = 10

// forgeries counts the forged replies of the current minute.
type forgeries struct {
	since time.Time // the beginning of the current minute
	lines int       // forged replies in this minute
}

// logForged logs that a message without a valid token was published, at most maxForged times in a minute.
func (t *replyTopic) logForged() {
	if now := t.channel.options.Now(); now.Sub(t.forged.since) >= time.Minute {
		t.forged = forgeries{since: now}
	}
	if t.forged.lines++; t.forged.lines <= maxForged {
		t.log.Warn("a reply without a valid signature was ignored", "server", t.origin)
	}
}

// maxRecent is the maximum number of tokens that a topic remembers. A forgotten token still has no effect,
// but may cause another notice.
const maxRecent = 10_000

// recent is a set of the last maxRecent strings that were added.
type recent struct {
	in    map[string]bool
	order []string
}

func (r *recent) has(s string) bool { return r.in[s] }

func (r *recent) add(s string) {
	if r.in == nil {
		r.in = map[string]bool{}
	}
	if r.in[s] {
		return
	}
	if len(r.order) == maxRecent {
		delete(r.in, r.order[0])
		r.order = r.order[1:]
	}
	r.in[s] = true
	r.order = append(r.order, s)
}
