package safetext

const (
	csi = '\u009b'
	st  = '\u009c'

	// maxSequence is the maximum length of an escape sequence that a mark replaces, in bytes after its
	// introducer. Programs use shorter sequences. A longer sequence is kept as text, so that a single mark
	// cannot replace much.
	maxSequence = 48
)

// sequence returns the length of the rest of an ECMA-48 escape sequence after ESC, or 0 if
// s does not begin with it. For a string (OSC, DCS, SOS, PM, APC) it returns 0. The content
// of the string is kept as text, so that a string without an end hides nothing. The end of
// the string is a separate sequence.
func sequence(s string) int {
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c == '[': // CSI
		if n := controlSequence(s[1:]); n > 0 {
			return 1 + n
		}
		return 0
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return 0
	case c >= 0x30 && c <= 0x7e: // Fp, Fe, Fs
		return 1
	}
	n := span(s, 0x20, 0x2f) // nF: intermediates and a final byte
	if n > 0 && n < min(len(s), maxSequence) && s[n] >= 0x30 && s[n] <= 0x7e {
		return n + 1
	}
	return 0
}

// controlSequence returns the length of the rest of a control sequence after CSI:
// parameters, intermediates and final byte. It returns 0 if s does not begin with them.
func controlSequence(s string) int {
	n := span(s, 0x30, 0x3f)
	n += span(s[n:], 0x20, 0x2f)
	if n < min(len(s), maxSequence) && s[n] >= 0x40 && s[n] <= 0x7e {
		return n + 1
	}
	return 0
}

// span returns the number of leading bytes of s from low to high. It stops counting above
// maxSequence.
func span(s string, low, high byte) int {
	n := 0
	for n < len(s) && n <= maxSequence && s[n] >= low && s[n] <= high {
		n++
	}
	return n
}
