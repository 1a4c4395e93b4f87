package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// card returns the text of the card of a person or group, or "" if the page has no such card.
func card(page *node, name string) string {
	for _, c := range append(page.all(".figures"), page.all(".group-card")...) {
		if text := c.visibleText(); strings.HasPrefix(text, name+" ") {
			return text
		}
	}
	return ""
}

// An admin adds, edits and removes a person and a group by forms, all without scripts. People and groups of
// the settings are on the same lists, and have no buttons (F12).
func TestPeopleAndGroupsAreMadeByForm(t *testing.T) {
	h := team(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	person := url.Values{
		"action": {"save"}, "new": {"1"}, "name": {"dan"}, "time_zone": {"Europe/Berlin"}, "quiet": {"22:00-07:00"},
	}
	admin.send("/people", person, http.StatusSeeOther)
	admin.send("/groups", url.Values{"action": {"save"}, "new": {"1"}, "name": {"@eu"}, "people": {"dan, ana"}},
		http.StatusSeeOther)
	page := admin.open("/people?done=group", http.StatusOK)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "The group is saved.") {
		t.Errorf("the notice is %q", got)
	}
	for name, want := range map[string][]string{
		"dan": {
			"added here", "in @eu", "no messages 22:00-07:00", "Europe/Berlin", "Changed by root", "Edit Remove…",
		},
		"@eu":       {"added here", "dan and ana", "Changed by root", "Edit Remove…"},
		"ben":       {"settings file", "in @oncall"},
		"@payments": {"settings file", "ana"},
		"root":      {"has only a token"},
	} {
		got := card(page, name)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q is not in %q", w, got)
			}
		}
		if made := strings.Contains(got, "Remove"); made != strings.Contains(got, "added here") {
			t.Errorf("%s has buttons: %t", name, made)
		}
	}
	form := admin.open("/people/edit?name=dan", http.StatusOK).one(t, ".route-form")
	if got := form.one(t, "#quiet").attr["value"]; got != "22:00-07:00" || len(form.all("#name")) > 0 {
		t.Errorf("the form has %q", got)
	}
	admin.send("/people", url.Values{"action": {"save"}, "name": {"dan"}}, http.StatusSeeOther)
	if got := card(admin.open("/people", http.StatusOK), "dan"); strings.Contains(got, "22:00") {
		t.Errorf("after an edit: %q", got)
	}
	if got := admin.open("/groups/edit?name=eu", http.StatusOK).one(t, "#people").attr["value"]; got != "dan, ana" {
		t.Errorf("the form of the group has %q", got)
	}
	admin.send("/groups", url.Values{"action": {"save"}, "name": {"eu"}, "people": {"dan"}}, http.StatusSeeOther)
	warned := admin.send("/people", url.Values{"action": {"remove"}, "name": {"dan"}}, http.StatusOK)
	if got := warned.one(t, ".done-notice").visibleText(); !strings.Contains(got, "Removed. But") ||
		!strings.Contains(got, "eu") {
		t.Errorf("the notice is %q", got)
	}
	admin.send("/groups", url.Values{"action": {"remove"}, "name": {"eu"}}, http.StatusSeeOther)
	page = admin.open("/people?done=removed", http.StatusOK)
	if card(page, "dan")+card(page, "@eu") != "" {
		t.Error("the removed ones are listed")
	}
	admin.send("/groups", url.Values{"action": {"remove"}, "name": {"eu"}}, http.StatusNotFound)
}

// A problem with a person or a group is shown at its field, with the typed text. A group that a route names
// cannot be removed.
func TestInvalidPersonFormShowsItsProblems(t *testing.T) {
	h := team(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	admin.send("/people", url.Values{"action": {"save"}, "new": {"1"}, "name": {"dan"}}, http.StatusSeeOther)
	admin.send("/groups", url.Values{"action": {"save"}, "new": {"1"}, "name": {"eu"}, "people": {"dan"}},
		http.StatusSeeOther)
	admin.send("/routes", url.Values{"route": {""}, "revision": {"0"}, "action": {"save"}, "to": {"@eu"}},
		http.StatusSeeOther)
	for _, c := range []struct {
		path        string
		form        url.Values
		field, want string
	}{
		{"/people", url.Values{"new": {"1"}, "name": {"dan"}}, "name", "already"},
		{"/people", url.Values{"new": {"1"}, "name": {"ana"}}, "name", "already"},
		{"/people", url.Values{"new": {"1"}, "name": {"@x"}}, "name", "@x"},
		{"/people", url.Values{"name": {"dan"}, "time_zone": {"Mars"}}, "time_zone", "Mars"},
		{"/people", url.Values{"name": {"dan"}, "time_zone": {"UTC"}, "quiet": {"late"}}, "quiet", "late"},
		{"/people", url.Values{"name": {"dan"}, "email": {"dan@example.com"}}, "email", "Without https"},
		{"/people", url.Values{"name": {"dan"}, "slack": {"U012AB3CD"}}, "slack", "Without https"},
		{"/groups", url.Values{"new": {"1"}, "name": {"eu"}, "people": {"ana"}}, "name", "already"},
		{"/groups", url.Values{"new": {"1"}, "name": {"oncall"}, "people": {"ana"}}, "name", "already"},
		{"/groups", url.Values{"name": {"eu"}, "people": {""}}, "people", "no people"},
		{"/groups", url.Values{"name": {"eu"}, "people": {"ana, @oncall"}}, "people", "@oncall"},
	} {
		c.form.Set("action", "save")
		page := admin.send(c.path, c.form, http.StatusUnprocessableEntity)
		if got := page.one(t, "#"+c.field+"-problem").visibleText(); !strings.Contains(got, c.want) {
			t.Errorf("%v: the problem is %q, want %q", c.form, got, c.want)
		}
		if field := page.one(t, "#"+c.field); field.attr["value"] != c.form.Get(c.field) ||
			!strings.Contains(field.attr["aria-describedby"], c.field+"-problem") {
			t.Errorf("%v: the field has %v", c.form, field.attr)
		}
	}
	page := admin.send("/groups", url.Values{"action": {"remove"}, "name": {"eu"}}, http.StatusConflict)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "Nothing has changed") ||
		card(page, "@eu") == "" {
		t.Errorf("the notice is %q", got)
	}
	w := admin.overHTTPS(http.MethodPost, "/people",
		url.Values{"action": {"save"}, "name": {"dan"}, "email": {"dan@example.com"}})
	if w.Code != http.StatusSeeOther ||
		!strings.Contains(card(admin.open("/people", http.StatusOK), "dan"), "dan@example.com") {
		t.Errorf("over https: got status %d", w.Code)
	}
	// an unchanged address does not need https
	admin.send("/people",
		url.Values{"action": {"save"}, "name": {"dan"}, "email": {"dan@example.com"}, "time_zone": {"UTC"}},
		http.StatusSeeOther)
}

// A form that was opened before a removal does not undo the removal.
func TestOldFormDoesNotBringBackARemovedPerson(t *testing.T) {
	h := team(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	for path, form := range map[string]url.Values{
		"/people": {"name": {"dan"}, "time_zone": {"UTC"}},
		"/groups": {"name": {"eu"}, "people": {"ana"}},
	} {
		form.Set("action", "save")
		admin.send(path, form, http.StatusConflict)
		form.Set("new", "1")
		admin.send(path, form, http.StatusSeeOther)
		form.Del("new")
		admin.send(path, form, http.StatusSeeOther)
		admin.send(path, url.Values{"action": {"remove"}, "name": form["name"]}, http.StatusSeeOther)
		page := admin.send(path, form, http.StatusConflict)
		if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "was removed") {
			t.Errorf("%s: the notice is %q", path, got)
		}
		if card(page, "dan") != "" || card(page, "@eu") != "" {
			t.Errorf("%s: it is back", path)
		}
	}
}

// A person who is not an admin sees people and groups, and cannot change them.
func TestOnlyAdminsChangePeople(t *testing.T) {
	h := team(t)
	admin, ana := browser{h, h.secret(askback.Admin, "root")}, h.browser("ana")
	admin.send("/people", url.Values{"action": {"save"}, "new": {"1"}, "name": {"dan"}}, http.StatusSeeOther)
	page := ana.open("/people", http.StatusOK)
	// The only form is the log-out.
	if got := len(page.all("form[method=post]")) + len(page.all(".route-actions")); got != 1 ||
		card(page, "@oncall") == "" {
		t.Errorf("ana has %d forms", got)
	}
	for _, path := range []string{"/people/edit", "/groups/edit"} {
		ana.open(path, http.StatusForbidden)
	}
	for _, path := range []string{"/people", "/groups"} {
		for _, action := range []string{"save", "remove"} {
			ana.send(path, url.Values{"action": {action}, "name": {"dan"}, "people": {"ana"}}, http.StatusForbidden)
		}
	}
	if card(admin.open("/people", http.StatusOK), "dan") == "" {
		t.Error("the person is gone")
	}
	admin.open("/people/edit?name=ana", http.StatusNotFound)
	admin.open("/groups/edit?name=oncall", http.StatusNotFound)
	admin.send("/people", url.Values{"action": {"burn"}, "name": {"dan"}}, http.StatusBadRequest)
}

// Names stay text, even names that an admin copied from elsewhere.
func TestHostileNamesAreShownAsText(t *testing.T) {
	seen := 0
	for _, s := range injections {
		h := team(t)
		admin := browser{h, h.secret(askback.Admin, "root")}
		label := strings.NewReplacer(",", "_", ";", "_", "@", "_").Replace(name("~" + s))
		w := admin.do(admin.request(http.MethodPost, "/people",
			url.Values{"action": {"save"}, "new": {"1"}, "name": {label}}))
		page := admin.page(w, w.Code)
		if w.Code == http.StatusSeeOther {
			seen++
			page = admin.open("/people", http.StatusOK)
			a := h.ask(single)
			checkFrames(t, admin.open("/asks/"+a.ID+"/reassign", http.StatusOK), s)
			checkFrames(t,
				admin.open("/people/edit?"+url.Values{"name": {strings.TrimSpace(label)}}.Encode(), http.StatusOK), s)
		}
		checkFrames(t, page, s)
	}
	if seen == 0 {
		t.Error("no name was accepted")
	}
}
