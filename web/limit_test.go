package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// All options of the largest question are on the page, and can be chosen.
func TestPageShowsEveryOption(t *testing.T) {
	for _, multi := range []bool{false, true} {
		q := askback.Question{Text: "Which ones?", MultiSelect: multi}
		var labels []string
		for i := range limits.MaxOptions {
			labels = append(labels, fmt.Sprintf("option %d", i+1))
			q.Options = append(q.Options,
				askback.Option{Label: labels[i], Description: fmt.Sprintf("words of option %d", i+1)})
		}
		h := newServer(t)
		ana := h.browser("ana")
		a := h.ask(askback.Request{Questions: []askback.Question{q}})
		var got, want []string
		for _, c := range ana.open("/asks/"+a.ID, http.StatusOK).all("fieldset#q1 .from-agent label") {
			got = append(got, c.visibleText())
		}
		for i, label := range labels {
			want = append(want, fmt.Sprintf("%s words of option %d", label, i+1))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		sent := url.Values{"action": {"answer"}}
		for i := range labels {
			if multi || i == len(labels)-1 {
				sent.Add("q1", fmt.Sprint(i))
			}
		}
		offered := labels // the page of the settled ask must show all of them
		if !multi {
			labels = labels[len(labels)-1:]
		}
		if d := cmp.Diff(labels, ana.settle(a, sent).Answers[0].Selected); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		page := ana.open("/asks/"+a.ID, http.StatusOK).one(t, "#detail").visibleText()
		for _, label := range offered {
			if !regexp.MustCompile(label + `\b`).MatchString(page) {
				t.Errorf("%q is not on the page of the settled ask: %s", label, page)
			}
		}
	}
}
