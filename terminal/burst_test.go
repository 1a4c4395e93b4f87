package terminal

import (
	"strings"
	"testing"
)

// Bytes that arrive together are pasted text, unless they are one key or have no text. The order
// of keys and texts stays, and a paste that the terminal marks is not changed.
func TestBurstIsPastedText(t *testing.T) {
	paste := func(text string) string { return pasteBegins + text + pasteEnds }
	for _, c := range []struct{ in, want string }{
		{"a", "a"},
		{"\n", "\n"},
		{"é", "é"},
		{"\xc3|\xa9", "é"},
		{"\x1b[A", "\x1b[A"},
		{"\x1b[A\x1b[B", "\x1b[A\x1b[B"},
		{"\x1b", "\x1b"},
		{"\x7f\x7f", "\x7f\x7f"},
		{"\t", "\t"},
		{"a|y", "ay"},
		{"y\n", paste("y\n")},
		{"\x1b[B\n", "\x1b[B" + paste("\n")},
		{"helo\x7flo\n", paste("helo") + "\x7f" + paste("lo\n")},
		{"two\n\tlines", paste("two\n\tlines")},
		{paste("y\n"), paste("y\n")},
		{paste("one\n") + "y\n", paste("one\n") + paste("y\n")},
		{"\x1b[200~on|e\ny|\x1b[20|1~", paste("one\ny")},
		{"\x1b[200~a\x1b[201~a\n|a", paste("a") + paste("a\n") + "a"},
	} {
		var b burst
		var got []byte
		for in := range strings.SplitSeq(c.in, "|") {
			got = append(got, b.convert([]byte(in))...)
		}
		if string(got) != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// The bytes after a part of a burst belong to the burst. The result fits in the buffer of the program.
func TestPartialBurstIsContinued(t *testing.T) {
	b := burst{goesOn: true}
	if got, want := string(b.convert([]byte("y"))), pasteBegins+"y"+pasteEnds; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b = burst{}
	if got := b.convert([]byte(strings.Repeat("a\x7f", maxBurst/2))); len(got) > 8*maxBurst {
		t.Errorf("%d bytes became %d", maxBurst, len(got))
	}
}
