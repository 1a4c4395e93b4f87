package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

func diffText(lines []view.DiffLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Sign + l.Text.String() + "|")
	}
	return b.String()
}

// A comparison has each removed and each added line. Long unchanged parts are counted.
func TestDiffContainsEveryChange(t *testing.T) {
	same := strings.Repeat("s\n", 20)
	for _, c := range []struct{ before, after, want string }{
		{"a", "a", ""},
		{"a\nb\nc", "a\nx\nc", " a|-b|+x| c|"},
		{"", "x", "-|+x|"},
		{"a\nb", "b\na", "-a| b|+a|"},
		{"\tx", "    x", "-    x|+    x|"},
		{"b\nc\na", "a\nx\nb\nc", "+a|+x| b| c|-a|"}, // the longest common part is b and c
		{same + "end", same + "END", "…17 unchanged lines| s| s| s|-end|+END|"},
		{"start\n" + same + "end", "START\n" + same + "end", "-start|+START| s| s| s|…18 unchanged lines|"},
		{
			"start\n" + same + "end", "START\n" + same + "END",
			"-start|+START| s| s| s|…14 unchanged lines| s| s| s|-end|+END|",
		},
	} {
		if got := diffText(view.Diff(c.before, c.after)); got != c.want {
			t.Errorf("%q to %q is %q, want %q", c.before, c.after, got, c.want)
		}
	}
	// In long texts, a line in the middle is removed and added even if both texts have it.
	before, after := strings.Repeat("a\n", 3000)+"both\ny", strings.Repeat("b\n", 3000)+"both\nw"
	if got := view.Diff(before, after); len(got) != 6004 {
		t.Errorf("a comparison of long texts has %d lines, want 6004", len(got))
	}
}

// An agent cannot make a page large or slow with many long replacements. They are not compared, and the
// arguments are still shown.
func TestManyLongReplacementsAreNotCompared(t *testing.T) {
	for lines, want := range map[int]int{10: 4, 300: 0} {
		edit := map[string]string{
			"old_string": strings.Repeat("a\n", lines), "new_string": strings.Repeat("b\n", lines),
		}
		input, err := json.Marshal(map[string]any{"edits": []any{edit, edit, edit, edit}})
		if err != nil {
			t.Fatal(err)
		}
		c := view.Of(askback.Ask{
			ID: "ask_1", SessionID: "ses_1", Confirmation: &askback.Confirmation{ToolName: "MultiEdit", Input: input},
		}).Confirmation
		if len(c.Changes) != want || c.Tree == nil || c.Arguments.String() == "" {
			t.Errorf("4 replacements of %d lines: %d are compared, want %d; tree %v", lines, len(c.Changes), want,
				c.Tree != nil)
		}
	}
}
