package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/channel/webpush/webpushtest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// A pushing has a fake push service, the channel that sends to the service, and the public key.
type pushing struct {
	service *webpushtest.Service
	channel *webpush.Channel
	key     string
}

// withPush replaces the engine of a server by an engine that sends notifications to browsers.
func withPush(t *testing.T, h *server) pushing {
	t.Helper()
	p := pushing{service: webpushtest.NewService(t)}
	var err error
	p.channel, err = webpush.New(webpush.Options{
		Subject: "mailto:ops@example.com", Allow: p.service.Allow(t), Roots: p.service.Roots,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.engine = engine.New(memstore.New(), &engine.Options{Channels: map[string]engine.Channel{webpush.Name: p.channel}})
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{Push: p.channel})
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = h.engine.Run(ctx) })
	group.Go(func() { p.channel.Run(ctx, h.engine) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
		p.channel.Close()
	})
	if p.key, err = p.channel.PublicKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// received returns the n-th message that a browser received.
func (p pushing) received(t *testing.T, b *webpushtest.Browser, n int) []byte {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if got := b.Messages(); len(got) >= n {
			return got[n-1].Text
		}
		select {
		case <-time.Tick(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	t.Fatalf("the browser got %d messages, want %d; rejected: %q", len(b.Messages()), n, p.service.Problems())
	return nil
}

// The inbox has the key of push messages only if the settings allow them.
func TestNotificationsAreOfferedToPeople(t *testing.T) {
	h := newServer(t)
	if page := h.browser("ana").open("/", http.StatusOK); page.one(t, "#push-state").attr["data-key"] != "" {
		t.Error("the page has a key without the channel")
	}
	b := h.browser("ana")
	if w := h.do(b.request(http.MethodPost, "/push", url.Values{"address": {"{}"}})); w.Code != http.StatusNotFound {
		t.Errorf("without the channel: got status %d, want 404", w.Code)
	}
	p := withPush(t, h)
	inbox := h.browser("ana").open("/", http.StatusOK)
	if got := inbox.all("#push-state"); len(got) != 1 || got[0].attr["data-key"] != p.key {
		t.Errorf("got %+v, want the key %s", got, p.key)
	}
}

// A browser that is added is a contact of its person, with a label. It is not a contact of another person who
// logs in there. The contact can be removed.
func TestBrowserIsAContactOfOnePerson(t *testing.T) {
	h := newServer(t)
	p := withPush(t, h)
	form := url.Values{"address": {p.service.Subscribe(t, p.key).Subscription()}}
	send := func(b browser, path string, form url.Values) (status int, id string) {
		r := b.request(http.MethodPost, path, form)
		r.Header.Set("User-Agent", "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0")
		w := h.do(r)
		var out struct{ ID string }
		_ = json.Unmarshal(w.Body.Bytes(), &out) // the reply is not JSON if the request is rejected
		return w.Code, out.ID
	}
	ana, ben := h.browser("ana"), h.browser("ben")
	if status, id := send(ana, "/push/state", form); status != http.StatusOK || id != "" {
		t.Errorf("before: got %d, %q", status, id)
	}
	_, id := send(ana, "/push", form)
	list, err := h.client(askback.Responder, "ana").Contacts(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].Label != "Firefox on Android" ||
		list[0].Channel != "webpush" {
		t.Fatalf("got %+v, %v; want %s", list, err, id)
	}
	if _, got := send(ana, "/push/state", form); got != id {
		t.Errorf("got %q, want %q", got, id)
	}
	if _, got := send(ben, "/push/state", form); got != "" {
		t.Errorf("ben: got %q, want no contact", got)
	}
	if status, _ := send(ben, "/push/"+id+"/remove", url.Values{}); status != http.StatusOK {
		t.Errorf("ben: got status %d", status)
	}
	if _, got := send(ana, "/push/state", form); got != id {
		t.Errorf("after ben tried to remove it: got %q, want %q", got, id)
	}
	for name, bad := range map[string]string{
		"empty": "", "http": strings.Replace(form.Get("address"), "https:", "http:", 1),
	} {
		if status, _ := send(ana, "/push", url.Values{"address": {bad}}); status/100 != 4 {
			t.Errorf("%s: got status %d, want it rejected", name, status)
		}
	}
	if status, _ := send(ana, "/push/"+id+"/remove", url.Values{}); status != http.StatusOK {
		t.Errorf("got status %d", status)
	}
	if _, got := send(ana, "/push/state", form); got != "" {
		t.Errorf("after it was removed: got %q", got)
	}
}

// The badge has the number of open asks that are not snoozed.
func TestBadgeShowsTheNumberOfOpenAsks(t *testing.T) {
	h := newServer(t)
	withPush(t, h)
	ana := h.browser("ana")
	count := func() int {
		w := h.do(ana.request(http.MethodGet, "/open", nil))
		var out struct{ Open int }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("got status %d, %v", w.Code, err)
		}
		return out.Open
	}
	h.ask(single)
	a := h.ask(single)
	other := single
	other.To = []string{"ben"}
	h.ask(other)
	if got := count(); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
	if _, err := h.client(askback.Responder, "ana").Snooze(t.Context(), a.ID, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	if w := h.do(browser{h, ""}.request(http.MethodGet, "/open", nil)); w.Code != http.StatusUnauthorized {
		t.Errorf("without a log-in: got status %d", w.Code)
	}
}

// subscribes is a script that subscribes as a browser does. Chromium cannot subscribe without the service of
// its vendor.
const subscribes = `(() => {
	const subscription = JSON.parse(SUBSCRIPTION), key = KEY;
	const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	const make = (bytes) => ({
		toJSON: () => subscription, options: { applicationServerKey: bytes },
		unsubscribe: async () => { sessionStorage.removeItem("subscribed"); return true; },
	});
	PushManager.prototype.getSubscription = async () => (sessionStorage.getItem("subscribed") ? make(null) : null);
	PushManager.prototype.subscribe = async (options) => {
		if (!options.userVisibleOnly || text(options.applicationServerKey) !== key) throw new Error("wrong options");
		sessionStorage.setItem("subscribed", "1");
		return make(options.applicationServerKey);
	};
	const badge = (count) => { window.badge = count; return Promise.resolve(); };
	navigator.setAppBadge = badge;
	navigator.clearAppBadge = () => badge(0);
})()`

// allowNotifications answers the permission prompt of the browser.
func (w window) allowNotifications(setting chrome.PermissionSetting) {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		info, err := target.GetTargetInfo().Do(ctx)
		if err != nil {
			return err
		}
		return chrome.SetPermission(&chrome.PermissionDescriptor{Name: "notifications"},
			setting).WithOrigin(w.base).WithBrowserContextID(info.BrowserContextID).
			Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	}))
}

// pushTo returns a function that delivers a push message to the service worker.
func (w window) pushTo() func(text []byte) {
	w.t.Helper()
	ids := make(chan serviceworker.RegistrationID, 16)
	w.Listen(func(ev any) {
		if ev, ok := ev.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			for _, r := range ev.Registrations {
				if strings.HasPrefix(r.ScopeURL, w.base) && !r.IsDeleted {
					select {
					case ids <- r.RegistrationID:
					default:
					}
				}
			}
		}
	})
	w.Run(serviceworker.Enable())
	var id serviceworker.RegistrationID
	select {
	case id = <-ids:
	case <-time.After(time.Minute):
		w.t.Fatal("the service worker is not registered")
	}
	return func(text []byte) {
		w.t.Helper()
		w.Run(serviceworker.DeliverPushMessage(w.base, id, string(text)))
	}
}

// notifications returns the notifications that the browser shows.
func (w window) notifications() (all []shownNotification) {
	w.t.Helper()
	var raw string
	w.Run(chromedp.Evaluate(
		`navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => JSON.stringify(all.map((n) => ({
		title: n.title, body: n.body, tag: n.tag, path: n.data.path, silent: n.silent, stays: n.requireInteraction }))))`, &raw, awaitPromise))
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		w.t.Fatal(err)
	}
	return all
}

type shownNotification struct {
	Title, Body, Tag, Path string
	Silent, Stays          bool
}

// notified reports whether the browser shows a notification that satisfies ok, now or soon.
func (w window) notified(ok func(shownNotification) bool, soon time.Duration) bool {
	w.t.Helper()
	for deadline := time.Now().Add(soon); time.Now().Before(deadline); {
		if slices.ContainsFunc(w.notifications(), ok) {
			return true
		}
	}
	return false
}

// waitNotified waits until the browser shows a notification that satisfies ok.
func (w window) waitNotified(what string, ok func(shownNotification) bool) {
	w.t.Helper()
	if !w.notified(ok, 30*time.Second) {
		w.t.Fatalf("%s: the browser shows %+v", what, w.notifications())
	}
}

// waitDelivered delivers a push message until the browser shows a notification that satisfies ok.
// Headless Chromium drops some messages on a busy machine.
func (w window) waitDelivered(what string, deliver func([]byte), text []byte, ok func(shownNotification) bool) {
	w.t.Helper()
	for range 6 {
		deliver(text)
		if w.notified(ok, 10*time.Second) {
			return
		}
	}
	w.t.Fatalf("%s: the browser shows %+v", what, w.notifications())
}

// waitNoNotification waits until the browser shows no notification.
func (w window) waitNoNotification(what string) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(w.notifications()) > 0; {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: the browser shows %+v", what, w.notifications())
		}
	}
}

// A press on the button subscribes the browser. A question arrives encrypted, is shown whole, and is replaced
// by its outcome. The button also ends the subscription (F3).
func TestChromiumShowsQuestionsAsNotifications(t *testing.T) {
	c := newWholeChromium(t)
	p := withPush(t, c.server)
	b := p.service.Subscribe(t, p.key)
	w := c.window(phone)
	w.allowNotifications(chrome.PermissionSettingGranted)
	script := strings.NewReplacer("SUBSCRIPTION", strconv.Quote(b.Subscription()), "KEY",
		strconv.Quote(p.key)).Replace(subscribes)
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
	w.login("ana")
	w.open("/")
	w.waitForServiceWorker()
	w.waitText("This browser does not show notifications.")
	w.checkAccessibility("the offer")
	w.Click("#push-offer .push-on")
	w.waitText("This browser shows new questions as notifications.")
	w.waitUntil(`document.getElementById("push-offer").hidden`)
	deliver := w.pushTo()
	a := c.ask(single)
	w.waitDelivered("the question", deliver, p.received(t, b, 1), func(n shownNotification) bool {
		return n.Tag == a.ID && n.Path == "/asks/"+a.ID && !n.Silent &&
			strings.Contains(n.Body, "Which database should we use?") && strings.Contains(n.Body, "SQLite")
	})
	w.waitUntil(`window.badge === 1`)
	if _, err := c.client(askback.Responder, "ben").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	outcome := p.received(t, b, 2)
	w.waitUntil(`window.badge === 0`)
	w.Run(chromedp.Navigate("about:blank")) // no window shows Askback
	deliver(outcome)
	w.open("/")
	w.waitNotified("the outcome", func(n shownNotification) bool {
		return n.Tag == a.ID && n.Silent && strings.Contains(n.Body, "ben")
	})
	deliver(outcome) // the page shows the question anyway
	w.waitNoNotification("the outcome while the page is open")
	dangerous := c.ask(call)
	w.waitDelivered("a dangerous call", deliver, p.received(t, b, 3),
		func(n shownNotification) bool { return n.Tag == dangerous.ID && n.Stays })
	w.open("/asks/" + dangerous.ID)
	w.waitNoNotification("while the page of the call is open")
	w.open("/")
	w.waitDelivered("an unknown message", deliver, []byte("from another version"),
		func(n shownNotification) bool { return n.Path == "/" && n.Title == "Askback" })
	w.open("/contacts")
	w.waitText("This browser shows new questions as notifications.")
	w.waitText("last used")
	w.checkAccessibility("contacts")
	w.Click("#push-state .push-off")
	w.waitText("This browser does not show notifications.")
	w.waitText("You have no contacts yet.")
	if list, err := c.client(askback.Responder, "ana").Contacts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got contacts %+v, %v; want none", list, err)
	}
	c.Check(t)
}
