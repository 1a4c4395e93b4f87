package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
)

// noForm is the action of a form that has no body.
const noForm = "no form"

// formActions returns the actions of all forms of people who are logged in, by their paths for an ask.
func formActions(a askback.Ask) map[string]string {
	ask := askback.PagePath(a.ID)
	return map[string]string{
		ask: "answer", ask + "/claim": noForm, ask + pages.SeenPath: noForm, ask + "/snooze": "",
		ask + "/reassign": "", ask + "/draft": "", pages.DecidePath: pages.Approve, pages.UndoPath: "",
		"/grants/grt_1/revoke": "", pages.SessionsPath + "/ses_1/message": "",
		pages.SessionsPath + "/ses_1/resume": "", pages.SessionsPath + "/ses_1/cancel": "",
		pages.RunPath: "", "/tokens": "", "/tokens/tok_1/revoke": "",
		"/logins/tok_1/end": "", pages.DeliveriesPath + "/dlv_1/retry": "", pages.EndpointsPath: "",
		pages.ContactsPath + "/code": "", pages.ContactsPath + "/ctc_1/remove": "", pages.PeoplePath: pages.SaveEntry,
		pages.GroupsPath: pages.SaveEntry, pages.RoutesPath: "",
		"/push": noForm, "/push/state": noForm, "/push/ctc_1/remove": "", // this server has no push service
	}
}

// If the person is logged out while the server reads a form, each kind of form is rejected.
func TestFormsOfLoggedOutPeopleAreRejected(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	forms := formActions(a)
	for path, action := range forms {
		secret := h.secret(askback.Admin, "ana")
		form := url.Values{"action": {action}, "q1": {"0"}, "ask": {a.ID}, "discard": {"1"}}
		r := browser{h, secret}.request(http.MethodPost, path, form)
		wasRead := false
		r.Body = slowBody{strings.NewReader(form.Encode()), func() {
			wasRead = true
			if err := h.engine.Logout(t.Context(), secret); err != nil {
				t.Error(err)
			}
		}}
		w := h.do(r)
		if wasRead != (action != noForm) || wasRead && w.Code != http.StatusUnauthorized {
			t.Errorf("%s: got status %d; the form was read: %v", path, w.Code, wasRead)
		}
	}
	if got := h.get(a.ID); got.Settled() {
		t.Errorf("the ask is %s", got.Status)
	}
	if n := formsInSource(t); n != len(forms) {
		t.Errorf("the pages have %d forms, and the test %d", n, len(forms))
	}
}

// formsInSource returns the number of forms of people who are logged in.
func formsInSource(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	route := regexp.MustCompile(`mux\.Handle\("POST .*s\.authenticated\(`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += len(route.FindAllIndex(source, -1))
	}
	return n
}
