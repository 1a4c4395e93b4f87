package safetext

// IsRightToLeft reports whether r is in a block that Unicode reserves for right-to-left scripts (UAX #9,
// table 4).
func IsRightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8FF, r >= 0xFB1D && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFF:
		return true
	}
	return r >= 0x10800 && r <= 0x10FFF || r >= 0x1E800 && r <= 0x1EFFF
}
