package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A line of a list begins with the call. The arguments follow, and then what the agent says.
func TestLineBeginsWithTheCall(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for _, c := range []struct {
		call askback.Confirmation
		want string
	}{
		{
			askback.Confirmation{
				ToolName: "db.migrate", Server: "warehouse", Description: "Remove the\ntable that nothing uses.",
				Input: json.RawMessage(`{"database":"prod","sql":"drop table orders_2019;\nvacuum","dry_run":false}`),
			},
			`db.migrate on warehouse · database: "prod", sql: "drop table orders_2019;\n vacuum", dry_run: false` +
				` · agent: Remove the table that nothing uses.`,
		},
		{askback.Confirmation{ToolName: "deploy", Input: json.RawMessage(`{}`)}, "deploy · {}"},
		{
			// Only a name that is a word has no quotation marks, so that no name looks like another member.
			askback.Confirmation{ToolName: "t", Input: json.RawMessage(
				`{"a":1,"b c":{"d":[]},"":null,"x: 1, y":2,"\"e":"\"", "f\n  \"g":3}`)},
			`t · a: 1, "b c": { "d": [] }, "": null, "x: 1, y": 2, "\"e": "\"", "f\n \"g": 3`,
		},
		{
			// No word is cut: the ellipsis stands for the whole path.
			askback.Confirmation{ToolName: "rm", Input: json.RawMessage(
				`{"recursive":true,"path":"/srv/` + strings.Repeat("archive/", 12) + `2019"}`)},
			`rm · recursive: true, path: …`,
		},
		{
			askback.Confirmation{ToolName: "send", Input: json.RawMessage(`{"to":"ben","text":"` + long + `"}`)},
			`send · to: "ben", text: "` + strings.Repeat("word ", 16) + "…",
		},
		{
			askback.Confirmation{ToolName: "say", Input: json.RawMessage(`{"text":"` + strings.Repeat("文字", 90) + `"}`)},
			`say · text: "` + strings.Repeat("文字", 23) + " …",
		},
	} {
		a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &c.call}
		for _, v := range []view.Ask{view.Of(a), view.Brief(a)} {
			if got := v.Line().String(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		}
	}
}

// The beginning of arguments that are too long for a list is shown like other arguments, wherever it ends.
func TestBeginningOfLongArgumentsIsFormatted(t *testing.T) {
	for _, begin := range []string{
		`{"a":"x","t":"`, `{"a":"x","t":["`, `{"a":"x","t":{"u":"\"\\`, `{"a":"x","t":["1","2","`, `{"a":"x","t":[[{"u":"`,
	} {
		for n := range 14 {
			input := begin + strings.Repeat(" ", n) + strings.Repeat(`é \u00e9 \" `, 400)
			a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &askback.Confirmation{
				ToolName: "t", Input: json.RawMessage(input + `"`),
			}}
			if got := view.Brief(a).Line().String(); !strings.HasPrefix(got, `t · a: "x", t: `) ||
				strings.Contains(got, "u00e9") || !strings.HasSuffix(got, " …") {
				t.Errorf("%s, %d spaces: got %s", begin, n, got)
			}
		}
	}
	numbers := `{"a":"x","t":[` + strings.Repeat("1,", 3000) + `2]}`
	for n := range 3 {
		a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &askback.Confirmation{
			ToolName: "t", Input: json.RawMessage(strings.Repeat(" ", n) + numbers),
		}}
		if got := view.Brief(a).Line().String(); !strings.HasPrefix(got, `t · a: "x", t: [ 1, 1,`) ||
			!strings.HasSuffix(got, "1, …") {
			t.Errorf("got %s", got)
		}
	}
}
