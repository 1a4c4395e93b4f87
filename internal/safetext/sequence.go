package safetext

const (
	csi = '\u009b'
	st  = '\u009c'

	// maxSequence is longer than any sequence that a program means. What is longer is
	// left as text, so that nothing of size can vanish behind one mark.
	maxSequence = 48
)

// sequence returns the length of the rest of an ECMA-48 escape sequence, s being what
// follows ESC. Strings (OSC, DCS, SOS, PM, APC) are not taken whole: their content is
// left as text, so an open one swallows nothing. Their end is a sequence of its own.
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

// controlSequence returns the length of parameters, intermediates and final byte, or 0
// if they are not a sequence.
func controlSequence(s string) int {
	n := span(s, 0x30, 0x3f)
	n += span(s[n:], 0x20, 0x2f)
	if n < min(len(s), maxSequence) && s[n] >= 0x40 && s[n] <= 0x7e {
		return n + 1
	}
	return 0
}

// span counts the leading bytes between low and high, and no more than it has to.
func span(s string, low, high byte) int {
	n := 0
	for n < len(s) && n <= maxSequence && s[n] >= low && s[n] <= high {
		n++
	}
	return n
}
