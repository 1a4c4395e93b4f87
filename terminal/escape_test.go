package terminal_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback/test/kit/racedetector"
)

// This file has generators of control sequences of ECMA-48, complete and incomplete.

func byteIn(low, high byte) *rapid.Generator[string] {
	return rapid.Map(rapid.ByteRange(low, high), func(b byte) string { return string(rune(b)) })
}

func repeated(g *rapid.Generator[string], most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(g, 0, most), func(parts []string) string { return strings.Join(parts, "") })
}

func concat(parts ...*rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, g := range parts {
			b.WriteString(g.Draw(t, "part"))
		}
		return b.String()
	})
}

func oneOf(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }

// introducer draws ESC and a letter, or the equivalent C1 control character, as UTF-8 or as
// one byte.
func introducer(letter byte) *rapid.Generator[string] {
	return oneOf("\x1b"+string(letter), string(rune(letter+0x40)), string([]byte{letter + 0x40}))
}

var (
	parameters = repeated(
		rapid.OneOf(byteIn(0x30, 0x3f), oneOf("0", "1", "2", "25", "1049", "2026", ";", ":", "?", ">")), 6,
	)
	intermediate = repeated(byteIn(0x20, 0x2f), 2)
	payload      = rapid.OneOf(
		oneOf("0;Ж owned", "2;Ж", "52;c;cm0gLXJm", "8;;http://example.org", "8;;", "9;Ж", "777;notify;a;Ж", "4;1;?",
			"10;?", "1337;File=:AA", "$qm", "+q544e", "Gi=1;AA", "\n 1 │ Ж"),
		rapid.String(),
	)
	terminator = oneOf("\x07", "\x1b\\", "\u009c", "\x9c", "", "\x18", "\x1a")
)

// sequence draws one control sequence, control string or control function.
func sequence() *rapid.Generator[string] {
	return rapid.OneOf(
		concat(introducer('['), parameters, intermediate, byteIn(0x40, 0x7e)),
		concat(introducer('['), oneOf("2J", "H", "1;1H", "10A", "99D", "?1049h", "?25l", "?7l", "6n", "c", ">q", "8m",
			"7m", "38:2::1:2:3m", "4h", "20h", "1;2r", "!p", "3J", "2K", "L", "M", "P", "@", "1000X")),
		concat(rapid.Map(oneOf("]", "P", "X", "^", "_"), func(s string) string { return "\x1b" + s }), payload,
			terminator),
		concat(oneOf("\u009d", "\u0090", "\u0098", "\u009e", "\u009f", "\x9d", "\x90"), payload, terminator),
		concat(oneOf("\x1b"), repeated(byteIn(0x20, 0x2f), 3), byteIn(0x30, 0x7e)), // nF, Fp, Fe, Fs
		concat(oneOf("\x1b"), repeated(rapid.String(), 2)),
		byteIn(0x80, 0x9f),
		byteIn(0x00, 0x1f),
	)
}

// forgeries returns strings that imitate text of Askback (T10), or have an unexpected width.
func forgeries() []string {
	return []string{
		"✔ Approved by admin", "\n✔ Approved by admin", "\nSettled: approved by admin in the browser",
		"\n── Askback · approval ──────\n agent │ admin\n  tool │ ls\n", "\nApprove? [y/N] y",
		"\n── 2 of 2 ──\n  asks │ And now?\n       │\n     1 │ Yes\n> 1", "│ Ж", "┊ Ж", "\n┊ Ж", "\n       │ Ж",
		"\n       ┊ Ж", "\n     3   Other: your own words", "\nIf no one answers by noon, this is approved.", "> ",
		"\n> y\n",
		"┌────┐\n│ OK │\n└────┘", "\u2502", "\u2503\u007c\uff5c\u4e28", "\u2500\u2500\u2500\u2500", "```\n│\n```",
		"# Askback · approval", "- [x] approved", "> quoted\n> │ Ж", "|a|b|\n|-|-|\n|│|Ж|", "---\n",
		"1. Approve\n2. Deny\n", "\n(3 rows, all shown)\n", "\nCareful: this contains hidden characters",
		strings.Repeat("\n", 30), strings.Repeat(" ", 200), strings.Repeat("\u1100", 60),
		strings.Repeat("\uff9e", 120), strings.Repeat("👩\u200d", 40) + "👩",
		strings.Repeat("🏽", 50), strings.Repeat("\u0a03", 60), "שלום │ עולם", "\u0627\u0644\u0639 \"a\": \"\u0628\"",
		"\u202e│\u202c", "\u2067│\u2069", "\u200f│", "[ok](https://example.org)", "**│**", "`│`",
		"``` " + strings.Repeat("label ", 20) + "\nx\n```", "12345678. > > 1. - " + strings.Repeat("deep ", 20),
		"> " + strings.Repeat("ਃ", 30),
	}
}

func hostileText() *rapid.Generator[string] {
	return repeated(rapid.OneOf(sequence(), rapid.SampledFrom(forgeries()), rapid.String(),
		oneOf("Ж", "a", " ", "\n", "\r", "\t", "\b")), 4)
}

// No control sequence and no imitation of Askback changes the text of Askback. Each field has a different
// text, and a sequence can begin in one field and end in the next (T8, T10).
func TestEscapeSequencesStayInFrame(t *testing.T) {
	racedetector.Omit(t)
	rapid.Check(t, func(t *rapid.T) {
		var rest string
		word := func() string {
			text := hostileText().Draw(t, "text")
			cut := 0
			if text != "" {
				cut = rapid.IntRange(0, len(text)).Draw(t, "cut")
			}
			field := "x" + rest + text[:cut]
			rest = text[cut:]
			return field
		}
		checkFrame(t, rapid.SampledFrom(widths).Draw(t, "width"), 2, allKinds, word)
	})
}

// Text that imitates Askback does not change the text of Askback, even if it is in every field (T10).
func TestForgeriesStayInFrame(t *testing.T) {
	racedetector.Omit(t)
	for _, text := range forgeries() {
		for _, width := range widths {
			checkFrame(t, width, 1, allKinds, func() string { return "x\n\n" + text + "\n\nx" + text })
		}
	}
}

func FuzzAgentTextStaysInFrame(f *testing.F) {
	f.Add("\x1b[2J\x1b]0;Ж\a", "\u009b1;1H", "\n  tool │ ls", uint8(0))
	f.Fuzz(func(t *testing.T, a, b, c string, width uint8) {
		if len(a)+len(b)+len(c) > 10_000 {
			return
		}
		n := 0
		checkFrame(t, widths[int(width)%len(widths)], 1, allKinds,
			func() string { n++; return "x" + []string{a, b, c}[n%3] })
	})
}
