package safetext_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/text/safetext"
)

// Text in languages and emoji that need joiners, marks or selectors is unchanged (T9).
func TestOrdinaryTextIsUnchanged(t *testing.T) {
	for name, s := range map[string]string{
		"ASCII":            "Which database should we use? ~ \"quoted\" \\n",
		"Persian":          "می\u200cخواهم کتاب\u200cها را بخوانم؛ ۲۰\u200cتومان",
		"Persian suffix":   "فایل PDF\u200cها",
		"Persian date":     "۱۴۰۰ ه\u200d.ق",
		"Arabic, vowelled": "بِسْمِ ٱللَّٰهِ ٱلرَّحْمَٰنِ",
		"Arabic sign":      "\u0600١٢٣ \u06dd١",
		"Hebrew":           "בְּרֵאשִׁית בָּרָא אֱלֹהִים",
		"Hindi":            "क्\u200dष और क्\u200cष, हिन्दी में पूछें",
		"Bengali":          "র\u200d্যাব, ব্যবহার",
		"Malayalam":        "അവന്\u200d വന്നു",
		"Sinhala":          "ශ්\u200dරී ලංකාව",
		"Khmer":            "តើ\u200cអ្នក",
		"Mongolian":        "ᠬᠠᠨ\u180eᠠ ᠠ\u180bᠠ",
		"Thai":             "คุณต้องการใช้ฐานข้อมูลใด น้ำ",
		"Tibetan":          "བསྒྲུབས་ཨོཾ་མ་ཎི་པདྨེ་ཧཱུྃ",
		"Vietnamese":       "Bạn muốn dùng cơ sở dữ liệu nào?",
		"decomposed":       "e\u0301 o\u0302\u0323 a\u0308\u0304",
		"Korean":           "데이터베이스 \u1112\u1161\u11ab",
		"Japanese":         "葛\U000E0100飾区と辻\uFE00、どちら？",
		"family":           "👩\u200d👩\u200d👧\u200d👦 👨🏽\u200d💻 🧑🏻\u200d🤝\u200d🧑🏿",
		"selectors":        "❤\uFE0F ☠\uFE0E ℹ\uFE0F 1\uFE0F\u20E3 #\uFE0F\u20E3",
		"long emoji": "👁\uFE0F\u200d🗨\uFE0F 🏳\uFE0F\u200d🌈 🏴\u200d☠\uFE0F ❤\uFE0F\u200d🔥 " +
			"🏃🏽\u200d♀\uFE0F\u200d➡\uFE0F",
		"flags": "🇩🇪🇮🇷 🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F " +
			"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
		"new characters": "\U0001FAE9 \U0001FADF",
		"spaces":         "1\u00a0000\u202f€ 全角\u3000空白",
		"math, braille":  "∀x∈ℝ: ∩\uFE00 ⠀⠁⡇ ␛ ⟨U+202E⟩ \ufffd",
	} {
		for kind, got := range map[string]string{
			"Line": safetext.Line(s).String(), "Block": safetext.Block(s).String(),
		} {
			if got != s {
				t.Errorf("%s, %s: got %+q, want %+q", name, kind, got, s)
			}
		}
		if safetext.Hidden(s) {
			t.Errorf("%s: hidden characters reported for %+q", name, s)
		}
	}
}

// Characters that hide or deceive become marks, and Hidden reports them (T9).
func TestDeceptiveCharactersBecomeMarks(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"override", "user\u202Etxt.exe", "user⟨U+202E⟩txt.exe"},
		{"isolate", "a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"},
		{"marks of direction", "a\u200e\u200f\u061cb", "a⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩b"},
		{"zero width", "pay\u200bpal \ufeff\u2060\u2064", "pay⟨U+200B⟩pal ⟨U+FEFF⟩⟨U+2060⟩⟨U+2064⟩"},
		{"soft hyphen", "pass\u00adword", "pass⟨U+00AD⟩word"},
		{"fillers", "a\u3164\u115f\uffa0\u17b4b", "a⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩⟨U+17B4⟩b"},
		{"separators", "a\u2028b\u2029", "a⟨U+2028⟩b⟨U+2029⟩"},
		{"annotation", "\ufff9a\ufffab\ufffb", "⟨U+FFF9⟩a⟨U+FFFA⟩b⟨U+FFFB⟩"},
		{"private use", "\ue000\U000F0000\U0010FFFD", "⟨U+E000⟩⟨U+F0000⟩⟨U+10FFFD⟩"},
		{"noncharacters", "\ufdd0\uffff\U0001FFFE", "⟨U+FDD0⟩⟨U+FFFF⟩⟨U+1FFFE⟩"},
		{"joiner in Latin", "de\u200dlete a\u200cb \u200d", "de⟨U+200D⟩lete a⟨U+200C⟩b ⟨U+200D⟩"},
		{"joiners in a row", "ک\u200c\u200cک ک\u200d\u200dک", "ک⟨U+200C⟩⟨U+200C⟩ک ک⟨U+200D⟩⟨U+200D⟩ک"},
		{"joiner before a filler", "ک\u200c\u3164", "ک⟨U+200C⟩⟨U+3164⟩"},
		{"joiner after an emoji", "😀\u200da 😀\u200d\u200d😀", "😀⟨U+200D⟩a 😀⟨U+200D⟩⟨U+200D⟩😀"},
		{"tags", "hi\U000E0001\U000E0068\U000E007F", "hi⟨U+E0001⟩⟨U+E0068⟩⟨U+E007F⟩"},
		{"tags on a flag", "🏴\U000E0072\U000E006D\U000E007F", "🏴⟨U+E0072⟩⟨U+E006D⟩⟨U+E007F⟩"},
		{"open flag", "🏴\U000E0067\U000E0062", "🏴⟨U+E0067⟩⟨U+E0062⟩"},
		{"selector on a letter", "a\uFE0Fя\uFE00ب\uFE01 \uFE0F", "a⟨U+FE0F⟩я⟨U+FE00⟩ب⟨U+FE01⟩ ⟨U+FE0F⟩"},
		{"data in selectors", "😀\uFE0F\uFE01\U000E0158", "😀\uFE0F⟨U+FE01⟩⟨U+E0158⟩"},
		{"high selector on an emoji", "😀\U000E0148", "😀⟨U+E0148⟩"},
		{"stacked marks", "a" + strings.Repeat("\u0301", 20) + "b", "a" + strings.Repeat("\u0301", 8) + "⟨+12 marks⟩b"},
		{
			"marks and joiners", "ک" + strings.Repeat("\u064b", 8) + "\u200d\u064b",
			"ک" + strings.Repeat("\u064b", 8) + "\u200d⟨+1 marks⟩",
		},
		{"C0 and DEL", "a\x00\a\b\v\f\x7fb", "a␀␇␈␋␌␡b"},
		{"lone carriage return", "safe\rrm -rf", "safe␍rm -rf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for kind, got := range map[string]string{
				"Line": safetext.Line(tt.in).String(), "Block": safetext.Block(tt.in).String(),
			} {
				if got != tt.want {
					t.Errorf("%s: got %+q, want %+q", kind, got, tt.want)
				}
			}
			if !safetext.Hidden(tt.in) {
				t.Error("hidden characters are not reported")
			}
		})
	}
}

// The cases have every category of ECMA-48, in the forms that terminals accept (T8). The
// content of a string, such as a title, is kept as text.
func TestEscapeSequencesBecomeOneMark(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct{ name, in, want string }{
		{"CSI", "a\x1b[31mred\x1b[0m", "a␛red␛"},
		{"CSI private", "\x1b[?1049h\x1b[>4;2m\x1b[=1c", "␛␛␛"},
		{"CSI colon", "\x1b[38:2::255:0:0mx", "␛x"},
		{"CSI intermediate", "\x1b[4 q\x1b[!p\x1b[0\"q", "␛␛␛"},
		{"CSI 8-bit", "a\u009b2Jb", "a␛b"},
		{"CSI open", "a\x1b[31", "a␛[31"},
		{"CSI broken", "a\x1b[3\u00e9m\x1b[1\x1b[2mb", "a␛[3ém␛[1␛b"},
		{"CSI endless", "\x1b[" + strings.Repeat("1;", 500) + "m", "␛[" + strings.Repeat("1;", 500) + "m"},
		{"concealed", "sudo \x1b[8mrm -rf /\x1b[28m", "sudo ␛rm -rf /␛"},
		{"OSC title, BEL", "\x1b]0;evil\ax", "␛]0;evil␇x"},
		{"OSC title, ST", "\x1b]0;evil\x1b\\x", "␛]0;evil␛x"},
		{"OSC title, 8-bit", "\u009d0;evil\u009cx", "⟨U+009D⟩0;evil␛x"},
		{"OSC hyperlink", "\x1b]8;;http://evil\x1b\\ok\x1b]8;;\x1b\\", "␛]8;;http://evil␛ok␛]8;;␛"},
		{"OSC clipboard", "\x1b]52;c;cm0=\a", "␛]52;c;cm0=␇"},
		{"OSC notification", "\x1b]777;notify;a;b\a\x1b]9;a\a", "␛]777;notify;a;b␇␛]9;a␇"},
		{"OSC open", "\x1b]0;" + long, "␛]0;" + long},
		{"DCS", "\x1bP+q544e\x1b\\", "␛P+q544e␛"},
		{"DCS open", "\x1bPq" + long, "␛Pq" + long},
		{"SOS, PM, APC", "\x1bXa\x1b\\\x1b^b\x1b\\\x1b_Gc\x1b\\", "␛Xa␛␛^b␛␛_Gc␛"},
		{"strings, 8-bit", "\u0090a\u009c\u0098b\u009c\u009ec\u009c\u009fd", "⟨U+0090⟩a␛⟨U+0098⟩b␛⟨U+009E⟩c␛⟨U+009F⟩d"},
		{"nF", "\x1b(B\x1b#8\x1b%G\x1b F", "␛␛␛␛"},
		{"nF open", "\x1b( \x1b(\u00e9", "␛( ␛(é"},
		{"Fp", "\x1b7\x1b8\x1b=\x1b>x", "␛␛␛␛x"},
		{"Fe", "\x1bD\x1bE\x1bM\x1bNx", "␛␛␛␛x"},
		{"Fs", "\x1bc\x1bn\x1b~x", "␛␛␛x"},
		{"C1", "a\u0080\u0085\u008d\u009ab", "a⟨U+0080⟩⟨U+0085⟩⟨U+008D⟩⟨U+009A⟩b"},
		{"bytes of C1", "a\x9b31mb\x85", "a\ufffd31mb\ufffd"},
		{"ESC at the end", "a\x1b", "a␛"},
		{"ESC ESC", "\x1b\x1b[31mx", "␛␛x"},
		{"ESC and a letter", "\x1bé", "␛é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for kind, got := range map[string]string{
				"Line": safetext.Line(tt.in).String(), "Block": safetext.Block(tt.in).String(),
			} {
				if got != tt.want {
					t.Errorf("%s: got %+q, want %+q", kind, got, tt.want)
				}
			}
		})
	}
}

// Only Line replaces line breaks by spaces. All functions replace tabs by spaces.
func TestOnlyLineReplacesLineBreaks(t *testing.T) {
	tests := []struct{ in, line, block, code string }{
		{"a\nb\r\nc\td", "a b c d", "a\nb\nc    d", "a\nb␍\nc    d"},
		{"\n\n", "  ", "\n\n", "\n\n"},
		{"\r\r\n", "␍ ", "␍\n", "␍␍\n"},
		{"\u0301a\n\u0301b", "◌\u0301a \u0301b", "◌\u0301a\n◌\u0301b", "⟨U+0301⟩a\n⟨U+0301⟩b"},
		{
			"a\xffb\xed\xa0\x80", "a\ufffdb\ufffd\ufffd\ufffd", "a\ufffdb\ufffd\ufffd\ufffd",
			"a\ufffdb\ufffd\ufffd\ufffd",
		},
		{"", "", "", ""},
	}
	for _, tt := range tests {
		got := [3]string{safetext.Line(tt.in).String(), safetext.Block(tt.in).String(), safetext.Code(tt.in).String()}
		if want := [3]string{tt.line, tt.block, tt.code}; got != want {
			t.Errorf("%q: got %+q, want %+q", tt.in, got, want)
		}
	}
	for _, s := range []string{"a\nb\r\nc\td", "plain", ""} {
		if safetext.Hidden(s) {
			t.Errorf("%q: hidden characters are reported", s)
		}
	}
}

// Code keeps no invisible character, even where Block does (T3, T9).
func TestCodeMarksEveryInvisibleCharacter(t *testing.T) {
	for in, want := range map[string]string{
		"rm\u00a0-rf\u3000/\u2800":         "rm⟨U+00A0⟩-rf⟨U+3000⟩/⟨U+2800⟩",
		"می\u200cخواهم":                    "می⟨U+200C⟩خواهم",
		"👩\u200d💻 ❤\uFE0F":                 "👩⟨U+200D⟩💻 ❤⟨U+FE0F⟩",
		"\u0600١":                          "⟨U+0600⟩١",
		"\x1b[31mred\x1b]0;t\a":            "␛[31mred␛]0;t␇",
		"\u009b31m\u009d":                  "⟨U+009B⟩31m⟨U+009D⟩",
		"葛\U000E0100":                      "葛⟨U+E0100⟩",
		"{\n  \"path\": \"/tmp/é\"}":       "{\n  \"path\": \"/tmp/é\"}",
		"a" + strings.Repeat("\u0301", 10): "a" + strings.Repeat("\u0301", 8) + "⟨U+0301⟩⟨U+0301⟩",
	} {
		if got := safetext.Code(in).String(); got != want {
			t.Errorf("%+q: got %+q, want %+q", in, got, want)
		}
	}
}
