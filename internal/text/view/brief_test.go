package view_test

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A list offers to approve only calls whose row shows the arguments unchanged and in their order (T3, T9).
func TestListApprovesOnlyCallsThatItShows(t *testing.T) {
	for input, want := range map[string]bool{
		`{"to":"ben"}`:                       true,
		`{"script":"if x:\n    pass"}`:       false, // a row has no line breaks
		`{"move":["\u05d0","\u05d1"]}`:       false, // the browser would swap the two letters
		"{\"move\":[\"\u0627\",\"\u0628\"]}": false,
		`{"to":"ben\u202e"}`:                 false,
		`{"to":"ben","to":"eve"}`:            false,
		// A backslash and an n are rejected like a line break, although a row could show them.
		`{"line":"a\\nb"}`:                          false,
		`{"names":["Ren\u00e9","\u5f20","\u03c9"]}`: true,
	} {
		a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &askback.Confirmation{
			ToolName: "files.move", Input: json.RawMessage(input),
		}}
		if got := view.Brief(a).Quick; got != want {
			t.Errorf("Quick of %s is %t, want %t", input, got, want)
		}
	}
}
