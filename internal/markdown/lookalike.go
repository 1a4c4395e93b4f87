package markdown

import "strings"

// lookalikes replaces letters that most typefaces draw like a Latin letter. It has the part
// of the table of UTS 39 for the scripts that are used for such deception.
var lookalikes = strings.NewReplacer(pairs(
	"aаα", "bЬ", "cсϲց", "dԁ", "eе", "gց", "hһհ", "iіι", "jјյ", "kкκ", "lӏ", "nпո", "oоοօ", "pрρ", "qԛզ", "rг", "sѕ",
	"tтτ", "uцυս", "vѵν", "wԝω", "xхχ", "yуγ",
	"AАΑ", "BВΒ", "CС", "EЕΕ", "HНΗ", "IІΙӀ", "JЈ", "KКΚ", "MМΜ", "NΝ", "OОΟՕ", "PРΡ", "SЅՏ", "TТΤ", "UՍ", "XХΧ", "YУΥ", "ZΖ",
)...)

func pairs(rows ...string) []string {
	var out []string
	for _, row := range rows {
		for _, r := range row[1:] {
			out = append(out, string(r), row[:1])
		}
	}
	return out
}

// Skeleton returns s with letters that look Latin replaced by Latin letters. Two names
// with the same skeleton look alike.
func Skeleton(s string) string { return lookalikes.Replace(s) }
