package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/leftout"
)

// A workerWindow is a window of a browser.
type workerWindow struct {
	Page    string `json:"page"`
	Visible bool   `json:"visible"`
	Focused bool   `json:"focused"`
}

// A workerSeen contains the effects of events that the service worker has handled.
type workerSeen struct {
	Windows []workerWindow
	Shown   []struct {
		Tag, Title, Body string
		Renotify, Silent bool
		Actions          []any
	}
	Sent       []struct{ Method, Path, Body string }
	Subscribed []json.RawMessage // options of new subscriptions
	Badge      int
	Own        int // notifications that the browser adds because a push message showed no notification
	Errors     []string
}

// runWorker runs the service worker of a server in a fake browser with some windows. It lets the service
// worker handle events, and returns their effects.
func runWorker(t *testing.T, h *server, windows []workerWindow, events ...map[string]any) (seen workerSeen) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		leftout.Skip(t, "events of the service worker (node is not installed)")
	}
	w := h.do(browser{h, ""}.request(http.MethodGet, "/sw.js", nil))
	in, err := json.Marshal(map[string]any{
		"script": w.Body.String(), "windows": windows, "events": events,
		"replies": map[string]any{"/open": map[string]int{"open": 3}, "/push": map[string]string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var problems bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "testdata/worker/browser.cjs")
	node.Stdin, node.Stderr = bytes.NewReader(in), &problems
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatal(err)
	}
	if len(seen.Errors) > 0 {
		t.Errorf("got errors %q", seen.Errors)
	}
	return seen
}

// pushed returns the event of a push message about an ask.
func pushed(ask, title string, settled bool) map[string]any {
	m := map[string]any{"tag": ask, "title": title, "body": "Which database?", "path": "/asks/" + ask}
	if settled {
		m["settled"] = true
	}
	data, _ := json.Marshal(m) // a map of strings and booleans can always be encoded
	return map[string]any{"type": "push", "data": string(data)}
}

func pressed(tag string) map[string]any {
	return map[string]any{"type": "notificationclick", "tag": tag}
}

// A click on a notification opens the page of its ask. It uses the window that shows the ask, otherwise the
// window of the list, and otherwise a new window. Another window may have an answer that was not sent, so it
// stays unchanged. The notification is closed.
func TestNotificationOpensThePageOfItsAsk(t *testing.T) {
	h := newServer(t)
	for name, c := range map[string]struct{ before, after []workerWindow }{
		"no window": {nil, []workerWindow{{"/asks/b", true, true}}},
		"the ask is shown": {
			[]workerWindow{{Page: "/", Visible: true}, {Page: "/asks/b"}},
			[]workerWindow{{"/", true, false}, {"/asks/b", false, true}},
		},
		"the list is shown": {
			[]workerWindow{{Page: "/asks/c", Visible: true}, {Page: "/"}},
			[]workerWindow{{"/asks/c", true, false}, {"/asks/b", false, true}},
		},
		"another ask is shown": {
			[]workerWindow{{Page: "/asks/c", Visible: true, Focused: true}},
			[]workerWindow{{"/asks/c", true, false}, {"/asks/b", true, true}},
		},
	} {
		seen := runWorker(t, h, c.before, pushed("a", "First", false), pushed("b", "Second", false), pressed("b"))
		if !slices.Equal(seen.Windows, c.after) {
			t.Errorf("%s: got windows %+v, want %+v", name, seen.Windows, c.after)
		}
		if len(seen.Shown) != 1 || seen.Shown[0].Tag != "a" {
			t.Errorf("%s: got notifications %+v, want the notification of the other ask", name, seen.Shown)
		}
	}
	unknown := map[string]any{"type": "push", "data": `{"tag":"askback","title":"x","path":"/tokens"}`}
	if seen := runWorker(t, h, nil, unknown,
		pressed("askback")); !slices.Equal(seen.Windows, []workerWindow{{"/", true, true}}) {
		t.Errorf("an unknown message: got windows %+v, want the list", seen.Windows)
	}
}

// The outcome of an ask replaces its notification, without a sound and without a button. If a window is
// visible, which shows the outcome anyway, the notification is closed instead. Notifications of other asks
// stay.
func TestOutcomeReplacesTheNotification(t *testing.T) {
	h := newServer(t)
	events := []map[string]any{
		pushed("a", "First", false), pushed("b", "Second", false), pushed("b", "Done: answered by ben", true),
	}
	for name, windows := range map[string][]workerWindow{"no window": nil, "a hidden window": {{Page: "/"}}} {
		seen := runWorker(t, h, windows, events...)
		if len(seen.Shown) != 2 || seen.Shown[0].Title != "First" || seen.Shown[1].Title != "Done: answered by ben" {
			t.Fatalf("%s: got %+v", name, seen.Shown)
		}
		asked, done := seen.Shown[0], seen.Shown[1]
		if !asked.Renotify || asked.Silent || len(asked.Actions) != 1 || done.Renotify || !done.Silent ||
			len(done.Actions) != 0 {
			t.Errorf("%s: got %+v and %+v", name, asked, done)
		}
		if seen.Badge != 3 || seen.Own != 0 {
			t.Errorf("%s: the badge is %d, and the browser shows %d notifications of its own", name, seen.Badge,
				seen.Own)
		}
	}
	seen := runWorker(t, h, []workerWindow{{Page: "/asks/c", Visible: true}}, events...)
	if len(seen.Shown) != 1 || seen.Shown[0].Tag != "a" {
		t.Errorf("with a visible window: got %+v, want only the other ask", seen.Shown)
	}
}

// A browser that replaces its subscription sends the new subscription. The browser is then a contact of the
// person who is logged in. If the browser made no subscription, the worker makes a subscription with the same
// key.
func TestNewSubscriptionIsSent(t *testing.T) {
	h := newServer(t)
	p := withPush(t, h)
	renewed := json.RawMessage(p.service.Subscribe(t, p.key).Subscription())
	old := map[string]any{"endpoint": "https://push.example.com/old", "options": map[string]any{
		"userVisibleOnly": true, "applicationServerKey": p.key,
	}}
	seen := runWorker(t, h, nil,
		map[string]any{"type": "pushsubscriptionchange", "oldSubscription": old, "newSubscription": renewed})
	if len(seen.Sent) != 1 || seen.Sent[0].Method != http.MethodPost || seen.Sent[0].Path != "/push" ||
		len(seen.Subscribed) != 0 {
		t.Fatalf("got %+v, and %d more subscriptions", seen.Sent, len(seen.Subscribed))
	}
	form, err := url.ParseQuery(seen.Sent[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	if w := h.do(h.browser("ana").request(http.MethodPost, seen.Sent[0].Path, form)); w.Code != http.StatusOK {
		t.Errorf("the server replied %d: %s", w.Code, w.Body)
	}
	if list, err := h.client(askback.Responder, "ana").Contacts(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v; want one contact", list, err)
	}

	seen = runWorker(t, h, nil,
		map[string]any{"type": "pushsubscriptionchange", "oldSubscription": old, "newSubscription": nil})
	var options struct {
		UserVisibleOnly      bool
		ApplicationServerKey string
	}
	if len(seen.Subscribed) != 1 || json.Unmarshal(seen.Subscribed[0], &options) != nil || !options.UserVisibleOnly ||
		options.ApplicationServerKey != p.key {
		t.Fatalf("got new subscriptions %s, want one with the key of the old one", seen.Subscribed)
	}
	form, _ = url.ParseQuery(seen.Sent[0].Body)
	var sent struct{ Endpoint string }
	if json.Unmarshal([]byte(form.Get("address")), &sent) != nil ||
		sent.Endpoint != "https://push.example.com/renewed" {
		t.Errorf("got %+v", seen.Sent)
	}
	// Some browsers send neither the old nor the new subscription. The next visit of the inbox then offers
	// notifications again.
	if seen = runWorker(
		t, h, nil, map[string]any{"type": "pushsubscriptionchange", "oldSubscription": nil, "newSubscription": nil},
	); len(seen.Sent) != 0 {
		t.Errorf("got %+v", seen.Sent)
	}
}
