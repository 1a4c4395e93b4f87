package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/test/kit/fakes"
	"github.com/askback/askback/test/kit/proctest"
)

// A channelKillTest kills the server while the server sends through all channels and people answer there. At
// the end, each ask must have one outcome, no message may be answerable, and each person must have got each
// question. The receiver of webhooks must have every event with one id (E3 to E7).
//
// Before the kills, for each channel, one ask goes to all channels, and one person answers the ask in that
// channel.
type channelKillTest struct {
	serverProcess
	rand     *rand.Rand
	mutant   string
	venues   []*venue
	webhooks fakes.Service
	conn     *connection
	agent    account
	people   map[string]account
	operator account
	log      strings.Builder // the log of all servers
	scraped  strings.Builder // the data that the server reports about itself
	traces   *traceCollector

	mu   sync.Mutex
	asks []askback.Ask // the asks as they were created

	checked                int // the number of checked asks
	kills, rounds, repeats int
	bad                    []violation
}

func newChannelKillTest(dir, program string, seed uint64, mutant string) *channelKillTest {
	return &channelKillTest{
		serverProcess: newServerProcess(dir, program, "channels.db"), rand: rand.New(rand.NewPCG(seed, 6)),
		mutant: mutant, people: map[string]account{},
	}
}

// run kills the server n times, or until there is a violation. It checks the asks after every checkInterval
// kills and at the end.
func (t *channelKillTest) run(ctx context.Context, n int) error {
	services, err := startFakes(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = services.End() }() // the process may have been interrupted
	stage := fakes.NewStage(ctx)
	defer stage.End()
	t.traces = newTraceCollector(stage)
	t.venues, t.webhooks = mutantVenues(t.mutant, newVenues(services.Services)), services.Service("webhook")
	if err := t.prepare(ctx, services.Services); err != nil {
		return err
	}
	if err := t.serve(ctx, func(ctx context.Context) error { return t.beforeKills(ctx) }); err != nil ||
		len(t.bad) > 0 {
		return err
	}
	for t.kills = 0; t.kills < n && ctx.Err() == nil && len(t.bad) == 0; t.kills++ {
		if err := t.serve(ctx, t.kill); err != nil {
			return err
		}
		if (t.kills+1)%checkInterval == 0 {
			if err := t.serve(ctx, t.afterKills); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil || len(t.bad) > 0 || n > 0 && n%checkInterval == 0 {
		return ctx.Err()
	}
	return t.serve(ctx, t.afterKills)
}

// checkInterval is the number of kills between two checks of all asks.
const checkInterval = 25

// prepare writes the settings and creates the tokens.
func (t *channelKillTest) prepare(ctx context.Context, all []fakes.Service) (err error) {
	settings := filepath.Join(filepath.Dir(t.path), "channels.yaml")
	if err := os.WriteFile(settings,
		[]byte("public_url: "+publicPages+"\nlimits: {digest_after: off}\n"+fakes.Settings(all)), 0o600); err != nil {
		return err
	}
	t.env = append(append(t.env, "ASKBACK_CONFIG="+settings), t.traces.environment()...)
	for _, s := range all {
		certificate := s.Describe().Certificate
		if certificate == "" {
			continue
		}
		path := filepath.Join(filepath.Dir(t.path), s.Describe().Name+".pem")
		if err := os.WriteFile(path, []byte(certificate), 0o600); err != nil {
			return err
		}
		t.env = append(t.env, "SSL_CERT_FILE="+path)
	}
	if t.agent, err = t.token(ctx, askback.Agent, "ada"); err != nil {
		return err
	}
	for _, person := range fakes.People {
		if t.people[person], err = t.token(ctx, askback.Responder, person); err != nil {
			return err
		}
	}
	if t.operator, err = t.token(ctx, askback.Operator, "olga"); err != nil {
		return err
	}
	place, err := instance.At(t.path)
	t.conn = &connection{place: place}
	return err
}

// serve starts a server, calls during when the server is ready, and kills the server.
func (t *channelKillTest) serve(ctx context.Context, during func(context.Context) error) error {
	c, err := startChild(ctx, t.env, t.program, "serve", "--listen", "127.0.0.1:0", "--db", t.path, "--log-level",
		"debug")
	if err != nil {
		return err
	}
	// The output must be read, or the server would block.
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		c.until(ctx, time.Hour, func([]byte) bool { return false })
	}()
	_, err = t.conn.place.Find(ctx, readyTime)
	if err == nil {
		err = during(ctx)
	} else if ctx.Err() == nil {
		t.violate(failed, "the server did not start: %v: %s", err, c.notes.String())
		err = nil
	}
	err = errors.Join(err, proctest.Kill(c.cmd))
	<-printed
	code, endErr := c.end(func([]byte) {})
	if code >= 0 && ctx.Err() == nil {
		t.violate(failed, "the server ended with code %d before it was killed: %s", code, c.notes.String())
	}
	t.log.Write(c.notes.Bytes())
	for _, v := range t.venues {
		err = errors.Join(err, v.problem())
	}
	return errors.Join(err, endErr)
}

func (t *channelKillTest) violate(f fault, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bad = append(t.bad, violated(f, format, args...))
}

// as calls what with a client that has the token of the account. It retries until a server replies.
func as[T any](
	ctx context.Context, t *channelKillTest, a account, what func(context.Context, *httpapi.Client) (T, error),
) (T, error) {
	out, _, err := call(ctx, t.conn, a.token, what)
	return out, err
}

// ask asks both people. The ask has a key, so that a repeat after a kill makes no second ask.
func (t *channelKillTest) ask(ctx context.Context) (askback.Ask, error) {
	t.mu.Lock()
	n := len(t.asks) + 1
	t.asks = append(t.asks, askback.Ask{})
	t.mu.Unlock()
	a, err := as(ctx, t, t.agent, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Ask(ctx, askback.Request{Key: fmt.Sprint("ask ", n), To: fakes.People, Questions: []askback.Question{{
			Text: fmt.Sprintf("%s step %d?", questionCanary, n), Options: askback.Options("Yes", "No"), NoOther: true,
		}}})
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asks[n-1] = a
	return a, err
}

// beforeKills lets people join. For each channel, it sends one ask to all channels and lets one person answer
// the ask in that channel.
func (t *channelKillTest) beforeKills(ctx context.Context) error {
	for _, v := range t.venues {
		for _, person := range fakes.People {
			_, err := as(ctx, t, t.people[person], func(ctx context.Context, c *httpapi.Client) (struct{}, error) {
				return struct{}{}, v.join(ctx, person, c, t.logIn(c))
			})
			if err != nil {
				return fmt.Errorf("%s joins %s: %w", person, v.name, err)
			}
		}
	}
	for i, v := range t.venues {
		if err := t.answerIn(ctx, v, fakes.People[i%2]); err != nil || len(t.bad) > 0 {
			return err
		}
		t.rounds++
	}
	return nil
}

// logIn returns a function that logs a browser in as the owner of a client.
func (t *channelKillTest) logIn(c *httpapi.Client) func(context.Context) (*fakes.Browser, error) {
	return func(ctx context.Context) (*fakes.Browser, error) {
		secret, err := c.LoginSecret(ctx)
		if err != nil {
			return nil, err
		}
		b := &fakes.Browser{Server: func(ctx context.Context) (string, *http.Client, error) {
			server, client, err := t.conn.connect(ctx)
			return server.URL, client, err
		}}
		return b, b.LogIn(ctx, secret)
	}
}

// answerIn asks, lets a person answer in one venue, and waits until the messages of both people
// in all venues are settled.
func (t *channelKillTest) answerIn(ctx context.Context, v *venue, person string) error {
	ctx, cancel := context.WithTimeout(ctx, venueTime)
	defer cancel()
	a, err := t.ask(ctx)
	if err != nil {
		return err
	}
	if missing := t.await(ctx, a, func(s []fakes.Message) bool { return len(s) == 1 && s[0].Live }); missing != "" {
		t.violate(lost, "no message that can be answered: %s", missing)
		return nil
	}
	if _, err := v.press(ctx, person, sightsOf(v, person, a)[0], "Yes"); err != nil {
		return err
	}
	settled, err := as(ctx, t, t.agent,
		func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) { return c.Wait(ctx, a.ID) })
	if err != nil {
		t.violate(lost, "the answer of %s at %s did not arrive: %v", person, v.name, err)
		return nil
	}
	if o := settled.Outcome; o.Actor.Name != person || o.Answers[0].Selected[0] != "Yes" {
		t.violate(accepted, "%s pressed Yes at %s, and the outcome is %+v", person, v.name, o)
	}
	if open := t.await(ctx, a, closed); open != "" {
		t.violate(lost, "%s answered at %s, and a message looks open: %s", person, v.name, open)
	}
	return nil
}

// closed reports whether at least one message shows that the ask is settled, and no message can be answered.
func closed(all []fakes.Message) bool {
	return slices.ContainsFunc(all, func(m fakes.Message) bool { return m.Settled }) &&
		!slices.ContainsFunc(all, func(m fakes.Message) bool { return m.Live })
}

// await waits until so returns true for the messages of each person at each venue about an ask. If this does
// not happen in time, it returns a description of the first messages that do not match.
func (t *channelKillTest) await(ctx context.Context, a askback.Ask, so func([]fakes.Message) bool) (not string) {
	ok := until(ctx, func() bool {
		not = ""
		for _, v := range t.venues {
			for _, person := range fakes.People {
				if all := sightsOf(v, person, a); !so(all) {
					not = fmt.Sprintf("%s at %s: %s", person, v.name, shownAs(all))
					return false
				}
			}
		}
		return true
	})
	if ok {
		return ""
	}
	return not
}

// maxChannelLife is the maximum lifetime of a server after the first ask. Two of three servers live at most a
// fifth of it, which is about the time needed to send one ask.
const maxChannelLife = 400 * time.Millisecond

// kill asks, lets people answer earlier asks, and returns after a random time, even if calls are still
// running.
func (t *channelKillTest) kill(ctx context.Context) error {
	life := maxChannelLife
	if t.rand.IntN(3) > 0 {
		life /= 5
	}
	ctx, cancel := context.WithTimeout(ctx, randomDuration(t.rand, life))
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { _, _ = t.ask(ctx) })
	for range 2 {
		m, v, person := t.randomSight()
		if v == nil {
			continue
		}
		label, wait := []string{"Yes", "No"}[t.rand.IntN(2)], randomDuration(t.rand, life/2)
		group.Go(func() {
			if pause.For(ctx, wait) == nil {
				_, _ = v.press(ctx, person, m, label)
			}
		})
	}
	<-ctx.Done()
	return nil
}

// randomSight returns a random message that can be answered, its venue, and the person who sees the message.
// The venue is nil if too few messages can be answered.
func (t *channelKillTest) randomSight() (fakes.Message, *venue, string) {
	v, person := t.venues[t.rand.IntN(len(t.venues))], fakes.People[t.rand.IntN(2)]
	live := slices.DeleteFunc(v.seen(person), func(m fakes.Message) bool { return !m.Live })
	if len(live) < 2 { // some asks stay open until the end
		return fakes.Message{}, nil, ""
	}
	return live[t.rand.IntN(len(live))], v, person
}

// drainTime is how long the last server may take to send the remaining deliveries of the killed servers.
// Deliveries that they had claimed are free after 15 seconds, and a few attempts failed.
const drainTime = 7 * time.Minute

// afterKills lets the last server send everything, settles the open asks, and checks all asks.
func (t *channelKillTest) afterKills(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for i, a := range t.asks[t.checked:] {
		i += t.checked
		if a.ID == "" { // the reply was lost
			again, err := t.again(ctx, i+1)
			if err != nil {
				return err
			}
			t.asks[i] = again
		}
	}
	if err := t.drain(ctx); err != nil {
		return err
	}
	for _, a := range t.asks[t.checked:] {
		if err := t.settle(ctx, a); err != nil {
			return err
		}
	}
	if err := t.drain(ctx); err != nil {
		return err
	}
	for _, a := range t.asks[t.checked:] {
		if err := t.check(ctx, a); err != nil {
			return err
		}
	}
	t.checked = len(t.asks)
	return errors.Join(t.checkWebhooks(), t.checkSecrets(ctx))
}

// again repeats the request for ask n, whose reply was lost, and returns the ask.
func (t *channelKillTest) again(ctx context.Context, n int) (askback.Ask, error) {
	return as(ctx, t, t.agent, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Ask(ctx, askback.Request{Key: fmt.Sprint("ask ", n), To: fakes.People, Questions: []askback.Question{{
			Text: fmt.Sprintf("%s step %d?", questionCanary, n), Options: askback.Options("Yes", "No"), NoOther: true,
		}}})
	})
}

// drain waits until all deliveries have ended. It is a violation if they have not ended when ctx ends.
func (t *channelKillTest) drain(ctx context.Context) error {
	var left []askback.Delivery
	var err error
	empty := until(ctx, func() bool {
		var page askback.DeliveryPage
		page, err = as(ctx, t, t.operator, func(ctx context.Context, c *httpapi.Client) (askback.DeliveryPage, error) {
			return c.Deliveries(ctx, askback.DeliveryQuery{Limit: askback.MaxLimit})
		})
		left = page.Items
		if err == nil && len(left) > 0 {
			_ = pause.For(ctx, 100*time.Millisecond)
		}
		return err != nil || len(left) == 0 && page.NextCursor == ""
	})
	if !empty {
		t.violate(lost, "%d deliveries are still on their way, such as %+v", len(left), left[0])
		return nil
	}
	return err
}

// settle settles an open ask. It answers one of three asks in a message, if the message can be answered.
func (t *channelKillTest) settle(ctx context.Context, a askback.Ask) error {
	v, person := t.venues[t.rand.IntN(len(t.venues))], fakes.People[t.rand.IntN(2)]
	if all := sightsOf(v, person, a); len(all) > 0 && all[0].Live && t.rand.IntN(3) == 0 {
		if _, err := v.press(ctx, person, all[0], "Yes"); err != nil {
			return err
		}
		_, err := as(ctx, t, t.agent,
			func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) { return c.Wait(ctx, a.ID) })
		return err
	}
	_, err := as(ctx, t, t.people[person], func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Answer(ctx, a.ID, askback.Choose("No"))
	})
	if errors.Is(err, askback.ErrSettled) {
		return nil
	}
	return err
}

func (t *channelKillTest) report() report {
	return report{
		noun: "kills", what: "while all channels send", n: t.kills, bad: t.bad,
		detail: fmt.Sprintf("%d asks to %s and a webhook, %d of them answered in each; %d messages repeated by a kill",
			len(t.asks), strings.Join(t.names(), ", "), t.rounds, t.repeats),
	}
}

func (t *channelKillTest) names() []string {
	var all []string
	for _, v := range t.venues {
		all = append(all, v.name)
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}
