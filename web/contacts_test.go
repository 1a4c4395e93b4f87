package web_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// A chat is a channel whose chats are linked by a code.
type chat struct{}

func (chat) Send(context.Context, askback.Notification) (string, error) { return "", nil }
func (chat) CodeTarget(code string) (to, page string) {
	return "@askback_bot", "https://t.me/askback_bot?start=" + code
}

// newContactServer returns a server whose people can link chats.
func newContactServer(t *testing.T) *server {
	h := newServer(t)
	now := func() time.Time { return h.now }
	key := func() ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }
	h.engine = engine.New(memstore.New(),
		&engine.Options{Now: now, Channels: map[string]engine.Channel{"telegram": chat{}}, SecretKey: key})
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{Now: now, Chats: []string{"telegram"}})
	return h
}

// overHTTPS sends a request over https.
func (b browser) overHTTPS(method, path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := b.request(method, path, form)
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("Cookie", strings.Replace(r.Header.Get("Cookie"), "askback=", "__Host-askback=", 1))
	return b.do(r)
}

// link makes a code on the page and links a chat with the code. It returns the id of the contact.
func (b browser) link(label string) string {
	b.t.Helper()
	page := b.page(b.overHTTPS(http.MethodPost, "/contacts/code", url.Values{"channel": {"telegram"}}),
		http.StatusCreated)
	code := strings.TrimPrefix(page.one(b.t, ".code-send").visibleText(), "/start ")
	c, err := b.engine.LinkContact(context.Background(), "telegram", code, "chat "+label, label)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ID
}

// The button makes a code that links a chat. Its page explains where to send the code and how long it is
// valid. The chat is then listed, and can be removed after a second press (T31).
func TestChatIsLinkedAndRemoved(t *testing.T) {
	h := newContactServer(t)
	ana := h.browser("ana")
	page := ana.page(ana.overHTTPS(http.MethodGet, "/contacts", nil), http.StatusOK)
	if got := page.one(t, "form[action=/contacts/code]").one(t, "button"); got.visibleText() != "Link Telegram" ||
		got.attr["value"] != "telegram" {
		t.Errorf("the button is %q with %v", got.visibleText(), got.attr)
	}
	w := ana.overHTTPS(http.MethodPost, "/contacts/code", url.Values{"channel": {"telegram"}})
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Error("a cache may keep the code")
	}
	made := ana.page(w, http.StatusCreated).one(t, ".contact-code")
	link := made.one(t, "a[rel]")
	if !strings.HasPrefix(link.attr["href"], "https://t.me/askback_bot?start=") || link.attr["hx-boost"] != "false" {
		t.Errorf("the link has %v", link.attr)
	}
	for _, want := range []string{"/start ", "@askback_bot", "once, until 3 November 2026, 18:40 UTC"} {
		if !strings.Contains(made.visibleText(), want) {
			t.Errorf("%q is not in %q", want, made.visibleText())
		}
	}
	id := ana.link("Ana on the phone")
	h.now = h.now.Add(time.Hour)
	row := ana.open("/contacts", http.StatusOK).one(t, "#"+id)
	for _, want := range []string{"Telegram", "Ana on the phone", "added 3 November 2026, 18:30 UTC", "not used yet"} {
		if !strings.Contains(row.visibleText(), want) {
			t.Errorf("%q is not in %q", want, row.visibleText())
		}
	}
	form := row.one(t, "form")
	if !form.inside("details") {
		t.Error("one press removes a contact")
	}
	ben := h.browser("ben")
	ben.send(form.attr["action"], url.Values{}, http.StatusNotFound)
	page = ana.send(form.attr["action"], url.Values{}, http.StatusOK)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "Removed Telegram Ana on the phone") {
		t.Errorf("the notice is %q", got)
	}
	if len(page.all(".contact")) > 0 {
		t.Error("the removed contact is listed")
	}
	if got := ana.send(form.attr["action"], url.Values{},
		http.StatusNotFound).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Nothing has changed") {
		t.Errorf("the second notice is %q", got)
	}
}

// A person sees their own contacts. An admin sees the contacts of all people, and the admin's own contacts
// first. A contact whose token has ended is marked.
func TestOnlyAdminsSeeContactsOfOthers(t *testing.T) {
	h := newContactServer(t)
	ana, ben := h.browser("ana"), h.browser("ben")
	admin := browser{h, h.secret(askback.Admin, "zoe")}
	first, second, third := ana.link("one"), ben.link("two"), admin.link("three")
	listed := func(b browser) (ids []string) {
		for _, row := range b.open("/contacts", http.StatusOK).all(".contact") {
			ids = append(ids, row.attr["id"])
		}
		return ids
	}
	if got := listed(ana); !slices.Equal(got, []string{first}) {
		t.Errorf("ana sees %q", got)
	}
	if got := listed(admin); !slices.Equal(got, []string{third, first, second}) {
		t.Errorf("the admin sees %q", got)
	}
	if page := admin.open("/contacts",
		http.StatusOK); !strings.Contains(page.one(t, "#"+second).visibleText(), "of ben") {
		t.Errorf("the admin reads %q", page.one(t, "#"+second).visibleText())
	}
	who, err := h.engine.Authenticate(t.Context(), ben.secret)
	if err == nil {
		_, err = h.client(askback.Admin, "zoe").RevokeToken(t.Context(), who.Token)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := admin.open("/contacts", http.StatusOK).one(t,
		"#"+second).visibleText(); !strings.Contains(got, "Ended") || !strings.Contains(got, "has ended") {
		t.Errorf("an ended contact is %q", got)
	}
	admin.send("/contacts/"+first+"/remove", url.Values{}, http.StatusOK)
	if got := listed(ana); len(got) > 0 {
		t.Errorf("ana sees %q", got)
	}
}

// Without https, another program may have the cookie. Such a program cannot link a chat, because a linked
// chat would answer for longer than the log-in. The page names the command instead (T28).
func TestContactCodesRequireHTTPS(t *testing.T) {
	h := newContactServer(t)
	ana := h.browser("ana")
	page := ana.send("/contacts/code", url.Values{"channel": {"telegram"}}, http.StatusUnprocessableEntity)
	if len(page.all(".contact-code")) > 0 || len(page.all("form[action=/contacts/code]")) > 0 {
		t.Error("the page has a code, or its button")
	}
	if !strings.Contains(page.visibleText(), "askback channel link telegram") {
		t.Error("the page does not say what to do")
	}
	if w := ana.overHTTPS(http.MethodPost, "/contacts/code",
		url.Values{"channel": {"post"}}); w.Code != http.StatusBadRequest {
		t.Errorf("another channel: got status %d", w.Code)
	}
	operator := browser{h, h.secret(askback.Operator, "olga")}
	operator.open("/contacts", http.StatusForbidden)
	if strings.Contains(operator.open("/numbers", http.StatusOK).visibleText(), "Contacts") {
		t.Error("an operator has the link")
	}
	if got := ana.open("/more", http.StatusOK).all("a[href=/contacts]"); len(got) == 0 {
		t.Error("the page More has no link")
	}
}

// Without a channel for chats, a server offers no chat to link. The page names the settings that add such a
// channel.
func TestEmptyContactsPageNamesTheSettings(t *testing.T) {
	h := newServer(t)
	got := h.browser("ana").open("/contacts", http.StatusOK).one(t, ".contacts-none").visibleText()
	for _, want := range []string{"cannot add one", "channels.telegram", "channels.webpush", "docs/phone.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want it to contain %q", got, want)
		}
	}
	got = newContactServer(t).browser("ana").open("/contacts", http.StatusOK).one(t, ".contacts-none").visibleText()
	if got != "You have no contacts yet. Until you add one, questions wait in your inbox." {
		t.Errorf("with Telegram: got %q", got)
	}
}

// The label of a chat is chosen in the chat. It stays text, with marks for hidden characters.
func TestHostileLabelsAreShownAsText(t *testing.T) {
	h := newContactServer(t)
	ana := h.browser("ana")
	want := ""
	for _, s := range injections {
		label := name("~" + s)
		id := ana.link(label)
		page := ana.open("/contacts", http.StatusOK)
		row := page.one(t, "#"+id)
		if got := strings.ReplaceAll(structure(row), id, ""); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%.80q: the row has another shape:\n%s\nwant\n%s", s, got, want)
		}
		checkFrames(t, page, s)
		ana.send("/contacts/"+id+"/remove", url.Values{}, http.StatusOK)
	}
}
