package markdown_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/text/markdown"
)

// Only http, https and mailto addresses become links, without the punctuation around them. Addresses that are
// too long stay text (T6, T7).
func TestAddressesBecomeLinks(t *testing.T) {
	for src, want := range map[string]string{
		"[docs](https://example.com/a)": "(<docs|https://example.com/a>)",
		"[a](https://e.test/x_(y))!":    "(<a|https://e.test/x_(y)>)(!)",
		"see https://e.test/a, and (http://f.test).": "(see )(<https://e.test/a|https://e.test/a>)(, and " +
			"()(<http://f.test|http://f.test>)().)",
		"<https://e.test>": "(<)(<https://e.test|https://e.test>)(>)",
		"https://e.test/x_(y) (https://e.test/x)": "(<https://e.test/x_(y)|https://e.test/x_(y)>)( " +
			"()(<https://e.test/x|https://e.test/x>)())",
		"**https://e.test**":                               "(S:<https://e.test|https://e.test>)",
		"**[a](http://e.test)**":                           "(S:<a|http://e.test>)",
		"[`go test`](http://e.test)":                       "(C:<go test|http://e.test>)",
		"[me](mailto:me@e.test?subject=a)":                 "(<me|mailto:me@e.test?subject=a>)",
		"![seen](http://e.test/pixel.png)":                 "(!)(<seen|http://e.test/pixel.png>)",
		"[](http://e.test)":                                "(<|http://e.test>)",
		"[x](javascript:alert(1))":                         "([x](javascript:alert(1)))",
		"[x](JaVaScRiPt:alert(1)) [y](data:text/html,z)":   "([x](JaVaScRiPt:alert(1)) [y](data:text/html,z))",
		"[x](vbscript:a) [y](file:///etc/passwd) [z](/in)": "([x](vbscript:a) [y](file:///etc/passwd) [z](/in))",
		"[x](https:evil.test) [y](https:///evil.test)":     "([x](https:evil.test) [y](https:///evil.test))",
		"[x](//evil.test) [y](ftp://e.test) [z](#a)":       "([x](//evil.test) [y](ftp://e.test) [z](#a))",
		`[x](https://e.test\@evil.test)`:                   `([x]()(<https://e.test|https://e.test>)(\@evil.test))`,
		"[x](mailto:) [y](mailto:someone)":                 "([x](mailto:) [y](mailto:someone))",
		`[x](http://e.test "a title")`:                     `([x]()(<http://e.test|http://e.test>)( "a title"))`,
		"[x](http://e.test/\u202egnp.exe)":                 "([x]()(<http://e.test/|http://e.test/>)(⟨U+202E⟩gnp.exe))",
		"[x] (http://e.test)":                              "([x] ()(<http://e.test|http://e.test>)())",
		"xhttp://e.test":                                   "(xhttp://e.test)",
		"http:// and https://":                             "(http:// and https://)",
		"[x](http://e.test:port)":                          "([x](http://e.test:port))",
		"看https://e.test/页。好":                              "(看)(<https://e.test/页|https://e.test/页>)(。好)",
		`\[x](http://e.test)`:                              "([x]()(<http://e.test|http://e.test>)())",
		"[a [b](http://e.test)":                            "([a )(<b|http://e.test>)",
		"HTTPS://E.TEST/A":                                 "(<HTTPS://E.TEST/A|HTTPS://E.TEST/A>)",
	} {
		check(t, src, "p "+want+";")
	}
	long := "http://e.test/" + strings.Repeat("a", 2000)
	check(t, long, "p ("+long+");")
}

// In the warning, a letter that imitates another is replaced by its code point. Otherwise it would deceive
// there, too (T9).
func TestSuspiciousHostShowsCodePoints(t *testing.T) {
	const russian = "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444"
	for address, want := range map[string]string{
		"https://ex\u0430mple.com/plan": "ex⟨U+0430⟩mple.com", "https://example.com/plan": "example.com",
		"https://" + russian + "/": russian,
	} {
		var got string
		for _, b := range markdown.Parse(address) {
			if p, ok := b.(markdown.Paragraph); ok {
				for _, s := range p.Spans {
					if s.Link != nil {
						got = s.Link.Host.String()
					}
				}
			}
		}
		if got != want {
			t.Errorf("%s: got host %q, want %q", address, got, want)
		}
	}
}

func TestSuspiciousLinksAreReportedWithAReason(t *testing.T) {
	for src, want := range map[string]string{
		"https://github.com/askback":                     "",
		"[the docs](https://docs.example.com)":           "",
		"[README.md](https://github.com/a/README.md)":    "",
		"[main.go](https://github.com/a/main.go)":        "",
		"[github.com](https://www.github.com/a)":         "",
		"[https://github.com/a](https://github.com/a/b)": "",
		"[see github.com.](https://github.com/a)":        "",
		"https://müller.de":                              "",
		"https://日本語テスト.jp":                              "",
		"https://한국abc.kr":                               "",
		"https://президент.рф":                           "",
		"https://яндекс.com":                             "",
		"https://việtnam.vn":                             "",
		"http://127.0.0.1:7575/x":                        "",
		"http://[::1]/x":                                 "",
		"[write](mailto:ana@example.com)":                "",
		"[ana@example.com](mailto:ana@example.com)":      "",
		"https://good.com@evil.com":                      "before an @",
		"https://good.com:80@evil.com/":                  "before an @",
		"https://xn--pple-43d.com":                       "xn--",
		"https://www.XN--pple-43d.com":                   "xn--",
		"https://\u0430pple.com":                         "mixes letters",
		"https://g\u03bf\u03bfgle.com":                   "mixes letters",
		"https://\u0430\u0440\u0440\u04cf\u0435.com":     "look Latin",
		"https://goo\u0261le.com":                        "look Latin",
		"https://p\u0131n.com":                           "look Latin",
		"https://\uff47oogle.com":                        "look Latin",
		"[x](https://good.com。evil.com)":                 "only look like",
		"[x](https://good.com∕evil.com)":                 "only look like",
		"http://2130706433/":                             "a number",
		"http://0x7f.0.0.1/":                             "a number",
		"http://010.0.0.1/":                              "a number",
		"http://127.1/":                                  "a number",
		"[github.com](https://evil.test)":                "another host",
		"[https://github.com/a](https://evil.test/a)":    "another host",
		"[www.bank.example](https://evil.test)":          "another host",
		"[docs.rs.example](https://evil.test)":           "another host",
		"[log in at bank.co.uk now](https://evil.test)":  "another host",
		"[ana@bank.com](mailto:eve@evil.test)":           "another host",
		"[github.com/a](https://github.com.evil.test)":   "another host",
		"[https://good.com](https://evil.test/good.com)": "another host",
		"[\u0430pple.com](https://apple.com)":            "another host",
		"[x](https://%D0%B0pple.com)":                    "mixes letters",
	} {
		link := linkIn(t, src)
		if got := link.Suspicious; (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
	if got, want := linkIn(t, "https://good.com:80@evil.com/x").Host.String(), "evil.com"; got != want {
		t.Errorf("it leads to %q, want %q", got, want)
	}
}

// linkIn returns the only link in src.
func linkIn(t *testing.T, src string) markdown.Link {
	t.Helper()
	var found []markdown.Link
	for _, b := range markdown.Parse(src) {
		for _, s := range b.(markdown.Paragraph).Spans {
			if s.Link != nil {
				found = append(found, *s.Link)
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d links", src, len(found))
	}
	return found[0]
}

func TestLookalikesHaveTheSameSkeleton(t *testing.T) {
	for _, s := range []string{"path", "раth", "pαth", "pаtһ"} {
		if got := markdown.Skeleton(s); got != "path" {
			t.Errorf("%q has the skeleton %q", s, got)
		}
	}
	if got := markdown.Skeleton("Straße 日本"); got != "Straße 日本" {
		t.Errorf("got %q", got)
	}
}
