package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/test/kit/fakes"
)

// questionCanary is in each question. No log, metric or trace may contain it.
const questionCanary = "Does the canary sing at"

// check checks that an ask is settled, and compares the messages that both people see about the ask with the
// deliveries that the server lists.
func (t *channelKillTest) check(ctx context.Context, asked askback.Ask) error {
	a, err := as(ctx, t, t.agent,
		func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) { return c.Get(ctx, asked.ID) })
	if err != nil {
		return err
	}
	if !a.Settled() {
		t.violate(lost, "%s is not settled", a.ID)
	}
	deliveries, err := as(ctx, t, t.agent, func(ctx context.Context, c *httpapi.Client) (askback.DeliveryPage, error) {
		return c.Deliveries(ctx, askback.DeliveryQuery{AskID: a.ID, Limit: askback.MaxLimit})
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&t.scraped, "%+v\n", deliveries)
	for _, v := range t.venues {
		for _, person := range fakes.People {
			t.checkSights(a, v, person, deliveries.Items)
		}
	}
	return nil
}

// checkSights checks the messages that one person sees about a settled ask at one venue.
func (t *channelKillTest) checkSights(a askback.Ask, v *venue, person string, deliveries []askback.Delivery) {
	var question *askback.Delivery
	outcomes := 0
	for i, d := range deliveries {
		switch {
		case d.Channel != v.channel || d.Person != person:
		case d.Event == askback.EventQuestionPending:
			question = &deliveries[i]
		default:
			outcomes++
		}
		if d.Status != askback.DeliverySent && d.Status != askback.DeliverySkipped {
			t.violate(lost, "the delivery %s to %s is %s: %s", d.ID, d.Target, d.Status, d.Error)
		}
	}
	all := sightsOf(v, person, a)
	switch {
	case question == nil || outcomes != 1:
		t.violate(lost, "%s: the server has no question or %d outcomes for %s at %s: %+v", a.ID, outcomes, person,
			v.name, deliveries)
	case question.Status == askback.DeliverySent && len(all) == 0:
		t.violate(lost, "%s: %s does not see it at %s, although it was sent: %+v", a.ID, person, v.name, *question)
	case len(all) > 0 && !closed(all):
		t.violate(lost, "%s: %s at %s sees a message that looks open: %s", a.ID, person, v.name, shownAs(all))
	case len(all) > 1+t.kills:
		t.violate(duplicated, "%s: %s at %s sees %d messages: %s", a.ID, person, v.name, len(all), shownAs(all))
	}
	if len(all) > 1 {
		t.repeats += len(all) - 1
	}
}

// checkWebhooks checks that the receiver of webhooks got each event of each ask, in order, and each repeat
// with the same id and content.
func (t *channelKillTest) checkWebhooks() error {
	type content struct{ ask, event, body string }
	first, order := map[string]content{}, map[string][]string{}
	received, err := t.webhooks.Messages(fakes.Receiver)
	if err != nil {
		return err
	}
	for _, m := range received {
		if m.Problem != "" {
			t.violate(failed, "a webhook is not valid: %s", m.Problem)
			continue
		}
		got := content{m.Ask, m.Event, m.Text}
		switch old, repeat := first[m.ID]; {
		case repeat && (old.ask != got.ask || old.event != got.event):
			t.violate(duplicated, "two webhooks have the id %s: %v, %v", m.ID, old, got)
		case !repeat:
			first[m.ID] = got
			order[got.ask] = append(order[got.ask], got.event)
		default:
			t.repeats++
		}
	}
	for _, a := range t.asks {
		if got := order[a.ID]; !slices.Equal(got,
			[]string{string(askback.EventQuestionPending), string(askback.EventQuestionAnswered)}) {
			t.violate(lost, "%s: the webhooks are %q", a.ID, got)
		}
	}
	return nil
}

// secretLinks matches the token in a link to a page that needs no log-in. secretReplies matches the token in
// an address for replies.
var (
	secretLinks   = regexp.MustCompile(regexp.QuoteMeta(publicPages) + `/a/([^\s"<>)]{20,})`)
	secretReplies = regexp.MustCompile(`ask\+([0-9a-z]{20,})@`)
)

// A token and a link that are not valid, for requests of the test. The traces must not contain them.
const (
	forgedToken = "ab_forged_token_01234567890123456789"
	forgedLink  = "forged-token-of-a-link"
)

// checkSecrets checks that the data that a server writes contains no secrets of the settings, no tokens, no
// links, and no text of asks. The data is the log at the level debug, the metrics, the states, the deliveries
// and the traces.
func (t *channelKillTest) checkSecrets(ctx context.Context) error {
	for _, path := range []string{
		"/metrics", "/readyz", "/livez", "/healthz", "/api/v1/asks/ask_unknown", "/a/" + forgedLink,
		"/api/v1/deliveries?limit=200",
	} {
		for _, token := range []string{"", t.operator.token, forgedToken} {
			if err := t.scrape(ctx, path, token); err != nil {
				return err
			}
		}
	}
	secrets := map[string]string{
		"the secret of webhooks": strings.TrimPrefix(askbacktest.ReceiverSecret, "whsec_"),
		"the token of the agent": t.agent.token, "the token of the operator": t.operator.token,
		"text of an ask": questionCanary,
	}
	for person, a := range t.people {
		secrets["the token of "+person] = a.token
	}
	links := 0
	for _, v := range t.venues {
		state, err := v.State()
		if err != nil {
			return err
		}
		for i, s := range append(v.Describe().Secrets, state.Secrets...) {
			secrets[fmt.Sprintf("secret %d of %s", i, v.name)] = s
		}
		for _, person := range fakes.People {
			for i, s := range v.seen(person) {
				raw := fmt.Sprintf("%s\n%+v", s.Text, s)
				for _, found := range append(secretLinks.FindAllStringSubmatch(raw, -1),
					secretReplies.FindAllStringSubmatch(raw, -1)...) {
					links++
					secrets[fmt.Sprintf("a link or an address of message %d to %s at %s", i, person, v.name)] = found[1]
				}
			}
		}
	}
	if links == 0 || t.log.Len() == 0 || t.scraped.Len() == 0 {
		t.violate(failed, "there is nothing to search: %d links, %d bytes of logs, %d bytes of reports", links,
			t.log.Len(), t.scraped.Len())
	}
	t.search("the log", t.log.String(), secrets)
	t.search("what the server reports", t.scraped.String(), secrets)
	t.checkTraces(ctx, secrets)
	return nil
}

// scrape sends a GET request with a token, and adds the reply of the server to t.scraped.
func (t *channelKillTest) scrape(ctx context.Context, path, token string) error {
	server, client, err := t.conn.connect(ctx)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
	if err != nil {
		return err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, reply.Body); err != nil {
		return err
	}
	fmt.Fprintf(&t.scraped, "%s %s %v\n%s\n", path, reply.Status, reply.Header, b.String())
	return nil
}

// hiddenMessage is the mutant in which ana does not see one of five questions in ntfy.
const hiddenMessage = "hidden-message"

// mutantVenues returns the venues of a test. With the mutant hiddenMessage, the first venue hides messages.
func mutantVenues(mutant string, all []*venue) []*venue {
	if mutant == hiddenMessage {
		all[0].hides = func(person string, m fakes.Message) bool {
			return person == "ana" && strings.HasSuffix(steps.FindString(m.Text), "5")
		}
	}
	return all
}
