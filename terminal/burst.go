package terminal

import (
	"bytes"
	"unicode/utf8"
)

// A burst turns keys that arrive together into pasted text. A person types single keys. Several characters
// that arrive together were pasted into a terminal that does not mark pastes, or were sent by a program.
// Pasted text decides nothing, even if the text has line breaks.
type burst struct {
	inPaste bool   // whether a paste that the terminal marks has begun
	rest    []byte // bytes of a character or a mark that has not arrived completely
	goesOn  bool   // whether the next bytes belong to the burst
}

// Marks around pasted text.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// maxBurst is the number of bytes that are converted together. The result is at most eight times as long.
const maxBurst = 500

// convert returns the bytes with marks around text that is not a single key. It keeps an incomplete character
// or mark for the next call.
func (b *burst) convert(in []byte) (out []byte) {
	in = append(b.rest, in...)
	b.rest = nil
	single := !b.goesOn && !b.inPaste && isSingleKey(in)
	for len(in) > 0 {
		if b.inPaste {
			text, after, ended := bytes.Cut(in, []byte(pasteEnds))
			if !ended {
				text, b.rest = splitMark(in)
				return append(out, text...)
			}
			out, in, b.inPaste = append(append(out, text...), pasteEnds...), after, false
			continue
		}
		keys, _, begins := bytes.Cut(in, []byte(pasteBegins))
		out = b.appendKeys(out, keys, single)
		in = in[len(keys):]
		if begins {
			out, in, b.inPaste = append(out, pasteBegins...), in[len(pasteBegins):], true
		}
	}
	return out
}

// appendKeys appends keys. Text is marked as a paste unless it is a single key.
func (b *burst) appendKeys(out, keys []byte, single bool) []byte {
	inText := false
	mark := func(isText bool) {
		if inText == isText {
			return
		}
		if inText = isText; isText {
			out = append(out, pasteBegins...)
		} else {
			out = append(out, pasteEnds...)
		}
	}
	for len(keys) > 0 {
		n, isText := nextKey(keys)
		if isText && !utf8.FullRune(keys) {
			b.rest = bytes.Clone(keys)
			break
		}
		mark(isText && !single)
		out, keys = append(out, keys[:n]...), keys[n:]
	}
	mark(false)
	return out
}

// isSingleKey reports whether the bytes are one key.
func isSingleKey(in []byte) bool {
	if len(in) == 0 || bytes.HasPrefix(in, []byte(pasteBegins)) {
		return false
	}
	n, _ := nextKey(in)
	return n == len(in)
}

// nextKey returns the length of the first key, and reports whether the key types text. Escape sequences and
// control characters other than line breaks and tabs are not text.
func nextKey(in []byte) (n int, isText bool) {
	switch {
	case in[0] == escape:
		return escapeLength(in), false
	case in[0] == '\n' || in[0] == '\r' || in[0] == '\t':
		return 1, true
	case in[0] < ' ' || in[0] == del:
		return 1, false
	}
	_, n = utf8.DecodeRune(in)
	return n, true
}

// escapeLength returns the length of the escape sequence at the beginning of in.
func escapeLength(in []byte) int {
	switch {
	case len(in) < 2:
		return len(in)
	case in[1] == '[':
		for i := 2; i < len(in); i++ {
			if in[i] >= '@' && in[i] <= '~' {
				return i + 1
			}
		}
		return len(in)
	case in[1] == 'O':
		return min(3, len(in))
	}
	_, n := utf8.DecodeRune(in[1:])
	return 1 + n
}

// splitMark separates the beginning of the mark that ends a paste from the text before it.
func splitMark(in []byte) (text, rest []byte) {
	for n := min(len(pasteEnds)-1, len(in)); n > 0; n-- {
		if bytes.HasSuffix(in, []byte(pasteEnds[:n])) {
			return in[:len(in)-n], bytes.Clone(in[len(in)-n:])
		}
	}
	return in, nil
}
