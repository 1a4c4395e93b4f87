package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/text/markdown"
)

// dump writes a tree on one line: S for strong, E for emphasis, C for code, and
// <text|address> for links.
func dump(blocks []markdown.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case markdown.Paragraph:
			b.WriteString("p " + dumpSpans(block.Spans))
		case markdown.Heading:
			fmt.Fprintf(&b, "h%d %s", block.Level, dumpSpans(block.Spans))
		case markdown.Quote:
			b.WriteString("quote(" + dump(block.Blocks) + ")")
		case markdown.Code:
			fmt.Fprintf(&b, "code[%s] %q", block.Label, block.Text)
		case markdown.List:
			b.WriteString("list(")
			for _, item := range block.Items {
				fmt.Fprintf(&b, "%s{%s}", item.Marker, dump(item.Blocks))
			}
			b.WriteString(")")
		case markdown.Rule:
			b.WriteString("hr")
		}
		b.WriteString(";")
	}
	return b.String()
}

func dumpSpans(spans []markdown.Span) string {
	var b strings.Builder
	for _, s := range spans {
		mark := map[bool]string{
			true: "S",
		}[s.Strong] + map[bool]string{true: "E"}[s.Emphasis] + map[bool]string{true: "C"}[s.Code]
		if mark != "" {
			mark += ":"
		}
		text := s.Text.String()
		if s.Link != nil {
			text = "<" + text + "|" + s.Link.URL.String() + ">"
		}
		fmt.Fprintf(&b, "(%s%s)", mark, text)
	}
	return strings.ReplaceAll(b.String(), "\n", "↵")
}

func check(t *testing.T, src, want string) {
	t.Helper()
	if d := cmp.Diff(want, dump(markdown.Parse(src))); d != "" {
		t.Errorf("%q: %s", src, d)
	}
}

func TestTextIsSplitIntoBlocks(t *testing.T) {
	for src, want := range map[string]string{
		"":                                  "",
		"\n \n\t\n":                         "",
		"one\ntwo":                          "p (one↵two);",
		"one\r\ntwo\r\n":                    "p (one↵two);",
		"one\n\n\n\ntwo":                    "p (one);p (two);",
		"# One":                             "h1 (One);",
		"###### Six ##":                     "h6 (Six ##);",
		"####### Seven":                     "p (####### Seven);",
		"#hashtag":                          "p (#hashtag);",
		"# ":                                "p (# );",
		"words\n## Two\nmore":               "p (words);h2 (Two);p (more);",
		"---":                               "hr;",
		"* * *":                             "hr;",
		"Title\n=====":                      "p (Title↵=====);",
		"--":                                "p (--);",
		"> a\n>b\n\nc":                      "quote(p (a↵b););p (c);",
		"> > deep":                          "quote(quote(p (deep);););",
		">>>>>> deeper":                     "quote(quote(quote(quote(p (>> deeper);););););",
		"```go\nx := 1\n\n# y\n```\nend":    `code[go] "x := 1\n\n# y";p (end);`,
		"~~~~ a b\n~~~\n~~~~":               `code[a b] "~~~";`,
		"```\nnever ended\n":                `code[] "never ended\n";`,
		"```\n``` not the end\n```":         "code[] \"``` not the end\";",
		"```a`b":                            "p (```a`b);",
		"    x\n\n      y\n\nz":             `code[] "x\n\n  y";p (z);`,
		"\tx":                               `code[] "x";`,
		"words\n    more":                   "p (words↵    more);",
		"<b>bold</b>\n<!-- no -->":          "p (<b>bold</b>↵<!-- no -->);",
		"[a]: http://x.test 'title'":        "p ([a]: )(<http://x.test|http://x.test>)( 'title');",
		"a | b\n--|--\n1 | 22\n\nend":       `code[] "a | b\n--|---\n1 | 22";p (end);`,
		"| a | b |\n|--|:-:|\n| long one |": `code[] "| a        | b |\n|----------|:-:|\n| long one |";`,
		"a | b":                             "p (a | b);",
	} {
		check(t, src, want)
	}
}

func TestListsAreParsed(t *testing.T) {
	for src, want := range map[string]string{
		"- a\n- b":                  "list({p (a);}{p (b);});",
		"* a\n+ b":                  "list({p (a);}{p (b);});",
		"1. a\n2) b":                "list(1.{p (a);}2){p (b);});",
		"- a\n\n- b":                "list({p (a);}{p (b);});",
		"- a\n  more\n\n  new":      "list({p (a↵more);p (new);});",
		"- a\n  - b\n    - c\n- d":  "list({p (a);list({p (b);list({p (c);});});}{p (d);});",
		"1. a\n   - b\n2. c":        "list(1.{p (a);list({p (b);});}2.{p (c);});",
		"- a\n\t- b":                "list({p (a);list({p (b);});});",
		"  - a\n  - b":              "list({p (a);}{p (b);});",
		"- a\n\nb":                  "list({p (a);});p (b);",
		"- a\nb":                    "list({p (a);});p (b);",
		"- ```\n  x\n  ```\n- b":    `list({code[] "x";}{p (b);});`,
		"-\n- ":                     "p (-↵- );",
		"-a\n1.b\n1234567890. c":    "p (-a↵1.b↵1234567890. c);",
		"It was in\n2019. Or so":    "p (It was in↵2019. Or so);",
		"Steps:\n1. a\n2. b":        "p (Steps:);list(1.{p (a);}2.{p (b);});",
		"- [x] done\n- [ ] not yet": "list({p ([x] done);}{p ([ ] not yet);});",
		"- - - - - a":               "list({list({list({list({p (- a);});});});});",
		"**Bold** first":            "p (S:Bold)( first);",
	} {
		check(t, src, want)
	}
}

func TestInlineMarksAreParsed(t *testing.T) {
	for src, want := range map[string]string{
		"a **b** c":               "(a )(S:b)( c)",
		"a *b* c":                 "(a )(E:b)( c)",
		"***b***":                 "(SE:b)",
		"**a *b***":               "(S:a )(SE:b)",
		"*a **b***":               "(E:a )(SE:b)",
		"**a *b* c**":             "(S:a )(SE:b)(S: c)",
		"(**a**).":                "(()(S:a)().)",
		"**a\nb**":                "(S:a↵b)",
		"这是**重点**内容":              "(这是)(S:重点)(内容)",
		"**중요**는":                 "(S:중요)(는)",
		"`code`":                  "(C:code)",
		"``a ` b``":               "(C:a ` b)",
		"`a` and `b":              "(C:a)( and `b)",
		"````x````":               "(````x````)",
		"**`x`**":                 "(SC:x)",
		"`**x**`":                 "(C:**x**)",
		`\*a\* \\ C:\temp \_`:     `(*a* \\ C:\temp \_)`,
		"snake_case and __init__": "(snake_case and __init__)",
		"*.go and *.md":           "(*.go and *.md)",
		"*.go,*.md":               "(*.go,*.md)",
		"2*3*4, a * b * c":        "(2*3*4, a * b * c)",
		"ls /tmp/* /var/*":        "(ls /tmp/* /var/*)",
		"f(*args, **kwargs)":      "(f(*args, **kwargs))",
		"SELECT *, count(*) x":    "(SELECT *, count(*) x)",
		"/* no mark */":           "(/* no mark */)",
		"*p = *q":                 "(*p = *q)",
		"a ** b ** c":             "(a ** b ** c)",
		"****a****":               "(****a****)",
		"**a":                     "(**a)",
		"~~gone~~":                "(~~gone~~)",
		"&amp; &#42;":             "(&amp; &#42;)",
	} {
		check(t, src, "p "+want+";")
	}
}

// A table has its cells, with their marks. The cells have all the text: rows may have more cells than the header. A
// table in which a bar may be a part of a text is only code.
func TestTableHasCells(t *testing.T) {
	for src, want := range map[string]string{
		"|a|**b**|\n|-|-|\n|1|2|":            "(a)|(S:b) / (1)|(2)",
		"plan | price\n--- | ---\nbasic | 3": "(plan)|(price) / (basic)|(3)",
		"|a|\n|-|\n|1|2|3|":                  "(a) / (1)|(2)|(3)",
		"|a|b|\n|-|-|\n|1||":                 "(a)|(b) / (1)|",
		"|a|\n|-|\n|`x|y`|":                  "",
		"|a|\n|-|\n|x\\|y|":                  "",
	} {
		code, ok := markdown.Parse(src)[0].(markdown.Code)
		if !ok || code.Text.String() == "" {
			t.Fatalf("%q is not code", src)
		}
		var rows []string
		for _, row := range code.Table {
			var cells []string
			for _, cell := range row {
				cells = append(cells, dumpSpans(cell))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		if got := strings.Join(rows, " / "); got != want {
			t.Errorf("%q has the cells %q, want %q", src, got, want)
		}
	}
}
