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

// What the changes of a call do not show is in Rest, so that a page shows each argument. A text that is in both
// places would be read twice; a text in neither would be approved unseen.
func TestRestHasTheArgumentsThatChangesDoNotShow(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"/a","old_string":"x","new_string":"y"}`:                     "",
		`{"file_path":"/a","old_string":"x","new_string":"y","replace_all":true}`:  "replace_all=true ",
		`{"path":"/a","old_str":"x","new_str":"y","file_path":7}`:                  "path=/a file_path=7 ",
		`{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"}]}`:         "",
		`{"edits":[{"old_string":"x","new_string":"y","n":1},{"old_string":"z"}]}`: "edits=[{n=1 }{old_string=z }] ",
		// equal texts are no change, so nothing else shows them
		`{"edits":[{"old_string":"x","new_string":"y"},{"old_string":"s","new_string":"s"}]}`: "edits=[" +
			"{old_string=s new_string=s }] ",
		// a program may read the other name, so the arguments are not compared
		`{"old_string":"","new_string":"y","old_str":{"a":1}}`:                        "none",
		`{"path":"/a","old_str":"x","new_str":"y","old_string":"y","new_string":"x"}`: "none",
		`{"edits":[{"old_str":"x","new_str":"y","new_string":"x"},{"old_str":"a","new_str":"b"}]}`: "edits=[" +
			"{old_str=x new_str=y new_string=x }] ",
		`{"path":"/a","file_path":"/b","old_str":"x","new_str":"y"}`: "path=/a file_path=/b ",
		`{"edits":[{"old_string":"x","new_string":"y"},"text"]}`:     "edits=[text] ",
		`{"command":"ls"}`: "none",
	} {
		c := view.Of(askback.Ask{
			ID: "ask_1", SessionID: "ses_1",
			Confirmation: &askback.Confirmation{ToolName: "Edit", Input: json.RawMessage(input)},
		}).Confirmation
		got := "none"
		if c.Rest != nil {
			got = membersText(*c.Rest)
		}
		if got != want {
			t.Errorf("the rest of %s is %q, want %q", input, got, want)
		}
	}
}

func membersText(v view.Value) (s string) {
	for _, m := range v.Members {
		switch m.Value.Kind {
		case view.ObjectValue:
			s += m.Name.String() + "={" + membersText(m.Value) + "} "
		case view.ArrayValue:
			s += m.Name.String() + "=[" + itemsText(m.Value) + "] "
		default:
			s += m.Name.String() + "=" + m.Value.Text.String() + " "
		}
	}
	return s
}

func itemsText(v view.Value) (s string) {
	for _, m := range v.Members {
		if m.Value.Kind == view.ObjectValue {
			s += "{" + membersText(m.Value) + "}"
		} else {
			s += m.Value.Text.String()
		}
	}
	return s
}

// The words that differ are marked, and the parts of a line are its whole text.
func TestDiffMarksTheWordsThatDiffer(t *testing.T) {
	for _, c := range []struct{ before, after, removed, added string }{
		{"const rate = 19", "const rate = 21", "19", "21"},
		{"return total(net)", "return total(net, tax)", "", ", tax"},
		{"a := old_name(x)", "a := new_name(x)", "old_name", "new_name"},
		{"something", "entirely different", "", ""},
		{"preis = „19“", "preis = „21“", "", ""}, // a mark could separate a character from its accent
	} {
		lines := view.Diff(c.before, c.after)
		var got []string
		for _, l := range lines {
			before, changed, after := l.Parts()
			got = append(got, changed.String())
			if all := before.String() + changed.String() + after.String(); all != l.Text.String() {
				t.Errorf("the parts of %q are %q", l.Text, all)
			}
		}
		if len(got) != 2 || got[0] != c.removed || got[1] != c.added {
			t.Errorf("%q to %q: got %q, want %q and %q", c.before, c.after, got, c.removed, c.added)
		}
	}
}
