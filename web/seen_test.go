package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/store/memstore"
)

// withPhones replaces the engine of a server by an engine that sends to a phone and the mailbox of ana, and
// to the phone of ben.
func (h *linkServer) withPhones() {
	h.t.Helper()
	to := &receiver{replies: map[string]error{}}
	h.engine = engine.New(memstore.New(), &engine.Options{
		Channels: map[string]engine.Channel{"post": to, "email": to},
		Settings: engine.Settings{Receivers: []engine.Receiver{
			{Channel: "post", Name: "phone", Person: "ana"},
			{Channel: "email", Name: "mail", Person: "ana"},
			{Channel: "post", Name: "bens", Person: "ben"},
		}},
	})
	h.serve()
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.engine.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			h.t.Error(err)
		}
	})
}

// seen returns the receivers whose delivery of an ask was seen.
func (h *linkServer) seen(a askback.Ask) (all []string) {
	h.t.Helper()
	page, err := h.client(askback.Operator, "ops").Deliveries(context.Background(), askback.DeliveryQuery{AskID: a.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, d := range page.Items {
		if !d.SeenAt.IsZero() {
			all = append(all, d.Target)
		}
	}
	slices.Sort(all)
	return all
}

func (h *linkServer) wantSeen(when string, a askback.Ask, want ...string) {
	h.t.Helper()
	if got := h.seen(a); !slices.Equal(got, want) {
		h.t.Errorf("%s: seen by %q, want %q", when, got, want)
	}
}

// waitSeen waits until the deliveries of an ask to these receivers were seen.
func (h *linkServer) waitSeen(when string, a askback.Ask, want ...string) {
	h.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !slices.Equal(h.seen(a), want) && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
	h.wantSeen(when, a, want...)
}

// A request for the page of a link or of an ask records nothing, because programs that check mails send such
// requests. The script of the page records that the ask was seen. On the page of a link, the script records
// this only for the channel of the message with the link (T13).
func TestAskIsSeenWhenTheScriptOfItsPageRuns(t *testing.T) {
	h := newLinkServer(t)
	h.withPhones()
	onScreen := url.Values{"seen": {"1"}}
	for name, r := range map[string]askback.Request{"question": database(), "dangerous call": deployment(true)} {
		a := h.ask(r)
		ana, path := h.browser("ana"), h.path(a, 0)
		for range 2 {
			h.send(http.MethodGet, path, nil)
			h.send(http.MethodHead, path, nil)
			ana.open("/asks/"+a.ID, http.StatusOK)
			h.do(ana.request(http.MethodGet, "/asks/"+a.ID+"/seen", nil))
		}
		h.wantSeen(name+" was opened", a)
		for what, sent := range map[string]url.Values{
			"more": {"seen": {"1"}, "choice": {"1"}}, "other": {"seen": {"2"}}, "twice": {"seen": {"1", "1"}},
			"none": {"seen": {}},
		} {
			if w := h.send(http.MethodPost, path, sent); w.Code == http.StatusNoContent {
				t.Errorf("%s: %s was accepted", name, what)
			}
		}
		for what, path := range map[string]string{
			"forged":       path[:len(path)-4] + "AAAA",
			"ben has left": h.pathOf(answerlink.Link{AskID: a.ID, Person: "ben", Channel: askback.ChannelPush}),
		} {
			if w := h.send(http.MethodPost, path, onScreen); w.Code != http.StatusNotFound &&
				w.Code != http.StatusGone {
				t.Errorf("%s: got %d for a link that is %s", name, w.Code, what)
			}
		}
		agent := func(r *http.Request) { r.Header.Set("Authorization", "Bearer ask_secret") }
		if w := h.send(http.MethodPost, path, onScreen, agent); w.Code != http.StatusForbidden {
			t.Errorf("%s: got %d with a token of a program", name, w.Code)
		}
		h.wantSeen(name+", after what is not valid", a)
		if w := h.send(http.MethodPost, path, onScreen); w.Code != http.StatusNoContent {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		h.wantSeen(name+" in a link", a, "phone")
		if w := ana.do(ana.request(http.MethodPost, "/asks/"+a.ID+"/seen", onScreen)); w.Code != http.StatusNoContent {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		h.wantSeen(name+" in the inbox", a, "mail", "phone")
		h.checkOpen(name, a)
	}
}

// The page of another site cannot record that an ask was seen.
func TestOtherSitesCannotRecordThatAnAskIsSeen(t *testing.T) {
	h := newLinkServer(t)
	h.withPhones()
	a, ana := h.ask(database()), h.browser("ana")
	r := ana.request(http.MethodPost, "/asks/"+a.ID+"/seen", url.Values{"seen": {"1"}})
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if w := h.do(r); w.Code != http.StatusForbidden {
		t.Errorf("got %d, want %d", w.Code, http.StatusForbidden)
	}
	h.wantSeen("from another site", a)
}

// The page of an ask, the list and the timeline show when a delivery was seen.
func TestPagesShowWhenADeliveryWasSeen(t *testing.T) {
	h := newServer(t)
	h.newSender()
	h.engine.Set(engine.Settings{Receivers: []engine.Receiver{{Channel: "phone", Name: "ntfy-of-ana", Person: "ana"}}})
	a := h.ask(single)
	d := h.waitSent(a, 1)
	if err := h.client(askback.Responder, "ana").Seen(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	admin := browser{h, h.secret(askback.Admin, "root")}
	for path, selector := range map[string]string{
		"/deliveries?status=sent": "#" + d.ID, "/asks/" + a.ID: ".deliveries-of",
		"/sessions/" + a.SessionID: "#timeline",
	} {
		if got := admin.open(path, http.StatusOK).one(t, selector).visibleText(); !strings.Contains(got, "seen 18:3") {
			t.Errorf("%s has %q", path, got)
		}
	}
}

// hides is a script that makes the page invisible, as in another tab, until isHidden is false. The variable
// sent counts the requests of the page's scripts.
const hides = `
Object.defineProperty(document, "hidden", { get: () => globalThis.isHidden !== false });
globalThis.sent = 0;
const send = globalThis.fetch;
globalThis.fetch = (...request) => { sent++; return send(...request); };`

// A page that was loaded but is not visible, as in another tab, does not count as seen before it is shown.
func TestChromiumInvisiblePageIsNotSeen(t *testing.T) {
	c := newChromium(t)
	h := newLinkServer(t)
	h.withPhones()
	c.server = h.server
	a, w := h.ask(database()), c.window(phone)
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(hides).Do(ctx)
		return err
	}))
	w.open(h.path(a, 0))
	var has string
	w.Run(chromedp.Evaluate(`typeof recordSeen + " " + sent`, &has))
	if has != "function 0" {
		t.Errorf("the hidden page has %q, want its script, and that it sent nothing", has)
	}
	w.Run(chromedp.Evaluate(`isHidden = false; document.dispatchEvent(new Event("visibilitychange"))`, nil))
	h.waitSeen("shown", a, "phone")
	c.Check(t)
}

// In a browser, an ask is seen when its page is visible. This holds for the page of a link without a log-in,
// and for the inbox, even if a click in the list opened the ask.
func TestChromiumRecordsThatAnAskIsSeen(t *testing.T) {
	c := newChromium(t)
	h := newLinkServer(t)
	h.withPhones()
	c.server = h.server
	w := c.window(phone)
	for _, r := range []askback.Request{database(), deployment(true)} {
		a := h.ask(r)
		w.open(h.path(a, 0))
		h.waitSeen("a link", a, "phone")
	}
	a, b := h.ask(database()), h.ask(deployment(false))
	w = c.window(desktop)
	w.login("ana")
	w.open("/asks/" + a.ID)
	h.waitSeen("the page of an ask", a, "mail", "phone")
	h.wantSeen("another one in the list", b)
	w.Click(`a[href="/asks/` + b.ID + `"]`)
	w.wantText("staging")
	h.waitSeen("an ask opened from the list", b, "mail", "phone")
	c.Check(t)
}
