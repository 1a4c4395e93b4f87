package markdown_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/safetext"
)

// marks are the characters that Parse may remove, and two that Plain adds for bullets and
// rules.
const marks = "`*#>-+_~[]()\\•—"

// visible returns the characters of s that must be in the tree, in the same order.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(marks, r) {
			return -1
		}
		return r
	}, s)
}

// Parse does not lose, repeat or move a word, whatever marks are around the word (T3, T6).
func TestParseKeepsWordsInOrder(t *testing.T) {
	parts := []string{
		"a", "b c", "Ж", "日本", "7", " ", "  ", "    ", "\n", "\n\n", "\t", "\r\n", "*", "**", "***", "****", "`", "``",
		"```", "~~~", "# ", "## ",
		"> ", ">", "- ", "* ", "+ ", "1. ", "2) ", "---", "***", "[", "]", "](", ")", "(", "https://x.test/a?b=c",
		"http://", "[a](https://y.test)",
		"[`c`](mailto:a@b.test)", "![i](http://z.test/i.png)", "[j](javascript:x)", "|", "|--|--|", "a | b", "<b>",
		"</script>", "<!--", "-->", "&amp;",
		`\`, `\*`, "!", ".", ",", "_", "=====", "😀", "{{x}}", "[x]: y", `"t"`,
		"\n\n| abcd | e |\n|--|:-:|\n| f | ghijk |\n", "\n```sh\n", "\n> - 1. ", "\n\n    code\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 30, 120).Draw(t, "src"), "")
		doc := markdown.Parse(src)
		if got, want := visible(doc.String()), visible(src); got != want {
			t.Fatalf("%q\nreads as %q\nwant     %q\nin %s", src, got, want, dump(doc))
		}
	})
}

func depth(blocks []markdown.Block) int {
	deepest := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case markdown.Quote:
			deepest = max(deepest, depth(b.Blocks))
		case markdown.List:
			for _, item := range b.Items {
				deepest = max(deepest, depth(item.Blocks))
			}
		}
	}
	return deepest + 1
}

// Parse keeps the letters and ASCII characters of safe text, except marks and spaces. From
// any text, it returns safe text only, in a tree that is not deep, and reads it in linear
// time.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# Plan\n\n1. **stop** `db`\n   - [docs](https://example.com/a_(b))\n\n> *quoted*\n\n```sh\nrm -rf /\n```\n" +
			"\n|a|b|\n|-|-|\n|1|2|",
		"[a](http://good.test@evil.test) [![x](y)](z) <https://a.test> `` ` `` \\* ***a** b*",
		"- - 1. > - a\n\t\tb\n    c", "*a\u0301*\u202e`\u200d`\x1b[31m",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, s := range []string{src, safetext.Block(src).String()} {
			doc := markdown.Parse(s)
			each(doc, func(text safetext.Text) {
				if again := safetext.Block(text.String()); again != text {
					t.Fatalf("%q contains %q, which is not safe", s, text)
				}
			})
			if work := markdown.Work(s); work > 40*(len(s)+1) {
				t.Fatalf("%q: %d bytes are read %d times", s, len(s), work)
			}
			if depth(doc) > 5 {
				t.Fatalf("%q is %d deep", s, depth(doc))
			}
		}
		clean := safetext.Block(src).String()
		// In code, marks replace more characters than in other text, but no letters.
		letters := strings.Map(func(r rune) rune {
			if r > unicode.MaxASCII && !unicode.IsLetter(r) {
				return -1
			}
			return r
		}, visible(clean))
		if got := markdown.Parse(clean).String(); !inOrder(letters, got) {
			t.Fatalf("%q reads as %q", clean, got)
		}
	})
}

// inOrder reports whether text contains the characters of s in their order.
func inOrder(s, text string) bool {
	want := []rune(s)
	for _, r := range text {
		if len(want) > 0 && r == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// each calls visit for every [safetext.Text] in a tree.
func each(blocks []markdown.Block, visit func(safetext.Text)) {
	spans := func(spans []markdown.Span) {
		for _, s := range spans {
			visit(s.Text)
			if s.Link != nil {
				visit(s.Link.URL)
				visit(s.Link.Host)
			}
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case markdown.Paragraph:
			spans(b.Spans)
		case markdown.Heading:
			spans(b.Spans)
		case markdown.Quote:
			each(b.Blocks, visit)
		case markdown.List:
			for _, item := range b.Items {
				visit(item.Marker)
				each(item.Blocks, visit)
			}
		case markdown.Code:
			for _, row := range b.Table {
				for _, cell := range row {
					spans(cell)
				}
			}
			visit(b.Label)
			visit(b.Text)
		}
	}
}

// The number of bytes that Parse reads is proportional to the length of its input (T25).
func TestParseTimeIsLinear(t *testing.T) {
	const n = 30_000
	var ticks strings.Builder
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i) + "a")
	}
	for _, part := range []string{
		ticks.String(),
		"[", "]", "](", "[](", "[a](", "[a](b", "(", ")", "*", "* ", "**", "*a", "a*", "*a ", "**a ", "***a* ", "`",
		"`a", "``a`", "```a`", "> ", ">", ">\n",
		"- ", "-", "- a\n", "1. ", "#", "# a\n", "|", "|\n", "|-\n", "|-|\n", "a|b\n", "---\n", "~~~", "~~~\n",
		"```\n", "\n", " \n", "    a\n", "\t", "\t\n",
		"http://", "http://a)", "http://a ", "https://a@", "h", `\`, `\*`, `\[`, "\\``", "\\`", "\\```", "_", "<",
		"<!--", "&", "!", "![", "[x]: ", "  - a\n", " ", "\r\n", "e\u0301",
		"[`](http://a.test)", "> - ", "- > ", "  ", "-\n", "- a\n\n", "http://a(", "http://a...",
	} {
		again := strings.Repeat(part, max(n/len(part), 1))
		for _, src := range []string{again, "- " + again, "a\n" + again, again + "](", "[`*" + again + "\n"} {
			if work := markdown.Work(src); work > 40*len(src) {
				t.Errorf("%.20q over and over: %d bytes are read %d times", part, len(src), work)
			}
			if got := len(markdown.Parse(src).String()); got > 8*len(src) {
				t.Errorf("%.20q over and over: %d bytes become %d", part, len(src), got)
			}
		}
	}
}
