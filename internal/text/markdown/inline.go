package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// A piece is text in one style, or a sequence of stars. It is not yet known which stars are
// marks.
type piece struct {
	text string
	code bool
	link *Link
	star star
}

// A star is a sequence of one to three stars: emphasis, strong or both.
type star struct {
	n          int // 0 if the piece is not a star
	flank      flank
	strong, em int // change of the depth of strong and emphasis at the star; 0 if the star is text
}

// A flank records whether a star can open or close emphasis.
type flank struct{ opens, closes bool }

// spans parses the marks inside a block.
func (p *parser) spans(s string) []Span {
	l := inline{parser: p, src: s}
	for l.pos < len(s) {
		l.next()
	}
	l.flush(len(s))
	pair(l.pieces)
	return joinPieces(l.pieces)
}

// inline splits the text of a block into pieces, from left to right in a single pass.
type inline struct {
	*parser
	src       string
	pos       int
	start     int // start of the plain text that is not yet a piece
	pieces    []piece
	noClosing [maxTicks + 1]bool // by number of backticks: whether the rest of the text has no closing backticks
}

// maxTicks is the maximum number of backticks that begin code. More backticks are text.
const maxTicks = 3

func (l *inline) next() {
	rest := l.src[l.pos:]
	l.work++
	switch rest[0] {
	case '\\':
		l.escape(rest)
	case '`':
		l.code(run(rest, '`'))
	case '*':
		l.star(run(rest, '*'))
	case '[':
		l.link(rest)
	case 'h', 'H':
		l.address(rest)
	default:
		l.pos++
	}
}

// flush adds the plain text up to a position as a piece.
func (l *inline) flush(end int) {
	if end > l.start {
		l.pieces = append(l.pieces, piece{text: l.src[l.start:end]})
	}
	l.start = end
}

// put adds the plain text before the current position, and then p. It continues at end.
func (l *inline) put(p piece, end int) {
	l.flush(l.pos)
	l.pieces = append(l.pieces, p)
	l.pos, l.start = end, end
}

// escape removes the backslash before a mark. Other backslashes stay, as in C:\temp.
func (l *inline) escape(rest string) {
	if len(rest) < 2 || strings.IndexByte("`*[]", rest[1]) < 0 {
		l.pos++
		return
	}
	l.flush(l.pos)
	l.start = l.pos + 1
	l.pos += 2
}

// code reads code up to the same number of backticks. If there are no closing backticks, or more than
// maxTicks, the backticks are text. noClosing records missing closing backticks, so that the rest is searched
// only once.
func (l *inline) code(ticks int) {
	begin := l.pos + ticks
	if ticks > maxTicks || l.noClosing[ticks] {
		l.pos = begin
		return
	}
	for at := begin; at < len(l.src); {
		l.work++
		n := run(l.src[at:], '`')
		switch {
		case n == ticks:
			l.put(piece{text: l.src[begin:at], code: true}, at+n)
			return
		case n > 0:
			at += n
		default:
			at++
		}
	}
	l.noClosing[ticks] = true
	l.pos = begin
}

func (l *inline) star(n int) {
	end := l.pos + n
	if n > 3 {
		l.pos = end
		return
	}
	before, _ := utf8.DecodeLastRuneInString(l.src[:l.pos])
	after, _ := utf8.DecodeRuneInString(l.src[end:])
	may := flankOf(before, after, l.pos == 0, end == len(l.src))
	l.put(piece{text: l.src[l.pos:end], star: star{n: n, flank: may}}, end)
}

// flankOf returns the flank of a star between two characters: whether it can open or close emphasis. It is
// stricter than CommonMark: in "*.go", "a*b*c", "/tmp/*" and "**kwargs" a star is text.
func flankOf(before, after rune, first, last bool) (f flank) {
	if !last && !unicode.IsSpace(after) && !strings.ContainsRune("!%&)*+,-./:;=>?@\\]^_{|}~", after) {
		f.opens = first || !isWordLike(before)
	}
	if !first && !unicode.IsSpace(before) && !strings.ContainsRune("([{<,", before) {
		f.closes = last || !isWordLike(after)
	}
	return f
}

// isWordLike reports whether a star next to r is part of a word, a path or a formula.
// Scripts without spaces between words can have marks inside a word.
func isWordLike(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`/\_$%&@^|~+=#<`, r)
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// pair matches opening and closing stars. A new opening star replaces an open star of the same length. So at
// most three stars are open, and each search is short.
func pair(pieces []piece) {
	var open []int
	for i := range pieces {
		s := &pieces[i].star
		if s.n == 0 || s.flank.closes && closeStar(pieces, &open, i) || !s.flank.opens {
			continue
		}
		open = slices.DeleteFunc(open, func(o int) bool { return pieces[o].star.n == s.n })
		open = append(open, i)
	}
}

// closeStar closes the open star that the star at i matches, or the last two open stars if their lengths add
// up to three. It reports whether there was a match. Stars that were opened in between become text.
func closeStar(pieces []piece, open *[]int, i int) bool {
	o, n := *open, pieces[i].star.n
	for k := len(o) - 1; k >= 0; k-- {
		switch first := pieces[o[k]].star.n; {
		case first == n:
			mark(pieces, o[k], i)
			*open = o[:k]
			return true
		case n == 3 && k > 0 && k == len(o)-1 && first+pieces[o[k-1]].star.n == 3:
			mark(pieces, o[k], i)
			mark(pieces, o[k-1], i)
			*open = o[:k-1]
			return true
		}
	}
	return false
}

// mark makes the stars at from and to the beginning and the end of emphasis. The length of the first star
// determines whether the text is emphasized, strong or both.
func mark(pieces []piece, from, to int) {
	a, b := &pieces[from].star, &pieces[to].star
	a.em, a.strong = a.n&1, a.n>>1
	b.em, b.strong = b.em-a.em, b.strong-a.strong
}

// joinPieces converts pieces to spans. It joins neighbours in the same style, because the neighbours of a
// character decide whether the character is safe.
func joinPieces(pieces []piece) []Span {
	var out []Span
	var text strings.Builder
	var look Span
	em, strong := 0, 0
	flush := func() {
		if text.Len() > 0 || look.Link != nil {
			look.Text = safe(text.String(), look.Code)
			out = append(out, look)
		}
		text.Reset()
	}
	for _, p := range pieces {
		em, strong = em+p.star.em, strong+p.star.strong
		if p.star.em != 0 || p.star.strong != 0 {
			continue
		}
		next := Span{Strong: strong > 0, Emphasis: em > 0, Code: p.code, Link: p.link}
		look.Text = safetext.Text{}
		if next != look || next.Link != nil {
			flush()
			look = next
		}
		text.WriteString(p.text)
	}
	flush()
	return out
}

func safe(s string, code bool) safetext.Text {
	if code {
		return safetext.Code(s)
	}
	return safetext.Block(s)
}
