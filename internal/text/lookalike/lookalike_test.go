package lookalike_test

import (
	"testing"

	"github.com/askback/askback/internal/text/lookalike"
)

// Texts look alike if people cannot tell them apart, and only then.
func TestSkeletonIgnoresInvisibleDifferences(t *testing.T) {
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
		{"Yes", "yes"},
		{"a", "á"},
		{"1", "2"},
		{"a b", "ab"},
		{"v1.0", "v10"},
		{"да", "нет"},
		{"東", "京"},
		{"👍", "👎"},
		{"-1", "1"},
		{"<b>", "b"},
	} {
		if a, b := lookalike.Skeleton(c[0]), lookalike.Skeleton(c[1]); a == b {
			t.Errorf("%q and %q differ, but both got %q", c[0], c[1], a)
		}
	}
}

func TestLookalikesHaveTheSameSkeleton(t *testing.T) {
	for _, s := range []string{
		"path", "раth", "pαth", "pаtһ", "ｐａｔｈ", "𝐩𝐚𝐭𝐡", "𝓹𝓪𝓽𝓱", "p\u200bath", "pa\u00adth\u200d", "\u202epath",
	} {
		if got := lookalike.Skeleton(s); got != "path" {
			t.Errorf("%q has the skeleton %q", s, got)
		}
	}
	if got := lookalike.Skeleton("Straße 日本"); got != "Straße 日本" {
		t.Errorf("got %q", got)
	}
}

// A name that mixes letters that look alike is reported, and a name in one script is not.
func TestNamesInMixedScriptsAreReported(t *testing.T) {
	for name, want := range map[string]string{
		"wrіte": "write", "dеploy": "deploy", "ѕ": "s", "соdex": "codex", "plаin": "plain", "ｄｅｐｌｏｙ": "deploy",
		"аn\u200ba": "ana", "files.dеlete": "files.delete", "Αnna Schmidt": "Anna Schmidt", "𝗮na": "ana", "аnä": "anä",
		"ａgent 日本": "agent 日本", "an\u200ba": "", "write": "", "deploy-bot 2": "", "José": "", "агент": "",
		"Проект-X": "", "日本語": "", "αβγ": "", "Straße": "", "bot ❤️": "", "👩\u200d👩\u200d👧": "", "kΩ": "", "": "",
	} {
		as, ok := lookalike.Of(name)
		if ok != (want != "") || ok && as != want {
			t.Errorf("%q: got %q, %v, want %q", name, as, ok, want)
		}
	}
}
