package safetext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/safetext"
)

// dangerous reports whether r must always be replaced. It follows docs/threats.md and not the code, so it is
// an independent check.
func dangerous(r rune) bool {
	for _, span := range [][2]rune{
		{0, 9},
		{0x0B, 0x1F},
		{0x7F, 0x9F},
		{0xAD, 0xAD},
		{0x34F, 0x34F},
		{0x61C, 0x61C},
		{0x115F, 0x1160},
		{0x200B, 0x200B},
		{0x200E, 0x200F},
		{0x2028, 0x202E},
		{0x2060, 0x206F},
		{0x3164, 0x3164},
		{0xE000, 0xF8FF},
		{0xFDD0, 0xFDEF},
		{0xFEFF, 0xFEFF},
		{0xFFA0, 0xFFA0},
		{0xFFF0, 0xFFFB},
		{0xFFFE, 0xFFFF},
		{0x13430, 0x1343F},
		{0x1BCA0, 0x1BCA3},
		{0x1D173, 0x1D17A},
		{0xE0000, 0xE0060},
		{0xE0080, 0xE00FF},
		{0xE01F0, 0xE0FFF},
		{0xF0000, 0x10FFFF},
	} {
		if span[0] <= r && r <= span[1] {
			return true
		}
	}
	return r&0xFFFE == 0xFFFE
}

// unseen reports whether r is an invisible character that text may keep next to some other characters. Code
// keeps no such character.
func unseen(r rune) bool {
	return r == 0x200C || r == 0x200D || r >= 0x180B && r <= 0x180F || r >= 0xFE00 && r <= 0xFE0F ||
		r >= 0xE0061 && r <= 0xE01EF
}

type failer interface {
	Errorf(format string, args ...any)
}

// check checks the result of every function of the package for s.
func check(t failer, s string) {
	all := []struct {
		name string
		make func(string) safetext.Text
	}{{"Line", safetext.Line}, {"Block", safetext.Block}, {"Code", safetext.Code}}
	for _, m := range all {
		got := m.make(s)
		if again := m.make(got.String()); again != got {
			t.Errorf("%s(%+q): got %+q, then %+q", m.name, s, got, again)
		}
		if !utf8.ValidString(got.String()) {
			t.Errorf("%s(%+q): got %+q, which is not UTF-8", m.name, s, got)
		}
		for _, r := range got.String() {
			if r >= ' ' && r <= '~' {
				continue
			}
			code := m.name == "Code" && (unseen(r) || unicode.In(r, unicode.Cf, unicode.Zs) && r != ' ')
			if dangerous(r) || code || r == '\n' && m.name == "Line" {
				t.Errorf("%s(%+q): got %U in %+q", m.name, s, r, got)
			}
		}
		if safetext.Hidden(got.String()) {
			t.Errorf("%s(%+q): hidden characters reported in safe text", m.name, s)
		}
	}
}

// Each code point is tested after a letter, before a letter, and at the start of a line (T8, T9).
func TestEveryCodePointBecomesSafe(t *testing.T) {
	const piece = 256
	for first := rune(0); first <= unicode.MaxRune && !t.Failed(); first += piece {
		var b strings.Builder
		for r := first; r < first+piece; r++ {
			b.WriteString(string(r) + "a" + string(r) + "\n")
			if dangerous(r) || unseen(r) {
				shown(t, r)
			}
		}
		check(t, b.String())
	}
}

// shown requires that r becomes a mark and that Hidden reports r, unless r is a tab.
func shown(t *testing.T, r rune) {
	s := string(r) + "a" + string(r) + "b"
	if !safetext.Hidden(s) && r != '\t' {
		t.Errorf("%U: not reported as hidden", r)
	}
	if got := safetext.Block(s).String(); len(got) < 2*len("␛") {
		t.Errorf("%U: got %+q, want two marks", r, got)
	}
}

// hostile generates text of the characters that Askback replaces or keeps by a rule.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"a", "Я", "0", " ", "\n", "\r", "\t", "\r\n", "é", "\u0301", "\u064b", "\u094d", strings.Repeat("\u0301", 7),
		"क", "র", "ک", "中", "葛", "ᠠ", "ℹ", "😀", "👩", "❤", "🏽", "🏴",
		"\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "\U000E0067", "\U000E007F", "\u200c",
		"\u200d", "\u180e", "\u180b", "\uFE00", "\uFE0F", "\U000E0100", "\u202e", "\u2028", "\u3164", "\u034f",
		"\u17b4", "\x1b", "\x1b[", "\x1b]", "\x1b\\", "\u009b", "\u009d", "[", "1;2", "m", "\a", "\x9b", "\xff",
		"\u0600", "⟨", "◌", "\ue000", "\U0001FFFE", "🇩", "ক্", "\u1112", "\u1161", "-", "\u00a0", "\u20e3", "‼",
	}
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "any") == 0 {
			return rapid.String().Draw(t, "text") + string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "bytes"))
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), "")
	})
}

func TestHostileTextBecomesSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check(t, hostile().Draw(t, "text")) })
}

// Visible ASCII characters outside of escape sequences are kept, in their order.
func TestVisibleASCIIIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.NewReplacer("\x1b", "", "\u009b", "").Replace(hostile().Draw(t, "text"))
		printable := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r > ' ' && r <= '~' {
					return r
				}
				return -1
			}, s)
		}
		for _, got := range []safetext.Text{safetext.Line(s), safetext.Block(s), safetext.Code(s)} {
			rest := printable(got.String())
			for _, r := range printable(s) {
				i := strings.IndexRune(rest, r)
				if i < 0 {
					t.Fatalf("%+q: %q is missing in %+q", s, r, got)
				}
				rest = rest[i+1:]
			}
		}
		if len(s) > 0 && strings.Trim(s, "\r") != "" && safetext.Block(s).String() == "" {
			t.Fatalf("%+q became nothing", s)
		}
	})
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{
		"\x1b]0;t\a", "\x1b[38:2::1m", "می\u200cخواهم", "👩\u200d👧",
		"a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\xff\u009b", "🏴\U000E0067\U000E0062",
	} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		check(t, s)
		checkWrap(t, safetext.Block(s), width%200)
	})
}
