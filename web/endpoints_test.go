package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/racedetector"
)

// endpoint makes an endpoint, and returns it with its secret.
func (h *server) endpoint(address, owner string) (askback.Endpoint, string) {
	h.t.Helper()
	e, secret, err := h.client(askback.Operator, "ops").CreateEndpoint(context.Background(),
		askback.EndpointRequest{URL: address, Owner: owner})
	if err != nil {
		h.t.Fatal(err)
	}
	return e, secret
}

// endpointNow returns the present state of an endpoint.
func (h *server) endpointNow(id string) askback.Endpoint {
	h.t.Helper()
	page, err := h.client(askback.Operator, "ops").Endpoints(context.Background(), askback.EndpointQuery{})
	if i := slices.IndexFunc(page.Items, func(e askback.Endpoint) bool { return e.ID == id }); err == nil && i >= 0 {
		return page.Items[i]
	}
	h.t.Fatalf("there is no endpoint %s: %+v, %v", id, page.Items, err)
	return askback.Endpoint{}
}

// formOf returns the values that a button of an endpoint sends.
func formOf(t *testing.T, page *node, id, action string) url.Values {
	t.Helper()
	for _, form := range page.one(t, "#"+id).all("form") {
		for _, b := range form.all("button") {
			if b.attr["value"] != action {
				continue
			}
			if form.attr["method"] != "post" || form.attr["action"] != "/endpoints" {
				t.Errorf("the form has %v", form.attr)
			}
			values := url.Values{b.attr["name"]: {action}}
			for _, n := range form.all("input") {
				values.Set(n.attr["name"], n.attr["value"])
			}
			return values
		}
	}
	t.Fatalf("%s has no button %s", id, action)
	return nil
}

// secure sends a form over https.
func (b browser) secure(form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := b.request(http.MethodPost, "/endpoints", form)
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("Cookie", strings.Replace(r.Header.Get("Cookie"), "askback=", "__Host-askback=", 1))
	return b.do(r)
}

// secureList opens the list over https.
func (b browser) secureList() *node {
	b.t.Helper()
	r := b.request(http.MethodGet, "/endpoints", nil)
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("Cookie", strings.Replace(r.Header.Get("Cookie"), "askback=", "__Host-askback=", 1))
	return b.page(b.do(r), http.StatusOK)
}

// Operators and admins see the receivers of webhooks, and pause and resume them without scripts (E3). The
// list shows who paused or resumed a receiver. Other people do not see the list.
func TestEndpointIsPausedAndResumed(t *testing.T) {
	h := newServer(t)
	h.newSender()
	e, _ := h.endpoint("https://agents.example.com/calls?key=secret", "bot")
	other, _ := h.endpoint("https://planner.example.com/", "planner")
	ops := browser{h, h.secret(askback.Operator, "ops")}
	for _, c := range []struct {
		action, word, status string
		want                 []string
	}{
		{"pause", "Paused", "paused", []string{
			"Paused by ops", "Messages wait", "https://agents.example.com", "asks of bot",
		}},
		{"resume", "Resumed", "active", []string{
			"Resumed by ops", "3 November 2026, 18:3", "Active", "secret created 3 November 2026, 18:3",
		}},
	} {
		page := ops.send("/endpoints", formOf(t, ops.open("/endpoints", http.StatusOK), e.ID, c.action), http.StatusOK)
		row := page.one(t, "#"+e.ID)
		if got := row.one(t, ".done-notice").visibleText(); !strings.Contains(got, c.word) {
			t.Errorf("%s: the notice is %q", c.action, got)
		}
		if n := len(page.all(".done-notice")); n != 1 {
			t.Errorf("%s: the page has %d notices", c.action, n)
		}
		for _, want := range c.want {
			if got := row.visibleText(); !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in %q", c.action, want, got)
			}
		}
		if strings.Contains(page.raw(), "key=secret") {
			t.Errorf("%s: the page has the secret part of an address", c.action)
		}
		list := ops.open("/endpoints?status="+c.status, http.StatusOK)
		if got := list.one(t, `.periods [aria-current="true"]`).visibleText(); !strings.EqualFold(got, c.status) ||
			len(list.all("#"+e.ID)) != 1 {
			t.Errorf("the list of %s ones lacks it; its filter is %q", c.status, got)
		}
	}
	if h.endpointNow(other.ID).By != "" {
		t.Error("another endpoint was changed")
	}
	browser{h, h.secret(askback.Admin, "root")}.open("/endpoints", http.StatusOK)
	// The pages reject a person before the engine does, and reject all agents.
	for kind, heading := range map[askback.Kind]string{
		askback.Responder: "Only for admins", askback.Agent: "This token cannot answer questions",
	} {
		b := browser{h, h.secret(kind, "eve")}
		for what, page := range map[string]*node{
			"the list": b.open("/endpoints", http.StatusForbidden),
			"a form":   b.send("/endpoints", url.Values{"id": {e.ID}, "action": {"pause"}}, http.StatusForbidden),
		} {
			if got := page.one(t, "h1").visibleText(); got != heading {
				t.Errorf("%s for %s: got the page %q", what, kind, got)
			}
		}
	}
	foreign := ops.request(http.MethodPost, "/endpoints", url.Values{"id": {e.ID}, "action": {"pause"}})
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if w := h.do(foreign); w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: got status %d", w.Code)
	}
	for _, action := range []string{"pause", "test", "resend", "rotate", "remove"} {
		ops.open("/endpoints?"+url.Values{"id": {e.ID}, "action": {action}}.Encode(), http.StatusOK)
	}
	if now := h.endpointNow(e.ID); now.Status != askback.EndpointActive || !now.SecretAt.Equal(e.SecretAt) {
		t.Errorf("a GET or a form of another site has changed it: %+v", now)
	}
	ops.send("/endpoints", url.Values{"id": {e.ID}, "action": {"explode"}}, http.StatusBadRequest)
	ops.open("/endpoints?status=lost", http.StatusNotFound)
}

// A new secret is in one reply, only over https, and no cache keeps the reply (T22, T28). If the same form is
// sent again, it makes no second secret, because the receiver would lose the secret that it has.
func TestNewEndpointSecretIsShownOnce(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	e, old := h.endpoint("https://agents.example.com/", "bot")
	ops := browser{h, h.secret(askback.Operator, "ops")}
	plain := ops.open("/endpoints", http.StatusOK).one(t, "#"+e.ID)
	if got := plain.visibleText(); !strings.Contains(got, "askback webhook rotate "+e.ID) {
		t.Errorf("over http, the page has %q", got)
	}
	form := formOf(t, ops.secureList(), e.ID, "rotate")
	ops.send("/endpoints", form, http.StatusUnprocessableEntity)
	if !h.endpointNow(e.ID).SecretAt.Equal(e.SecretAt) {
		t.Fatal("a secret was made over http")
	}
	w := ops.secure(form)
	page := ops.page(w, http.StatusCreated)
	secret := page.one(t, "#secret").attr["value"]
	if w.Header().Get("Cache-Control") != "no-store" || !strings.HasPrefix(secret, "whsec_") || secret == old {
		t.Errorf("got the secret %q and the header %v", secret, w.Header())
	}
	if button := page.one(t, "[data-copy]"); button.attr["data-copy"] != "secret" {
		t.Errorf("the button has %v", button.attr)
	}
	rotated := h.endpointNow(e.ID)
	again := ops.secure(form)
	if got := ops.page(again,
		http.StatusConflict).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Nothing has changed") {
		t.Errorf("the form sent again: %q", got)
	}
	if now := h.endpointNow(e.ID); !now.SecretAt.Equal(rotated.SecretAt) || rotated.OldSecretUntil.IsZero() {
		t.Errorf("the form sent twice: got %+v, then %+v", rotated, now)
	}
	list := ops.secureList()
	if strings.Contains(list.raw(), secret) || strings.Contains(again.Body.String(), "whsec_") {
		t.Error("another page has the secret")
	}
	if got := list.one(t, "#"+e.ID).visibleText(); !strings.Contains(got,
		"the previous secret signs as well until 4 November 2026") || !strings.Contains(got, "stops immediately") {
		t.Errorf("the list has %q", got)
	}
	ops.send("/endpoints", formOf(t, list, e.ID, "test"), http.StatusOK)
	if want := []string{secret, old}; len(to.tests) != 1 || !slices.Equal(to.tests[0], want) {
		t.Errorf("signed with %q, want %q", to.tests, want)
	}
}

// The row of an endpoint shows the result of a test message: the status, the time, and the reason if it was
// not accepted.
func TestResultOfATestMessageIsShown(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	good, _ := h.endpoint("https://good.example.com/", "bot")
	bad, _ := h.endpoint("https://bad.example.com/", "bot")
	to.reply("https://bad.example.com/", errors.New("the reply was 503 Service Unavailable"))
	ops := browser{h, h.secret(askback.Operator, "ops")}
	list := ops.open("/endpoints", http.StatusOK)
	for id, want := range map[string][]string{
		good.ID: {"Test accepted status 204, in "}, bad.ID: {"Test not accepted status 503", "the reply was 503"},
	} {
		got := ops.send("/endpoints", formOf(t, list, id, "test"),
			http.StatusOK).one(t, "#"+id).one(t, ".done-notice").visibleText()
		for _, want := range want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
	}
	for attempt := 1; ; attempt++ { // the clock runs, so that a second may pass between two tests
		w := h.do(ops.request(http.MethodPost, "/endpoints", formOf(t, list, good.ID, "test")))
		if w.Code == http.StatusOK && attempt < 20 {
			continue
		}
		if got := ops.page(w, http.StatusTooManyRequests).one(t,
			".done-notice").visibleText(); !strings.Contains(got, "less than a second ago") {
			t.Errorf("the immediate second test: %q", got)
		}
		break
	}
}

// One button sends all deliveries again that were given up. A disabled endpoint has no such button, because its
// messages would be given up again.
func TestGivenUpMessagesAreSentAgain(t *testing.T) {
	h := newServer(t)
	to := h.newSender()
	to.reply("x", givenUp("the reply was 404 Not Found"))
	a, _ := h.callBack("x")
	h.waitStatus(a, askback.DeliveryFailed)
	ops := browser{h, h.secret(askback.Operator, "ops")}
	list := ops.open("/endpoints", http.StatusOK)
	e := list.one(t, ".endpoint").attr["id"]
	to.reply("x", nil)
	form := formOf(t, list, e, "resend")
	if got := ops.send("/endpoints", form,
		http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Sent again 1 message") {
		t.Errorf("the notice is %q", got)
	}
	h.waitStatus(a, askback.DeliverySent)
	if got := ops.send("/endpoints", form,
		http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Nothing to send again") {
		t.Errorf("the notice is %q", got)
	}
	to.reply("gone", &askback.SendError{Err: errors.New("the reply was 410 Gone"), Final: true, Gone: true})
	h.callBack("gone")
	for deadline := time.Now().Add(time.Minute); h.endpointNow(e).Status != askback.EndpointDisabled &&
		time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	row := ops.open("/endpoints?status=disabled", http.StatusOK).one(t, "#"+e)
	if got := row.visibleText(); !strings.Contains(got, "because it answered 410 Gone") ||
		!strings.Contains(got, "Failing since 3 November") || strings.Contains(got, "Send again") {
		t.Errorf("the row is %q", got)
	}
}

// An endpoint is removed in two steps, and only while it is active.
func TestEndpointIsRemovedInTwoSteps(t *testing.T) {
	h := newServer(t)
	h.newSender()
	e, _ := h.endpoint("https://agents.example.com/", "bot")
	ops := browser{h, h.secret(askback.Operator, "ops")}
	list := ops.open("/endpoints", http.StatusOK)
	remove := formOf(t, list, e.ID, "remove")
	for _, b := range list.all("#" + e.ID + " .deny") {
		if !b.inside("details") {
			t.Error("one press removes")
		}
	}
	paused := ops.send("/endpoints", formOf(t, list, e.ID, "pause"), http.StatusOK).one(t, "#"+e.ID)
	if len(paused.all(".deny")) != 0 || !strings.Contains(paused.visibleText(), "Resume the endpoint first") {
		t.Errorf("a paused one has %q", paused.visibleText())
	}
	if got := ops.send("/endpoints", remove,
		http.StatusConflict).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Resume the endpoint first") {
		t.Errorf("the notice is %q", got)
	}
	ops.send("/endpoints", url.Values{"id": {e.ID}, "action": {"resume"}}, http.StatusOK)
	page := ops.send("/endpoints", remove, http.StatusOK)
	if got := page.one(t, ".done-notice").visibleText(); got != "✓ Removed https://agents.example.com" {
		t.Errorf("the notice is %q", got)
	}
	if got := page.one(t, "main pre.command").visibleText(); !strings.HasPrefix(got, "askback webhook add ") {
		t.Errorf("the empty list has %q", got)
	}
	if got := ops.send("/endpoints", remove,
		http.StatusNotFound).one(t, ".done-notice").visibleText(); !strings.Contains(got, "was removed") {
		t.Errorf("the second time: %q", got)
	}
}

// Without a channel for webhooks, a test message names the missing setting.
func TestTestMessageWithoutWebhooksNamesTheMissingSetting(t *testing.T) {
	h := newServer(t)
	ops := browser{h, h.secret(askback.Operator, "ops")}
	ops.send("/endpoints", url.Values{"id": {"whe_0"}, "action": {"test"}}, http.StatusNotFound)
	if got := ops.open("/endpoints",
		http.StatusOK).visibleText(); !strings.Contains(got, "No program gets webhooks yet") {
		t.Errorf("the page has %q", got)
	}
}

// Names of tokens and hosts, and replies of a receiver, stay inside their blocks (T10).
func TestHostileEndpointsStayInsideTheirBlocks(t *testing.T) {
	racedetector.Omit(t)
	h := newServer(t)
	to := h.newSender()
	for _, s := range injections {
		ops := browser{h, h.secret(askback.Operator, name("~"+s))}
		address := "https://~" + url.PathEscape(front(s, 20)) + ".example.com/"
		if askback.CallbackProblem(address) != "" {
			address = "https://~.example.com/"
		}
		e, _ := h.endpoint(address, name("~"+s))
		to.reply(address, errors.New("~"+s))
		list := ops.open("/endpoints", http.StatusOK)
		checkFrames(t, list, s)
		checkFrames(t, ops.send("/endpoints", formOf(t, list, e.ID, "test"), http.StatusOK), s)
		checkFrames(t, ops.send("/endpoints", formOf(t, list, e.ID, "pause"), http.StatusOK), s)
		checkFrames(t, ops.page(ops.secure(formOf(t, ops.secureList(), e.ID, "rotate")), http.StatusCreated), s)
		// the next list has only the next endpoint
		checkFrames(t,
			ops.send("/endpoints", formOf(t, ops.open("/endpoints", http.StatusOK), e.ID, "resume"), http.StatusOK), s)
		if _, err := h.client(askback.Operator, "ops").DeleteEndpoint(context.Background(), e.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// The list has pages. The forms and the link to the next page keep the filter.
func TestEndpointsAreSplitIntoPages(t *testing.T) {
	h := newServer(t)
	h.newSender()
	for i := range askback.DefaultLimit + 1 {
		h.endpoint(fmt.Sprintf("https://%d.example.com/", i), "bot")
	}
	ops := browser{h, h.secret(askback.Operator, "ops")}
	page := ops.open("/endpoints?status=active", http.StatusOK)
	if n := len(page.all(".endpoint")); n != askback.DefaultLimit {
		t.Errorf("the first page has %d endpoints", n)
	}
	next := ops.open(page.one(t, ".next-page a").attr["href"], http.StatusOK)
	last := next.one(t, ".endpoint").attr["id"]
	done := ops.send("/endpoints", formOf(t, next, last, "test"), http.StatusOK)
	if n := len(done.all(".endpoint")); n != 1 {
		t.Errorf("after a test, the second page has %d endpoints", n)
	}
	rotated := ops.secure(
		formOf(t, ops.page(ops.secure(formOf(t, next, last, "resend")), http.StatusOK), last, "rotate"),
	)
	ops.page(rotated, http.StatusCreated)
}

// In a real browser, the page fits a phone and a wide window, its controls are big enough, and it violates no
// rule of WCAG 2.2 AA. Its buttons work with and without scripts.
func TestChromiumEndpointsFitAPhone(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	to := c.newSender()
	to.reply("https://b.a-very-long-name-of-a-machine.region-1.internal.example.com:8443/",
		errors.New("the reply was 503 Service Unavailable"))
	c.endpoint("https://a.example.com/", "bot")
	e, _ := c.endpoint("https://b.a-very-long-name-of-a-machine.region-1.internal.example.com:8443/",
		strings.Repeat("long", 49))
	w := c.window(phone)
	w.Run(network.SetCookie("askback", w.secret(askback.Admin, "ana")).WithURL(w.base).WithHTTPOnly(true).WithSameSite(
		network.CookieSameSiteStrict,
	))
	w.open("/endpoints")
	w.Press("#" + e.ID + ` button[value="test"]`)
	w.waitText("Test not accepted")
	w.waitUntil(`location.pathname + location.search === "/endpoints"`)
	w.Run(chromedp.Evaluate(`document.querySelectorAll("details.more").forEach((d) => { d.open = true; })`, nil))
	for _, width := range []int64{360, 1400} {
		w.look(width, "light")
		w.checkAccessibility("endpoints")
		w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
		var small []string
		w.Run(chromedp.Evaluate(`[...document.querySelectorAll("main button, main summary, main nav a")].filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)`, &small))
		if len(small) > 0 {
			t.Errorf("less than 44 px high: %q", small)
		}
	}
	w.Press("#" + e.ID + ` button[value="pause"]`)
	w.waitText("Messages to this receiver wait.")
	plain := c.window(browsertest.Viewport{Width: 1400, Height: 900, NoScript: true})
	plain.Run(network.SetCookie("askback", w.secret(askback.Operator, "ops")).
		WithURL(w.base).WithHTTPOnly(true).WithSameSite(network.CookieSameSiteStrict))
	plain.open("/endpoints?status=paused")
	plain.Press("#" + e.ID + ` button[value="resume"]`)
	plain.waitText("Resumed")
	if got := c.endpointNow(e.ID); got.Status != askback.EndpointActive || got.By != "ops" {
		t.Errorf("got %+v", got)
	}
	c.Check(t)
}

// The secret of a new token is copied with one press.
func TestChromiumSecretIsCopied(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.Run(network.SetCookie("askback", w.secret(askback.Admin, "root")).WithURL(w.base).WithHTTPOnly(true).WithSameSite(
		network.CookieSameSiteStrict,
	))
	w.open("/tokens")
	w.Click(".new-token summary")
	w.typeInto("#name", "builder")
	w.PressKey("\r")
	w.waitText("It is never shown again")
	w.Run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`, nil))
	w.Click("[data-copy]")
	w.waitText("Copied")
	w.waitUntil(`window.copied === document.querySelector("#secret").value && window.copied.startsWith("askback_")`)
	c.Check(t)
}
