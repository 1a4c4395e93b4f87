package safetext_test

import (
	"testing"
	"unicode"

	"github.com/askback/askback/internal/text/safetext"
)

// For a letter that belongs to a script, IsRightToLeft reports whether the script is right-to-left.
func TestIsRightToLeftAgreesWithUnicode(t *testing.T) {
	leftward := []*unicode.RangeTable{
		unicode.Adlam, unicode.Arabic, unicode.Avestan, unicode.Chorasmian, unicode.Cypriot, unicode.Elymaic,
		unicode.Hanifi_Rohingya, unicode.Hatran, unicode.Hebrew, unicode.Imperial_Aramaic,
		unicode.Inscriptional_Pahlavi, unicode.Inscriptional_Parthian, unicode.Kharoshthi, unicode.Lydian,
		unicode.Mandaic, unicode.Manichaean, unicode.Mende_Kikakui, unicode.Meroitic_Cursive,
		unicode.Meroitic_Hieroglyphs, unicode.Nabataean, unicode.Nko, unicode.Old_Hungarian, unicode.Old_North_Arabian,
		unicode.Old_Sogdian, unicode.Old_South_Arabian, unicode.Old_Turkic, unicode.Old_Uyghur, unicode.Palmyrene,
		unicode.Phoenician, unicode.Psalter_Pahlavi, unicode.Samaritan, unicode.Sogdian, unicode.Syriac,
		unicode.Thaana, unicode.Yezidi,
	}
	for r := range unicode.MaxRune + 1 {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Common, r) &&
			safetext.IsRightToLeft(r) != unicode.In(r, leftward...) {
			t.Errorf("%U: got %v", r, safetext.IsRightToLeft(r))
		}
	}
}
