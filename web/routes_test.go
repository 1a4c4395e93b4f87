package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// withRoutes returns a server whose settings have a route, and an admin.
func withRoutes(t *testing.T) (*server, browser) {
	h := team(t)
	h.engine.Set(engine.Settings{
		People: []askback.Person{{Name: "ana"}, {Name: "ben"}, {Name: "cem"}},
		Groups: map[string][]string{"oncall": {"ben", "cem"}},
		Routes: []askback.Route{{Match: askback.Match{Tags: []string{"prod"}}, Quorum: 2}},
	})
	return h, browser{h, h.secret(askback.Admin, "root")}
}

// routes opens the page of routes, and returns the sentence of each route.
func (b browser) routes() (all []string) {
	b.t.Helper()
	for _, words := range b.open("/routes", http.StatusOK).all(".route-text") {
		all = append(all,
			strings.Join(strings.Fields(strings.NewReplacer(" :", ":", " .", ".").Replace(words.visibleText())), " "))
	}
	return all
}

// fullRoute has every field of the form.
var fullRoute = url.Values{
	"route": {""}, "revision": {"0"}, "action": {"save"}, "agent": {"deploy-*"}, "kind": {"confirmation"},
	"tags": {"db, eu"}, "to": {"ana, @oncall"}, "approvers": {"ana, ben"}, "quorum": {"2"}, "no_self_approval": {"1"},
	"channels": {"email, slack"}, "remind": {"30m, 1h30m"}, "escalate": {"2h: cem\n\n 1d : @oncall, ben"},
	"timeout": {"3d"}, "on_timeout": {"decline"},
}

// changed returns a copy of a form with other values. The pairs are names and values.
func changed(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for name, v := range form {
		out[name] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []string{pairs[i+1]}
	}
	return out
}

// An admin adds a route by a form, edits it, moves it and removes it, all without scripts. The routes of the
// settings stay before the others, and are not changed (F12).
func TestRouteIsMadeByForm(t *testing.T) {
	h, admin := withRoutes(t)
	admin.send("/routes", fullRoute, http.StatusSeeOther)
	span := func(d time.Duration) askback.Span { return askback.Span(d) }
	want := askback.Route{
		Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"db", "eu"}},
		To:    []string{"ana", "@oncall"}, Approvers: []string{"ana", "ben"}, Channels: []string{"email", "slack"},
		Quorum: 2, NoSelfApproval: true, Remind: []askback.Span{span(30 * time.Minute), span(90 * time.Minute)},
		Timeout: span(72 * time.Hour), OnTimeout: askback.OnTimeoutDecline,
		Escalate: []askback.Escalation{
			{After: span(2 * time.Hour), To: []string{"cem"}},
			{After: span(24 * time.Hour), To: []string{"@oncall", "ben"}},
		},
		Source: askback.SourceAPI,
	}
	all, err := h.client(askback.Admin, "root").Routes(t.Context())
	if err != nil || len(all.Items) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	if d := cmp.Diff(want, all.Items[1]); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
	edit := admin.open("/routes", http.StatusOK).one(t, "#route-2").one(t, ".route-actions").one(t, "a").attr["href"]
	form := url.Values{}
	page := admin.open(edit, http.StatusOK).one(t, ".route-form")
	for _, in := range page.all("input") {
		if _, checked := in.attr["checked"]; checked || in.attr["type"] != "checkbox" {
			form.Set(in.attr["name"], in.attr["value"])
		}
	}
	for _, in := range page.all("select") {
		form.Set(in.attr["name"], in.one(t, "[selected]").attr["value"])
	}
	form.Set("escalate", strings.TrimPrefix(page.one(t, "#escalate").raw(), "\n"))
	form.Set("action", "save")
	admin.send("/routes", form, http.StatusSeeOther) // unchanged
	again, err := h.client(askback.Admin, "root").Routes(t.Context())
	if d := cmp.Diff(all.Items, again.Items); err != nil || d != "" {
		t.Errorf("the form changes what it shows: %v\n%s", err, d)
	}
	short := url.Values{
		"route": {"0"}, "revision": {strconv.FormatInt(again.Revision, 10)}, "action": {"save"}, "to": {"ben"},
		"kind": {"questions"}, "join": {"1"},
	}
	admin.send("/routes", short, http.StatusSeeOther)
	if got := admin.routes()[1]; got != "Questions: ben may answer; identical questions of one agent become one ask." {
		t.Errorf("after an edit: %q", got)
	}
}

// pressRoute presses the button for an action on a route, and returns the notice. If the route has no such
// button, it returns "no button".
func (b browser) pressRoute(id, action string) string {
	b.t.Helper()
	for _, form := range b.open("/routes", http.StatusOK).one(b.t, id).all("form") {
		if button := form.one(b.t, "button"); button.attr["value"] == action {
			v := url.Values{"action": {action}}
			for _, in := range form.all("input") {
				v.Set(in.attr["name"], in.attr["value"])
			}
			w := b.do(b.request(http.MethodPost, form.attr["action"], v))
			if w.Code != http.StatusSeeOther {
				b.t.Fatalf("%s: got status %d\n%s", action, w.Code, w.Body)
			}
			return b.open(w.Header().Get("Location"), http.StatusOK).one(b.t, ".done-notice").visibleText()
		}
	}
	return "no button"
}

// Routes that were made here are moved and removed. The routes of the settings stay first, and have no
// buttons. A form of an older page changes nothing.
func TestRoutesAreMovedAndRemoved(t *testing.T) {
	_, admin := withRoutes(t)
	for n, to := range []string{"ana", "ben", "cem"} {
		admin.send("/routes", url.Values{"route": {""}, "revision": {strconv.Itoa(n)}, "action": {"save"}, "to": {to}},
			http.StatusSeeOther)
	}
	old := admin.open("/routes", http.StatusOK).one(t, "#route-3").all("[name=revision]")[0].attr["value"]
	if got := admin.pressRoute("#route-1", "remove"); got != "no button" {
		t.Errorf("the route of the settings was removed: %q", got)
	}
	if got := admin.pressRoute("#route-2", "up"); got != "no button" {
		t.Errorf("the first route moves up: %q", got)
	}
	if got := admin.pressRoute("#route-4", "up"); !strings.Contains(got, "Moved up") {
		t.Errorf("the notice is %q", got)
	}
	admin.pressRoute("#route-2", "down")
	if got := admin.pressRoute("#route-4", "remove"); !strings.Contains(got, "Removed") {
		t.Errorf("the notice is %q", got)
	}
	want := []string{
		"Everything tagged prod: two people must approve.", "Everything: cem may answer.",
		"Everything: ana may answer.",
	}
	if d := cmp.Diff(want, admin.routes()); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
	page := admin.send("/routes", url.Values{"route": {"0"}, "revision": {old}, "action": {"remove"}},
		http.StatusConflict)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got,
		"were changed after this page was loaded") {
		t.Errorf("the notice is %q", got)
	}
	admin.send("/routes", url.Values{"route": {"0"}, "revision": {old}, "action": {"save"}, "to": {"ben"}},
		http.StatusConflict)
	admin.open("/routes/edit?route=0&revision="+old, http.StatusConflict)
	admin.send("/routes", url.Values{"route": {"9"}, "revision": {old}, "action": {"up"}}, http.StatusConflict)
	admin.send("/routes", url.Values{"route": {"0"}, "revision": {old}, "action": {"burn"}}, http.StatusBadRequest)
	admin.send("/routes", url.Values{"route": {"0"}, "revision": {old}, "action": {"up"}}, http.StatusBadRequest)
	page = admin.send("/routes", url.Values{"route": {""}, "revision": {old}, "action": {"save"}, "to": {"ben"}},
		http.StatusConflict)
	if got := page.one(t, "#to").attr["value"]; got != "ben" ||
		!strings.Contains(page.one(t, "#problems").visibleText(), "save this route again") {
		t.Errorf("a new route with an old revision: %q has %q", page.one(t, "#problems").visibleText(), got)
	}
	if d := cmp.Diff(want, admin.routes()); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
}

// A problem of a route is shown at its field, with the typed text.
func TestInvalidRouteFormShowsItsProblems(t *testing.T) {
	_, admin := withRoutes(t)
	admin.send("/routes", url.Values{"route": {""}, "revision": {"0"}, "action": {"save"}, "to": {"ben"}},
		http.StatusSeeOther)
	for _, c := range []struct{ field, value, want string }{
		{"quorum", "many", "whole number from 1 to 20"},
		{"remind", "soon", "not a duration"},
		{"escalate", "2h @oncall", "a colon"},
		{"escalate", "2h: @none", "no group"},
		{"timeout", "-1", "not a duration"},
		{"to", "@none", "no group"},
		{"agent", "[", "pattern"},
		{"channels", "pigeon", "pigeon"},
	} {
		page := admin.send("/routes", changed(fullRoute, "revision", "1", c.field, c.value),
			http.StatusUnprocessableEntity)
		if got := page.one(t, "#"+c.field+"-problem").visibleText(); !strings.Contains(got, c.want) {
			t.Errorf("%s: the problem is %q, want %q", c.field, got, c.want)
		}
		field := page.one(t, "#"+c.field)
		if value := field.attr["value"] + strings.TrimSpace(field.raw()); value != c.value ||
			!strings.Contains(field.attr["aria-describedby"], c.field+"-problem") {
			t.Errorf("%s has %q and %v", c.field, value, field.attr)
		}
	}
	if got := admin.routes(); len(got) != 2 {
		t.Errorf("got routes %q", got)
	}
}

// The form finds the route of an ask, and the further routes whose rules for approvals apply.
func TestRouteOfAnAskIsFound(t *testing.T) {
	_, admin := withRoutes(t)
	three := changed(fullRoute, "tags", "", "quorum", "3")
	three.Del("no_self_approval")
	admin.send("/routes", three, http.StatusSeeOther)
	for query, want := range map[string]string{
		"agent=deploy-bot&kind=confirmation&tags=": "Route 2 applies: Confirmations of deploy-*: three of ana " +
			"and ben must approve, and no one else may decide",
		"agent=deploy-bot&kind=confirmation&tags=prod": "Route 1 applies: Everything tagged prod: two people must " +
			"approve. Route 2 matches, too, so its rules for approvals count as well",
		"agent=x&kind=questions&tags=a%2C+prod": "Route 1 applies: Everything tagged prod",
		"agent=x&kind=questions&tags=":          "No route matches.",
	} {
		got := strings.NewReplacer(" :", ":", " .",
			".").Replace(admin.open("/routes?"+query, http.StatusOK).one(t, "#result").visibleText())
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// A person who is not an admin can read the routes, but not change them.
func TestOnlyAdminsChangeRoutes(t *testing.T) {
	h, admin := withRoutes(t)
	admin.send("/routes", fullRoute, http.StatusSeeOther)
	ana := h.browser("ana")
	page := ana.open("/routes", http.StatusOK)
	if got := len(page.all(".route-actions")) + len(page.all("form[method=post]")); got != 1 { // the log-out
		t.Errorf("ana has %d forms", got)
	}
	ana.open("/routes/edit", http.StatusForbidden)
	ana.send("/routes", url.Values{"route": {"0"}, "revision": {"1"}, "action": {"remove"}}, http.StatusForbidden)
	if got := ana.routes(); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

// Text in routes stays text. An admin may have copied it from anywhere.
func TestHostileRoutesAreShownAsText(t *testing.T) {
	want := ""
	for _, s := range injections {
		_, admin := withRoutes(t)
		label := strings.NewReplacer(",", "_", ";", "_", "*", "_", "[", "_", "\\", "_", "?", "_", "@",
			"_").Replace(name("~" + s))
		w := admin.do(admin.request(http.MethodPost, "/routes", url.Values{
			"route": {""}, "revision": {"0"}, "action": {"save"}, "to": {"ana"}, "agent": {label}, "tags": {label},
		}))
		page := admin.page(w, w.Code)
		if w.Code == http.StatusSeeOther {
			page = admin.open("/routes?kind=questions&agent="+url.QueryEscape(label)+"&tags="+url.QueryEscape(label),
				http.StatusOK)
			if got := structure(page.one(t, ".route-list")); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%.80q: the list has another shape:\n%s", s, got)
			}
		}
		checkFrames(t, page, s)
	}
	if want == "" {
		t.Error("no route was made")
	}
}
