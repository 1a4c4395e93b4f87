package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/racedetector"
	"github.com/askback/askback/web"
)

// receiver is a channel whose reply depends on the title of the ask.
type receiver struct {
	mu      sync.Mutex
	replies map[string]error
	tests   [][]string // secrets of test messages
}

func (c *receiver) Send(_ context.Context, n askback.Notification) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return "", c.replies[n.Ask.Title]
}

// SendTest sends a test message. The reply is the same as for an ask whose title is the address.
func (c *receiver) SendTest(_ context.Context, _, _, address string, secrets []string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tests = append(c.tests, secrets)
	if err := c.replies[address]; err != nil {
		return http.StatusServiceUnavailable, err
	}
	return http.StatusNoContent, nil
}

func (c *receiver) reply(title string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies[title] = err
}

func givenUp(text string) error {
	return &askback.SendError{Err: errors.New(text), Final: true}
}

// newSender replaces the engine of a server by an engine that sends to a receiver. The clock of the server
// runs, because an attempt can begin some seconds late if two changes coincide.
func (h *server) newSender() *receiver {
	h.t.Helper()
	to, began := &receiver{replies: map[string]error{}}, time.Now()
	now := func() time.Time { return evening.Add(time.Since(began)) }
	h.engine = engine.New(memstore.New(),
		&engine.Options{Now: now, Channels: map[string]engine.Channel{"webhook": to, "phone": to}})
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{Now: now})
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.engine.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			h.t.Error(err)
		}
	})
	return to
}

// callBack makes an ask with a callback, and waits until one attempt was made to send its event.
func (h *server) callBack(title string) (askback.Ask, askback.Delivery) {
	h.t.Helper()
	r := single
	r.Title, r.CallbackURL = title, "https://agents.example.com/calls?key=secret"
	a := h.ask(r)
	return a, h.waitSent(a, 1)
}

// waitSent waits until at least n attempts to send the first delivery of an ask were made. It returns the
// delivery.
func (h *server) waitSent(a askback.Ask, n int) askback.Delivery {
	h.t.Helper()
	return h.waitDelivery(a, func(d askback.Delivery) bool { return d.Attempts >= n })
}

// waitStatus waits until the first delivery of an ask has a status.
func (h *server) waitStatus(a askback.Ask, status askback.DeliveryStatus) {
	h.t.Helper()
	h.waitDelivery(a, func(d askback.Delivery) bool { return d.Status == status })
}

func (h *server) waitDelivery(a askback.Ask, until func(askback.Delivery) bool) askback.Delivery {
	h.t.Helper()
	ops, deadline := h.client(askback.Operator, "ops"), time.Now().Add(time.Minute)
	var last askback.Delivery
	for time.Now().Before(deadline) {
		page, err := ops.Deliveries(context.Background(), askback.DeliveryQuery{AskID: a.ID})
		if err != nil {
			h.t.Fatal(err)
		}
		if n := len(page.Items); n > 0 {
			if last = page.Items[n-1]; until(last) {
				return last
			}
		}
		<-time.After(time.Millisecond)
	}
	h.t.Fatalf("got %+v for a minute", last)
	return last
}

// An operator sees which deliveries were sent and which were not, without the asks and the secret part of an
// address (E10, F16). An admin, who may answer, sees the asks, too.
func TestDeliveriesShowTheirState(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	to.reply("given up", givenUp("the reply was 404 Not Found"))
	to.reply("busy", errors.New("the connection was refused"))
	accepted, sent := h.callBack("accepted")
	_, failed := h.callBack("given up")
	_, busy := h.callBack("busy")
	admin := browser{h, h.secret(askback.Admin, "root")}
	ops := browser{h, h.secret(askback.Operator, "ops")}
	text := func(b browser, path, id string) string {
		t.Helper()
		return b.open(path, http.StatusOK).one(t, "#"+id).visibleText()
	}
	for _, c := range []struct {
		path, id string
		want     []string
	}{
		{"/deliveries", failed.ID, []string{
			"Asked Which database should we use?",
			"Webhook https://agents.example.com Given up 1 attempt the reply was 404 Not Found",
			"last attempt 18:3", "Send again",
		}},
		{"/deliveries", busy.ID, []string{"Retrying", "the connection was refused", "next attempt 18:3", "tried 18:3"}},
		{"/deliveries?status=sent", sent.ID, []string{"Accepted 18:3"}},
	} {
		for _, want := range c.want {
			if got := text(admin, c.path, c.id); !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in %q", c.path, want, got)
			}
		}
		page := ops.open(c.path, http.StatusOK)
		if got := page.raw(); strings.Contains(got, "secret") || strings.Contains(got, "Which database") ||
			len(page.all("main li a")) != 0 {
			t.Errorf("%s of an operator has a secret, a title or a link to an ask: %s", c.path,
				page.one(t, "main").visibleText())
		}
	}
	if got := admin.open("/deliveries?status=failed", http.StatusOK).all("main li"); len(got) != 1 {
		t.Errorf("%d deliveries were given up, want 1", len(got))
	}
	if got := admin.open("/deliveries?status=sent",
		http.StatusOK).one(t, ".delivery-ask").attr["href"]; got != "/asks/"+accepted.ID {
		t.Errorf("the link leads to %s", got)
	}
	admin.open("/deliveries?status=lost", http.StatusNotFound)
	if got := h.browser("ana").open("/deliveries",
		http.StatusForbidden).one(t, "main").visibleText(); !strings.Contains(got, "Only for admins") {
		t.Errorf("a person who only answers sees %q", got)
	}
}

// Without scripts, a form sends a delivery that was given up again, once. The page shows the result, even to an
// operator whose page was out of date. Forms of other sites have no effect (T11).
func TestDeliveryIsSentAgain(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	to.reply("x", givenUp("the reply was 410 Gone"))
	a, failed := h.callBack("x")
	ops := browser{h, h.secret(askback.Operator, "ops")}
	form := ops.open("/deliveries?status=failed", http.StatusOK).one(t, "#"+failed.ID+" form")
	path, values := form.attr["action"], url.Values{}
	for _, n := range form.all("input") {
		values.Set(n.attr["name"], n.attr["value"])
	}
	foreign := ops.request(http.MethodPost, path, values)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if w := h.do(foreign); w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: got status %d", w.Code)
	}
	h.browser("ana").send(path, values, http.StatusForbidden)
	ops.send("/deliveries/dlv_0/retry", url.Values{}, http.StatusNotFound)
	if d := h.waitSent(a, 1); d.Attempts != 1 {
		t.Fatalf("it was sent again: %+v", d)
	}
	to.reply("x", nil)
	for _, state := range []string{"first", "out of date"} {
		done := h.do(ops.request(http.MethodPost, path, values))
		h.waitStatus(a, askback.DeliverySent)
		page := ops.open(done.Header().Get("Location"), http.StatusOK)
		if got := page.one(t, ".done-notice").visibleText(); done.Code != http.StatusSeeOther ||
			!strings.Contains(got, "Sent again The receiver has accepted the message.") {
			t.Errorf("%s: got status %d and the notice %q", state, done.Code, got)
		}
		if got := page.one(t, `.periods [aria-current="true"]`).visibleText(); got != "Given up" {
			t.Errorf("%s: the filter is %q", state, got)
		}
	}
	unknown := "/deliveries?done=" + failed.ID + "&of=ask_00000000000000000000000000"
	if n := len(ops.open(unknown, http.StatusOK).all(".done-notice")); n != 0 {
		t.Error("a made-up address claims that something was sent")
	}
}

// A delivery that waits for a paused receiver is marked. A delivery that a disabled receiver did not get
// cannot be sent again. Both lists offer to resume the receiver, and the page of the ask links to them.
func TestDeliveriesOfAPausedReceiverAreMarked(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	first, _ := h.callBack("first")
	h.waitStatus(first, askback.DeliverySent)
	admin := browser{h, h.secret(askback.Admin, "root")}
	e := admin.open("/endpoints", http.StatusOK).one(t, ".endpoint").attr["id"]
	admin.send("/endpoints", url.Values{"id": {e}, "action": {"pause"}}, http.StatusOK)
	r := single
	r.Title, r.CallbackURL = "second", "https://agents.example.com/calls?key=secret"
	second := h.ask(r)
	held := h.waitDelivery(second, func(d askback.Delivery) bool { return d.EndpointID == e })
	resume := func(path, id string, want ...string) {
		t.Helper()
		row := admin.open(path, http.StatusOK).one(t, "#"+id)
		for _, want := range want {
			if got := row.visibleText(); !strings.Contains(got, want) || strings.Contains(got, "Send again") {
				t.Errorf("%s: %q is not in %q", path, want, got)
			}
		}
		values := url.Values{"action": {row.one(t, "button").attr["value"]}}
		for _, n := range row.all("input") {
			values.Set(n.attr["name"], n.attr["value"])
		}
		got := admin.send(row.one(t, "form").attr["action"], values,
			http.StatusOK).one(t, "#"+e).one(t, ".done-notice").visibleText()
		if !strings.Contains(got, "Resumed") {
			t.Errorf("%s: the notice is %q", path, got)
		}
	}
	if got := admin.open("/asks/"+second.ID, http.StatusOK).one(t,
		".deliveries-of").visibleText(); !strings.Contains(got, "Webhook to https://agents.example.com Paused") {
		t.Errorf("the page of the ask has %q", got)
	}
	admin.open("/asks/"+second.ID, http.StatusOK).one(t, `.deliveries-of a[href="/endpoints?status=paused"]`)
	resume("/deliveries", held.ID, "Paused", "The receiver is paused, so this delivery waits.",
		"when the receiver is resumed")
	h.waitStatus(second, askback.DeliverySent)
	to.reply("gone", &askback.SendError{Err: errors.New("the reply was 410 Gone"), Final: true, Gone: true})
	gone, _ := h.callBack("gone")
	lost := h.waitDelivery(gone, func(d askback.Delivery) bool { return d.EndpointStatus == askback.EndpointDisabled })
	resume("/deliveries?status=failed", lost.ID, "Given up",
		"The receiver is disabled, so another attempt would fail again.")
	if got := admin.open("/deliveries?status=failed",
		http.StatusOK).one(t, "#"+lost.ID).visibleText(); !strings.Contains(got, "Send again") {
		t.Errorf("after it was resumed: %q", got)
	}
	if n := len(admin.open("/deliveries?status=skipped", http.StatusOK).all("li.delivery")); n != 0 {
		t.Errorf("%d deliveries are not needed, want none", n)
	}
}

// The list and the page of an ask show the receiver of a delivery, and the time at which the list was loaded.
func TestDeliveriesNameThePerson(t *testing.T) {
	h := newServer(t)
	h.newSender()
	h.engine.Set(engine.Settings{Receivers: []engine.Receiver{{Channel: "phone", Name: "ntfy-of-ana", Person: "ana"}}})
	a := h.ask(single)
	d := h.waitSent(a, 1)
	admin := browser{h, h.secret(askback.Admin, "root")}
	page := admin.open("/deliveries?status=sent", http.StatusOK)
	if got := page.one(t, "#"+d.ID).visibleText(); !strings.Contains(got, "to ana ntfy-of-ana Accepted") {
		t.Errorf("the list has %q", got)
	}
	if got := page.one(t, ".deliveries-loaded").visibleText(); !strings.HasPrefix(got, "As of 3 November 2026, 18:3") {
		t.Errorf("the list has %q", got)
	}
	if got := page.all(".deliveries-loaded a")[0].attr["href"]; got != "/deliveries?status=sent" {
		t.Errorf("Reload leads to %s", got)
	}
	if got := admin.open("/asks/"+a.ID,
		http.StatusOK).one(t, ".deliveries-of").visibleText(); !strings.Contains(got, "Phone to ana Accepted 18:3") {
		t.Errorf("the page of the ask has %q", got)
	}
}

// An empty list explains how to get a delivery. Later it reports that everything has arrived.
func TestEmptyListOfDeliveriesExplainsCallbacks(t *testing.T) {
	h := newServer(t)
	h.newSender()
	ops := browser{h, h.secret(askback.Operator, "ops")}
	if got := ops.open("/deliveries",
		http.StatusOK).one(t, "main pre.command").visibleText(); !strings.Contains(got, `"callback_url"`) {
		t.Errorf("the command is %q", got)
	}
	h.callBack("x")
	if got := ops.open("/deliveries",
		http.StatusOK).one(t, ".list-empty").visibleText(); !strings.HasPrefix(got, "Every message has arrived.") {
		t.Errorf("the list has %q", got)
	}
	if got := ops.open("/deliveries?status=failed",
		http.StatusOK).one(t, ".list-empty").visibleText(); !strings.HasPrefix(got, "No message has this status.") {
		t.Errorf("the list has %q", got)
	}
}

// The page of an ask and the timeline of its session show the deliveries to an admin. A person who may only
// answer does not see the deliveries.
func TestAskAndTimelineShowDeliveries(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	to.reply("run", givenUp("the reply was 410 Gone"))
	s, err := h.client(askback.Agent, "bot").Start(t.Context(),
		askback.SessionRequest{Key: "run", CallbackURL: "https://sessions.example.com/x"})
	if err != nil {
		t.Fatal(err)
	}
	r := single
	r.Title, r.SessionID = "run", s.ID
	a := h.ask(r)
	h.waitSent(a, 1)
	admin, ana := browser{h, h.secret(askback.Admin, "root")}, h.browser("ana")
	check := func(path, selector, want string) {
		t.Helper()
		if got := admin.open(path, http.StatusOK).one(t, selector).visibleText(); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", path, want, got)
		}
		if page := ana.open(path, http.StatusOK); strings.Contains(page.raw(), "sessions.example.com") {
			t.Errorf("%s shows deliveries to a responder", path)
		}
	}
	given := "Webhook to https://sessions.example.com Given up"
	check("/asks/"+a.ID, ".deliveries-of", given+" last attempt 18:3")
	check("/sessions/"+s.ID, "#timeline", given+" Asked the reply was 410 Gone")
	ana.settle(a, url.Values{"action": {"answer"}, "q1": {"1"}})
	check("/asks/"+a.ID, ".deliveries-of", given)
	check("/history/"+a.ID, ".deliveries-of", given)
	if _, err := h.client(askback.Agent, "bot").Send(t.Context(), s.ID, askback.Complete{}); err != nil {
		t.Fatal(err)
	}
	ops := h.client(askback.Operator, "ops")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		if page, err := ops.Deliveries(t.Context(), askback.DeliveryQuery{SessionID: s.ID}); err != nil ||
			len(page.Items) == 1 && page.Items[0].Attempts == 1 {
			break
		}
	}
	check("/sessions/"+s.ID, "#timeline", "Webhook to https://sessions.example.com Accepted Session completed")
	if got := admin.open("/deliveries?status=sent",
		http.StatusOK).one(t, `main li a[href="/sessions/`+s.ID+`"]`); got == nil {
		t.Error("the delivery of the session has no link")
	}
}

// Text of an agent, of a receiver, and in the name of a host stays inside its blocks (T10).
func TestHostileDeliveriesStayInsideTheirBlocks(t *testing.T) {
	racedetector.Omit(t)
	h := newServer(t)
	to := h.newSender()
	admin := browser{h, h.secret(askback.Admin, "root")}
	for _, s := range injections {
		title := name("~" + s)
		to.reply(title, givenUp(title))
		r := single
		r.Title, r.CallbackURL = title, "https://~"+url.PathEscape(front(s, 20))+".example.com/"
		if askback.CallbackProblem(r.CallbackURL) != "" {
			r.CallbackURL = "https://~.example.com/"
		}
		a := h.ask(r)
		h.waitSent(a, 1)
		checkFrames(t, admin.open("/asks/"+a.ID, http.StatusOK), s)
		checkFrames(t, admin.open("/sessions/"+a.SessionID, http.StatusOK), s)
	}
	seen, path := 0, "/deliveries?status=failed"
	for path != "" {
		page := admin.open(path, http.StatusOK)
		checkFrames(t, page, "a page of all")
		seen += len(page.all("li.delivery"))
		path = ""
		for _, n := range page.all(".next-page a") {
			path = n.attr["href"]
		}
	}
	if seen != len(injections) {
		t.Errorf("%d deliveries are listed, want %d", seen, len(injections))
	}
}

// In a real browser, the page fits a phone, its controls are big enough, and it violates no rule of WCAG 2.2
// AA. Its button works with and without scripts.
func TestChromiumDeliveriesFitAPhone(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	to := c.newSender()
	to.reply("given up", givenUp("the reply was 503 Service Unavailable"))
	to.reply("busy", errors.New("the connection was refused"))
	c.callBack("accepted")
	c.callBack("busy")
	a, _ := c.callBack("given up")
	c.callBack("given up")
	w := c.window(phone)
	w.Run(network.SetCookie("askback", w.secret(askback.Admin, "ana")).WithURL(w.base).WithHTTPOnly(true).WithSameSite(
		network.CookieSameSiteStrict,
	))
	for _, path := range []string{
		"/deliveries", "/deliveries?status=sent", "/deliveries?status=waiting", "/asks/" + a.ID,
		"/sessions/" + a.SessionID,
	} {
		w.open(path)
		w.checkAccessibility(path)
		w.look(360, "light")
		w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
	}
	w.open("/deliveries")
	var small []string
	w.Run(chromedp.Evaluate(`[...document.querySelectorAll("main a, main button")].filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)`, &small))
	if len(small) > 0 {
		t.Errorf("less than 44 px high: %q", small)
	}
	to.reply("given up", nil)
	w.Press(".delivery form button")
	w.waitText("Sent again")
	w.waitUntil(`document.querySelectorAll(".delivery form").length === 1`)
	plain := c.window(browsertest.Viewport{Width: 1400, Height: 900, NoScript: true})
	plain.Run(network.SetCookie("askback", w.secret(askback.Admin, "ben")).
		WithURL(w.base).WithHTTPOnly(true).WithSameSite(network.CookieSameSiteStrict))
	plain.open("/deliveries")
	plain.Press(".delivery form button")
	plain.waitText("Sent again")
	c.waitStatus(a, askback.DeliverySent)
	c.Check(t)
}

// The list has pages, and the link to the next page keeps the filter.
func TestDeliveriesAreSplitIntoPages(t *testing.T) {
	h := newServer(t)
	h.newSender()
	for range askback.DefaultLimit + 1 {
		h.callBack("x")
	}
	ops := browser{h, h.secret(askback.Operator, "ops")}
	first := ops.open("/deliveries?status=sent", http.StatusOK)
	next := ops.open(first.one(t, ".next-page a").attr["href"], http.StatusOK)
	if a, b := len(first.all("li.delivery")), len(next.all("li.delivery")); a != askback.DefaultLimit || b != 1 {
		t.Errorf("the pages have %d and %d deliveries", a, b)
	}
	if !slices.ContainsFunc(next.all(".periods a"),
		func(n *node) bool { return n.attr["aria-current"] == "true" && n.visibleText() == "Accepted" }) {
		t.Error("the filter is lost")
	}
}
