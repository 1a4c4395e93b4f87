package view_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

func hours(n int) askback.Span { return askback.Span(time.Duration(n) * time.Hour) }

// A route is shown as a sentence.
func TestRouteIsASentence(t *testing.T) {
	for _, c := range []struct {
		route askback.Route
		want  string
	}{
		{askback.Route{}, "Everything: everyone may answer."},
		{
			askback.Route{
				Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"prod"}},
				To:    []string{"@payments"}, Quorum: 2, Remind: []askback.Span{askback.Span(30 * time.Minute)},
				Escalate: []askback.Escalation{{After: hours(2), To: []string{"@oncall"}}},
			},
			"Confirmations of deploy-* tagged prod: two of @payments must approve; reminds after 30 minutes; after " +
				"2 hours, @oncall may answer, too.",
		},
		{
			askback.Route{Match: askback.Match{Kind: askback.Confirm}, To: []string{"@dev"}, Approvers: []string{
				"ana", "@payments",
			}},
			"Confirmations: only ana and @payments may decide; it is for @dev.",
		},
		{
			askback.Route{Match: askback.Match{Kind: askback.Confirm}, Approvers: []string{"@payments"}, Quorum: 2},
			"Confirmations: two of @payments must approve, and no one else may decide.",
		},
		{
			askback.Route{
				Match: askback.Match{Kind: askback.Questions}, To: []string{"ana", "ben", "@oncall"},
				Timeout: hours(49), OnTimeout: askback.OnTimeoutDecline, Join: true,
			},
			"Questions: ana, ben and @oncall may answer; after 2 days 1 hour, the agent continues without an " +
				"answer; identical questions of one agent become one ask.",
		},
		{
			askback.Route{
				Match: askback.Match{Agent: "x\u202e", Tags: []string{"a", "b"}}, Quorum: 12, NoSelfApproval: true,
				Channels: []string{"slack", "email"},
			},
			"Everything from x⟨U+202E⟩ tagged a and b: 12 people must approve; the person who started the session " +
				"must not decide; sent only by slack and email.",
		},
	} {
		v := view.OfRoute(c.route)
		if got := v.When.String() + ": " + v.Does.String() + "."; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Each field of a route is in its sentence, or next to it.
func TestRouteSentenceContainsEveryField(t *testing.T) {
	changes := map[string]askback.Route{
		"Match": {Match: askback.Match{Agent: "a"}}, "To": {To: []string{"ana"}},
		"Approvers": {Approvers: []string{"ana"}}, "Channels": {Channels: []string{"slack"}},
		"Quorum": {Quorum: 2}, "NoSelfApproval": {NoSelfApproval: true}, "Remind": {Remind: []askback.Span{hours(1)}},
		"Escalate": {Escalate: []askback.Escalation{{After: hours(1), To: []string{"ben"}}}},
		"Timeout":  {Timeout: hours(1)}, "OnTimeout": {Timeout: hours(1), OnTimeout: askback.OnTimeoutWait},
		"Join": {Join: true}, "Source": {Source: askback.SourceSettings}, "Warning": {Warning: "no such group"},
	}
	seen := map[view.Route]string{view.OfRoute(askback.Route{}): "no field"}
	for f := range reflect.TypeFor[askback.Route]().Fields() {
		r, ok := changes[f.Name]
		if other := seen[view.OfRoute(r)]; !ok || other != "" {
			t.Errorf("%s: the same as with %s, or not in this test", f.Name, other)
		}
		seen[view.OfRoute(r)] = f.Name
	}
}

// A duration that a form shows is parsed as the same duration.
func TestSpanTextIsParsedAsTheSameDuration(t *testing.T) {
	for _, d := range []time.Duration{
		time.Second, 90 * time.Second, 90 * time.Minute, 26 * time.Hour, 30 * 24 * time.Hour,
	} {
		got, err := askback.ParseDuration(view.SpanText(d))
		if err != nil || got != d {
			t.Errorf("%s: got %v, %v from %q", d, got, err, view.SpanText(d))
		}
	}
}
