package safetext

import "unicode"

const (
	zwnj               = '\u200c'
	zwj                = '\u200d'
	mongolianSeparator = '\u180e'
	brailleBlank       = '\u2800'
	blackFlag          = '\U0001F3F4'
	tagSpace           = '\U000E0020'
	tagFirst           = '\U000E0067' // tag g, the first of "gb"
	tagEnd             = '\U000E007F'
)

func isControl(r rune) bool  { return r < ' ' || r >= 0x7f && r <= 0x9f }
func isJoiner(r rune) bool   { return r == zwnj || r == zwj || r == mongolianSeparator }
func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isSelector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || isMongolianSelector(r)
}

func isMongolianSelector(r rune) bool { return r >= 0x180B && r <= 0x180F && r != mongolianSeparator }

// isVisibleFormat reports whether r is a format character that is visible, such as the
// number signs and abbreviation marks of Arabic, Syriac and Kaithi
// (Prepended_Concatenation_Mark).
func isVisibleFormat(r rune) bool {
	switch {
	case r >= 0x600 && r <= 0x605, r == 0x6DD, r == 0x70F, r == 0x890, r == 0x891, r == 0x8E2, r == 0x110BD,
		r == 0x110CD:
		return true
	}
	return false
}

// isInvisible reports whether r may hide or deceive. Such characters are format characters such as
// bidirectional controls, Default_Ignorable_Code_Point, line and paragraph separators, private-use characters
// and noncharacters.
func isInvisible(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0x34F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2028, r == 0x2029, r == 0x2065,
		r == 0x3164, r == 0xFFA0, r == 0x1D159:
		return true
	case r >= 0xFFF0 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	case r >= 0xFDD0 && r <= 0xFDEF, r&0xFFFE == 0xFFFE: // noncharacters
		return true
	case isJoiner(r), isSelector(r):
		return true
	}
	return !isVisibleFormat(r) && unicode.In(r, unicode.Cf, unicode.Co)
}

// needsJoiners reports whether joiners change the reading of a word in the script of r. This is the case in
// cursive scripts and in scripts with conjuncts.
func needsJoiners(r rune) bool {
	return r >= 0x600 && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Manichaean, unicode.Psalter_Pahlavi, unicode.Hanifi_Rohingya, unicode.Sogdian, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
		unicode.Khmer, unicode.Limbu, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Grantha,
		unicode.Chakma, unicode.Kaithi, unicode.Brahmi, unicode.Saurashtra, unicode.Newa, unicode.Tirhuta,
		unicode.Siddham, unicode.Modi, unicode.Sharada, unicode.Meetei_Mayek, unicode.Syloti_Nagri)
}
