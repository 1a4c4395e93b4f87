package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/wire/decode"
)

// The rules for routes in a file are the rules of the API. Each route is valid in both, or in neither.
func TestRoutesOfFileAndAPIHaveTheSameRules(t *testing.T) {
	for _, route := range []struct {
		text  string
		valid bool
	}{
		{`{"match": {"agent": "deploy-*", "kind": "confirmation", "tags": ["x"]}, "to": ["ana", "@ops"], "quorum": 2, "no_self_approval": true}`, true},
		{`{"match": {}, "remind": ["15m"], "escalate": [{"after": "2h0m0s", "to": ["ben"]}], "timeout": "24h", "on_timeout": "decline", "join": true}`, true},
		{`{"match": {}, "channels": ["slack", "email"], "source": "api", "warning": "x"}`, true},
		{`{"match": {"agent": "deploy-["}}`, false},
		{`{"match": {"kind": "approval"}}`, false},
		{`{"match": {"tags": ["x", "x"]}}`, false},
		{`{"match": {"tags": [" "]}}`, false},
		{`{"match": {}, "to": [""]}`, false},
		{`{"match": {}, "to": ["@"]}`, false},
		{`{"match": {}, "to": [" ana"]}`, false},
		{`{"match": {}, "to": ["` + strings.Repeat("a", 201) + `"]}`, false},
		{`{"match": {}, "to": ["ana", "ana"]}`, false},
		{`{"match": {}, "to": "ana"}`, false},
		{`{"match": {}, "channels": ["webhook"]}`, false},
		{`{"match": {}, "quorum": 0}`, false},
		{`{"match": {}, "quorum": 21}`, false},
		{`{"match": {"kind": "questions"}, "quorum": 2}`, false},
		{`{"match": {}, "no_self_approval": "yes"}`, false},
		{`{"match": {}, "remind": ["0s"]}`, false},
		{`{"match": {}, "remind": ["soon"]}`, false},
		{`{"match": {}, "escalate": [{"after": "2h"}]}`, false},
		{`{"match": {}, "escalate": [{"to": ["ben"]}]}`, false},
		{`{"match": {}, "remind": ["1m","2m","3m","4m","5m","6m","7m","8m","9m","10m","11m"]}`, false},
		{`{"match": {}, "on_timeout": "decline"}`, false},
		{`{"match": {}, "timeout": "1h", "on_timeout": "never"}`, false},
		{`{"match": {"kind": "confirmation"}, "timeout": "1h", "on_timeout": "default"}`, false},
		{`{"match": {"kind": "confirmation"}, "join": true}`, false},
		{`{"match": {}, "secret": "x"}`, false},
	} {
		body := `{"items": [` + route.text + `], "revision": 0}`
		routes, _, api := decode.RoutesRequest([]byte(body))
		if api == nil {
			api = directory.CheckRoutes(routes, kinds.Routed(), func(string) bool { return true })
		}
		file, err := ReadRoutes("routes.json", strings.NewReader(body))
		if (api == nil) != route.valid || (err == nil) != route.valid {
			t.Errorf("%s: the API says %v, the file %v, want valid: %v", route.text, api, err, route.valid)
		}
		if !route.valid {
			continue
		}
		for i := range routes {
			routes[i].Warning = ""
		}
		a, errA := json.Marshal(routes)
		b, errB := json.Marshal(file.Routes)
		if string(a) != string(b) || errA != nil || errB != nil || file.Revision != 0 {
			t.Errorf("the API reads\n%s, the file\n%s", a, b)
		}
	}
}

// Files with routes may have three forms. A file in another form has a problem with its place.
func TestRouteFilesInThreeFormsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"- to: [ana]\n":          "",
		"routes:\n- to: [ana]\n": "",
		`{"items": [{"match": {}, "to": ["ana"]}], "revision": 3}`: "",
		"[]":                        "",
		"":                          "f:1:1: this file is empty; write routes: [] for none",
		"revision: 3\n":             "f:1:1: this file has no routes; write routes: [] for none",
		"revision: x\nroutes: []\n": `f:1:11: revision: "x" is not a revision; write the revision of GET /routes`,
		"people: []\n":              `f:1:1: unknown setting "people"; the settings here are routes, items, revision, next_cursor, by, changed_at`,
		"- to: [ana]\n" +
			"  source: file\n": `f:2:11: routes[1].source: "file" is not one of the values; write one of settings, api`,
		"routes:\n- match: {agent: \"${HOME}\"}\n  source: settings\n": "",
	} {
		got := ""
		if _, err := ReadRoutes("f", strings.NewReader(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
