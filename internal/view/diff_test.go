package view_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/view"
)

func diffText(lines []view.DiffLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Sign + l.Text.String() + "|")
	}
	return b.String()
}

// A comparison has each removed and each added line. Long unchanged parts are counted.
func TestDiffHasEveryChange(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a", "a", ""},
		{"a\nb\nc", "a\nx\nc", " a|-b|+x| c|"},
		{"", "x", "-|+x|"},
		{"a\nb", "b\na", "-a| b|+a|"},
		{"\tx", "    x", "-    x|+    x|"},
		{strings.Repeat("s\n", 20) + "end", strings.Repeat("s\n", 20) + "END", "…17 unchanged lines| s| s| s|-end|+END|"},
	} {
		if got := diffText(view.Diff(c.before, c.after)); got != c.want {
			t.Errorf("%q to %q is %q, want %q", c.before, c.after, got, c.want)
		}
	}
	long := strings.Repeat("a\n", 3000)
	if got := view.Diff("x\n"+long+"y", "z\n"+strings.Repeat("b\n", 3000)+"w"); len(got) != 6004 {
		t.Errorf("a comparison of long texts has %d lines", len(got))
	}
}
