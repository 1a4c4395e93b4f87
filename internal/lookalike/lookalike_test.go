package lookalike_test

import (
	"testing"

	"github.com/askback/askback/internal/lookalike"
)

// Texts look alike if people cannot tell them apart, and only then.
func TestSkeletonIsWhatPeopleSee(t *testing.T) {
	for _, c := range [][2]string{
		{"Yes", "Yes "},
		{"Yes", " Yes"},
		{"Yes", "\tYes\n"},
		{"No way", "No  way"},
		{"No way", "No\u00a0way"},
		{"No way", "No\u2003way"},
		{"é", "e\u0301"},
		{"Å", "A\u030a"},
		{"１", "1"},
		{"Ｙｅｓ", "Yes"},
		{"ﬁle", "file"},
		{"가", "\u1100\u1161"},
		{"Yes", "Y\u200bes"},
		{"Yes", "Yes\ufeff"},
		{"Yes", "\u202eYes"},
		{"Yes", "Ye\u00ads"},
		{"Yes", "Yes\u2060"},
		{"Yes", "Yes\u3164"},
		{"❤", "❤\ufe0f"},
		{"Yes", "Y\x07es"},
		{"Yes", "Yеs"},
		{"copy", "сору"},
		{"Ok", "Οk"},
	} {
		if a, b := lookalike.Skeleton(c[0]), lookalike.Skeleton(c[1]); a != b {
			t.Errorf("%q and %q look alike, but got %q and %q", c[0], c[1], a, b)
		}
	}
	for _, c := range [][2]string{
		{"Yes", "yes"}, {"a", "á"}, {"1", "2"}, {"a b", "ab"}, {"v1.0", "v10"}, {"да", "нет"}, {"東", "京"}, {"👍", "👎"}, {"-1", "1"}, {"<b>", "b"},
	} {
		if a, b := lookalike.Skeleton(c[0]), lookalike.Skeleton(c[1]); a == b {
			t.Errorf("%q and %q differ, but both got %q", c[0], c[1], a)
		}
	}
}
