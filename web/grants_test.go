package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/askback/askback"
)

// grant returns a standing approval that ben made.
func (h *server) grant(scope askback.Scope) askback.Grant {
	h.t.Helper()
	r := harmless
	if scope == askback.ScopeSession {
		r.SessionKey = "run"
	}
	a := h.ask(r)
	ben := h.client(askback.Responder, "ben")
	_, err := ben.Answer(context.Background(), a.ID,
		askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope}})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.grants(false)[0]
}

func (h *server) grants(ended bool) []askback.Grant {
	h.t.Helper()
	page, err := h.client(askback.Responder, "ana").Grants(context.Background(), askback.GrantQuery{Ended: ended})
	if err != nil {
		h.t.Fatal(err)
	}
	return page.Items
}

// The grant has exactly the chosen scope and duration (D1, F8).
func TestApproveAllMakesTheChosenGrant(t *testing.T) {
	for scope, lasts := range map[string]string{"tool": "1h", "session": "24h", "tool_and_input": "168h"} {
		h := newServer(t)
		r := call
		r.SessionKey = "run"
		a := h.ask(r)
		o := h.browser("ana").settle(a,
			url.Values{"action": {"approve_all"}, "scope": {scope}, "expires_in": {lasts}, "reason": {"fine"}})
		if o.Decision != askback.ApproveAll || o.Reason != "fine" || len(o.Input) != 0 {
			t.Errorf("got %+v", o)
		}
		d, _ := time.ParseDuration(lasts)
		want := []askback.Grant{{
			ID: o.GrantID, AskID: a.ID, Input: a.Confirmation.Input, Owner: "bot", Agent: "deploy-bot",
			ToolName: "db.migrate", Server: "warehouse", Scope: askback.Scope(scope), Dangerous: true, By: "ana",
			CreatedAt: evening, ExpiresAt: evening.Add(d),
		}}
		if d := cmp.Diff(want, h.grants(false),
			cmpopts.IgnoreFields(askback.Grant{}, "SessionID", "Digest", "Token")); d != "" {
			t.Error(d)
		}
	}
}

// The narrowest scope is the default. A person must choose a wider scope.
func TestDefaultGrantCoversTheseArgumentsOnly(t *testing.T) {
	h := newServer(t)
	a := h.ask(call)
	ana := h.browser("ana")
	part := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".standing-approval")
	chosen := part.all("[checked]")
	if len(chosen) != 2 || chosen[0].attr["value"] != "tool_and_input" ||
		chosen[1].attr["value"] != "24h" || has(part, "open") {
		t.Errorf("%d choices are made beforehand: %s", len(chosen), part.visibleText())
	}
	for _, want := range []string{
		"deploy-bot", "(token bot )", "db.migrate", "warehouse", "without asking", "exactly these arguments", "1 week",
		"marked as dangerous",
		"1 day",
	} {
		if !strings.Contains(part.visibleText(), want) {
			t.Errorf("it does not say %q: %s", want, part.visibleText())
		}
	}
	if n := len(part.all("input[value=session]")); n != 0 {
		t.Error("a session that ends with the ask can be chosen")
	}
	r := call
	r.SessionKey = "run"
	ana.open("/asks/"+h.ask(r).ID, http.StatusOK).one(t, "input[value=session]")
	plain := ana.open("/asks/"+h.ask(harmless).ID, http.StatusOK).one(t, ".standing-approval")
	if len(plain.all(".notice-line")) != 0 {
		t.Errorf("a tool without free text has a warning: %s", plain.visibleText())
	}
	alone := h.ask(harmless)
	o := ana.settle(alone, url.Values{"action": {"approve_all"}})
	if g := h.grants(false); len(g) != 1 || g[0].ID != o.GrantID || g[0].Scope != askback.ScopeInput ||
		g[0].ExpiresAt != evening.Add(24*time.Hour) {
		t.Errorf("without a choice, got %+v", g)
	}
	kept := ana.send("/asks/"+a.ID, url.Values{"action": {"approve_all"}, "scope": {"tool"}, "input": {"{"}},
		http.StatusUnprocessableEntity).one(t, ".standing-approval")
	if got := kept.all("[checked]"); !has(kept, "open") || len(got) != 2 || got[0].attr["value"] != "tool" {
		t.Error("what was chosen is lost")
	}
	for _, form := range []url.Values{
		{"action": {"approve_all"}, "scope": {"everything"}, "expires_in": {"1h"}},
		{"action": {"approve_all"}, "scope": {"tool"}, "expires_in": {"9999h"}},
	} {
		ana.send("/asks/"+a.ID, form, http.StatusBadRequest)
	}
	// The button Approve alone never makes a grant, whatever else is chosen.
	if o := ana.settle(
		a, url.Values{"action": {"approve"}, "scope": {"tool"}, "expires_in": {"1h"}},
	); o.GrantID != "" || len(h.grants(false)) != 1 {
		t.Errorf("got %+v", o)
	}
}

// People see their standing approvals, and revoke them (F8).
func TestGrantsAreListedAndRevoked(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	if got := ana.open("/grants",
		http.StatusOK).one(t, ".notice").visibleText(); !strings.HasPrefix(got, "There are no standing approvals.") {
		t.Errorf("got %q", got)
	}
	g := h.grant(askback.ScopeSession)
	h.ask(harmless) // belongs to another session
	h.now = h.now.Add(2 * time.Hour)
	ana.open("/", http.StatusOK).one(t, "a[href=/grants]")
	group := ana.open("/grants", http.StatusOK).one(t, ".grant-group")
	if got := group.one(t, "h2").visibleText(); got != "deploy-bot (token bot )" {
		t.Errorf("the group is of %q", got)
	}
	row := group.one(t, "#"+g.ID)
	for _, want := range []string{
		"may run mail.send", "This tool, with any arguments, in one session", g.SessionID, "approved by ben",
		"since 3 November 2026, 18:30 UTC", "until 4 November 2026, 18:30 UTC", "22 hours left", "not used yet",
	} {
		if !strings.Contains(row.visibleText(), want) {
			t.Errorf("%q is not in %s", want, row.visibleText())
		}
	}
	form := row.one(t, "form[method=post]")
	w := h.do(ana.request(http.MethodPost, form.attr["action"], url.Values{}))
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || to != "/grants?done="+g.ID {
		t.Fatalf("status %d, to %s", w.Code, to)
	}
	if got := ana.open(to, http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Revoked") ||
		!strings.Contains(got, "mail.send") {
		t.Errorf("the notice is %q", got)
	}
	if n := len(h.grants(false)); n != 0 {
		t.Errorf("%d grants hold", n)
	}
	over := ana.open("/grants?ended=1", http.StatusOK).one(t, "#"+g.ID)
	if !strings.Contains(over.visibleText(), "revoked 3 November 2026, 20:30 UTC") || len(over.all("form")) != 0 {
		t.Errorf("got %s", over.visibleText())
	}
}

// Only a person revokes a grant, and only from Askback's own page.
func TestOnlyPeopleRevokeGrants(t *testing.T) {
	h := newServer(t)
	g := h.grant(askback.ScopeTool)
	path := "/grants/" + g.ID + "/revoke"
	agent := browser{h, h.secret(askback.Agent, "bot")}
	for _, b := range []browser{agent, {h, ""}} {
		if w := h.do(b.request(http.MethodPost, path, url.Values{})); w.Code != http.StatusForbidden &&
			w.Code != http.StatusUnauthorized {
			t.Errorf("status %d", w.Code)
		}
		if w := h.do(b.request(http.MethodGet, "/grants", nil)); w.Code == http.StatusOK {
			t.Error("the grants are visible without a person's log-in")
		}
	}
	ana := h.browser("ana")
	r := ana.request(http.MethodPost, path, url.Values{})
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if w := h.do(r); w.Code != http.StatusForbidden {
		t.Errorf("from another site: status %d", w.Code)
	}
	r = ana.request(http.MethodPost, path, url.Values{})
	r.Header.Set("Content-Type", "text/plain")
	if w := h.do(r); w.Code != http.StatusBadRequest {
		t.Errorf("no form: status %d", w.Code)
	}
	ana.send("/grants/grt_none/revoke", url.Values{}, http.StatusNotFound)
	if n := len(h.grants(false)); n != 1 {
		t.Errorf("%d grants hold", n)
	}
}

// Standing approvals are grouped by agent. In each group, the widest are first and marked, and approvals of
// exact arguments show them (F8).
func TestWidestGrantsAreFirstAndMarked(t *testing.T) {
	h := newServer(t)
	ben := h.client(askback.Responder, "ben")
	for _, c := range []struct {
		agent, tool, input string
		dangerous          bool
		scope              askback.Scope
	}{
		{"b", "mail.send", `{"to":"ben"}`, false, askback.ScopeInput},
		{"b", "mail.send", `{"to":"eve"}`, false, askback.ScopeTool},
		{"b", "Bash", `{"command":"ls"}`, false, askback.ScopeTool},
		{"b", "db.drop", `{"table":"x"}`, true, askback.ScopeInput},
		{"a\u202e", "db.drop", `{"table":"y"}`, true, askback.ScopeTool},
	} {
		h.now = h.now.Add(time.Second)
		a := h.ask(askback.Request{Agent: c.agent, Confirmation: &askback.Confirmation{
			ToolName: c.tool, Input: []byte(c.input), Dangerous: c.dangerous,
		}})
		if err := errorOf(ben.Answer(t.Context(), a.ID,
			askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: c.scope}})); err != nil {
			t.Fatal(err)
		}
	}
	page := h.browser("ana").open("/grants", http.StatusOK)
	var got []string
	for _, group := range page.all(".grant-group") {
		for _, row := range group.all(".grant") {
			got = append(got,
				group.one(t, "h2").visibleText()+": "+row.attr["class"]+" "+row.one(t, ".grant-head").visibleText())
		}
	}
	want := []string{
		"a⟨U+202E⟩ (token bot ): card grant is-widest may run db.drop any arguments dangerous calls too",
		"b (token bot ): card grant is-widest may run Bash any arguments",
		"b (token bot ): card grant is-wide may run db.drop dangerous calls too",
		"b (token bot ): card grant is-wide may run mail.send any arguments",
		"b (token bot ): card grant is-narrow may run mail.send",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	narrow := page.one(t, ".is-narrow")
	if got := narrow.one(t, ".row-text").visibleText(); got != `Exactly these arguments { "to": "ben" }` {
		t.Errorf("the row has the arguments %q", got)
	}
	if details := narrow.all("details"); len(details) != 2 || has(details[0], "open") ||
		!strings.Contains(details[0].raw(), "\"to\": \"ben\"") {
		t.Errorf("the whole arguments are not folded in %s", narrow.visibleText())
	}
	only := h.browser("ana").open(page.all(".grant-group-head a")[0].attr["href"], http.StatusOK)
	if n := len(only.all(".grant")); n != 1 || !strings.Contains(only.one(t, ".filters").visibleText(), "a⟨U+202E⟩") {
		t.Errorf("%d rows of one agent: %s", n, only.one(t, ".filters").visibleText())
	}
}

// The row links to the ask on which the standing approval was made. A revocation needs a second step, which
// explains its effect. Ended approvals are folded (F8).
func TestGrantRowLinksToItsAsk(t *testing.T) {
	h := newServer(t)
	g := h.grant(askback.ScopeTool)
	ana := h.browser("ana")
	row := ana.open("/grants", http.StatusOK).one(t, "#"+g.ID)
	ana.open(row.one(t, ".meta a").attr["href"], http.StatusOK).one(t, ".result")
	button := row.one(t, "button")
	if !button.inside("details") || has(row.one(t, ".revoke"), "open") {
		t.Error("one press revokes")
	}
	if got := row.one(t, ".second-step").visibleText(); !strings.Contains(got, "needs approval again") {
		t.Errorf("the second step says %q", got)
	}
	ana.send(row.one(t, "form").attr["action"], url.Values{}, http.StatusSeeOther)
	page := ana.open("/grants", http.StatusOK)
	if past := page.one(t, "#"+g.ID); !past.inside("details.past") || len(past.all("form")) != 0 {
		t.Errorf("the ended one is not folded: %s", page.visibleText())
	}
	operator := browser{h, h.secret(askback.Operator, "ops")}
	next := h.grant(askback.ScopeTool)
	if row := operator.open("/grants", http.StatusOK).one(t, "#"+next.ID); len(row.all("button")) != 0 {
		t.Error("an operator sees a button that is not permitted")
	}
}

// On a phone, a standing approval is found and revoked with the keyboard alone (F8).
func TestChromiumGrantIsRevokedByKeyboardOnAPhone(t *testing.T) {
	c := newChromium(t)
	g := c.grant(askback.ScopeTool)
	w := c.window(phone)
	w.login("ana")
	w.open("/grants")
	w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
	w.Run(chromedp.Focus(".revoke summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	w.waitText("needs approval again")
	w.Run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	w.waitText("Revoked")
	if n := len(c.grants(false)); n != 0 {
		t.Errorf("%d grants are in force", n)
	}
	w.waitUntil("location.search === '?done=" + g.ID + "'")
}

func TestGrantListIsSplitIntoPages(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	for range 51 {
		ana.send("/grants/"+h.grant(askback.ScopeTool).ID+"/revoke", url.Values{}, http.StatusSeeOther)
	}
	first := ana.open("/grants?ended=1", http.StatusOK)
	second := ana.open(first.one(t, "a.button").attr["href"], http.StatusOK)
	if a, b := len(first.all(".grant")), len(second.all(".grant")); a != 50 || b != 1 {
		t.Errorf("%d and %d rows, want 50 and 1", a, b)
	}
}

// If a grant answered an ask, the page of the ask links to the grant (F4).
func TestSettledPageNamesTheGrant(t *testing.T) {
	h := newServer(t)
	g := h.grant(askback.ScopeTool)
	a := h.ask(harmless)
	page := h.browser("ana").open("/asks/"+a.ID, http.StatusOK)
	result := page.one(t, ".result")
	if want := "Approved by the standing approval of ben (" + g.ID + ")"; !strings.Contains(result.visibleText(),
		want) {
		t.Errorf("%q is not in %s", want, result.visibleText())
	}
	if got := result.one(t, "a").attr["href"]; got != "/grants#"+g.ID {
		t.Errorf("the link leads to %s", got)
	}
	if want := `"to": "ben"`; !strings.Contains(result.visibleText(), want) {
		t.Errorf("the arguments are not in %s", result.visibleText())
	}
}

// The server sends status 404 for a cursor that is in no link of its pages.
func TestInvalidCursorIsNotFound(t *testing.T) {
	h := newServer(t)
	for _, path := range []string{"/?cursor=foo", "/grants?cursor=foo", "/grants?ended=1&cursor=%00"} {
		h.browser("ana").open(path, http.StatusNotFound)
	}
}

// A standing approval shows when it was last used. After the token of its maker is revoked, the page explains
// that the approval has no effect (F8).
func TestGrantShowsItsLastUseAndWhetherItIsIdle(t *testing.T) {
	h := newServer(t)
	token, secret, err := h.client(askback.Admin, "root").CreateToken(t.Context(),
		askback.TokenRequest{Kind: askback.Responder, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	id := browser{h, secret}.settle(h.ask(harmless), url.Values{"action": {"approve_all"}}).GrantID
	h.now = h.now.Add(time.Hour)
	h.ask(harmless)
	row := func() string { return h.browser("ana").open("/grants", http.StatusOK).one(t, "#"+id).visibleText() }
	const used, ended = "last used 3 November 2026, 19:30 UTC", "It approves nothing now"
	if got := row(); !strings.Contains(got, used) || strings.Contains(got, ended) {
		t.Errorf("got %s", got)
	}
	if _, err := h.client(askback.Admin, "root").RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	if got := row(); !strings.Contains(got, used) || !strings.Contains(got, ended) {
		t.Errorf("after the end of its maker: got %s", got)
	}
}
