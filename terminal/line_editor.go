package terminal

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// A lineEditor collects single keys into lines, and echoes them. The terminal could do that, but would
// deliver nothing before Enter. Askback must know earlier that a person is typing, to postpone the deadline.
// The keys are the usual keys of a terminal: Backspace, Ctrl+U, Ctrl+W and Ctrl+D. Keys that send a signal
// still work.
type lineEditor struct {
	mu      sync.Mutex
	pasted  string // earlier lines that arrived together with this line, each with a lineBreak
	line    []key
	partial []byte // the first bytes of an incomplete character
	escape  escapeState
	typed   func() // called whenever text is typed; may be nil
}

// An escapeState is a position in the escape sequence that arrows, Home and similar keys send.
type escapeState uint8

const (
	noEscape  escapeState = iota
	afterEsc              // after Esc
	insideCSI             // after Esc [
	afterSS3              // after Esc O: one more byte
)

// lineBreak represents a line break in lines that arrived together. A terminal in cbreak mode never sends it.
const lineBreak = "\r"

// notTextKey represents an arrow or a similar key in a line. It is not drawn. A line is rejected if it has
// such a key after text, or has no text, because the person wanted to move the cursor.
const notTextKey = "\x1b"

// A key is a typed character and its width on the screen.
type key struct {
	text  string
	cells int
}

const (
	backspace  = 0x08
	endOfInput = 0x04 // Ctrl+D
	killLine   = 0x15 // Ctrl+U
	killWord   = 0x17 // Ctrl+W
	del        = 0x7f
	escape     = 0x1b
)

// read reads one line, with its end, from a terminal in cbreak mode. Several lines that arrive together are
// one line, with a lineBreak between them. A person presses Enter once, and then reads. The function goesOn
// reports whether more keys follow immediately.
func (e *lineEditor) read(file *os.File, goesOn func() bool) (string, error) {
	one := make([]byte, 1)
	for {
		if _, err := file.Read(one); err != nil {
			return "", err
		}
		line, echo, err := e.press(one[0])
		if drawErr := draw(file, echo); drawErr != nil {
			return "", drawErr
		}
		if line != "" && goesOn() {
			e.keep(line)
			continue
		}
		if line != "" || err != nil {
			return line, err
		}
	}
}

// draw writes echo unless echo is empty. In the background, even an empty write can fail.
func draw(file *os.File, echo string) error {
	if echo == "" {
		return nil
	}
	_, err := file.WriteString(echo)
	return err
}

// press handles one byte. It returns the line if the line is complete, the text to draw, and [io.EOF] for
// Ctrl+D on an empty line.
func (e *lineEditor) press(b byte) (line, echo string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inEscape(b) {
		return "", "", nil
	}
	switch b {
	case '\n', '\r':
		line, e.pasted, e.line, e.partial = e.pasted+e.text()+string(e.partial)+"\n", "", nil, nil
		return line, "\n", nil
	case backspace, del:
		return "", e.erase(1), nil
	case killLine:
		return "", e.erase(len(e.line)), nil
	case killWord:
		return "", e.erase(e.lastWord()), nil
	case endOfInput:
		if len(e.pasted)+len(e.line)+len(e.partial) == 0 {
			return "", "", io.EOF
		}
		return "", "", nil
	}
	if e.typed != nil {
		e.typed()
	}
	return "", e.add(b), nil
}

// keep makes a complete line the first part of the next line.
func (e *lineEditor) keep(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pasted = strings.TrimSuffix(line, "\n") + lineBreak
}

// inEscape reports whether a byte belongs to an escape sequence. Each sequence adds one
// [notTextKey] to the line.
func (e *lineEditor) inEscape(b byte) bool {
	before := e.escape
	e.escape = noEscape
	switch {
	case b == escape:
		e.escape, e.partial = afterEsc, nil
		e.line = append(e.line, key{text: notTextKey})
		return true
	case before == afterEsc && b == '[':
		e.escape = insideCSI
	case before == afterEsc && b == 'O':
		e.escape = afterSS3
	case before == insideCSI && b >= ' ' && b < '@': // parameters
		e.escape = insideCSI
	case before == insideCSI && b >= '@' && b <= '~', before == afterSS3 && b >= ' ' && b <= '~':
	default:
		return false
	}
	return true
}

// add adds a byte of a character. It returns the text to draw when the character is complete.
func (e *lineEditor) add(b byte) (echo string) {
	e.partial = append(e.partial, b)
	if !utf8.FullRune(e.partial) {
		return ""
	}
	r, _ := utf8.DecodeRune(e.partial)
	echo, cells := string(r), safetext.Cells(r)
	switch {
	case r == '\t':
		echo, cells = "    ", 4
	case r < ' ':
		echo, cells = "^"+string(r+'@'), 2
	case r >= 0x80 && r < 0xa0:
		echo, cells = "?", 1
	}
	e.line = append(e.line, key{string(e.partial), cells})
	e.partial = nil
	return echo
}

// text returns the line. It omits arrows and similar keys before all text, because they had no effect.
func (e *lineEditor) text() string {
	var b strings.Builder
	for _, typed := range e.line {
		b.WriteString(typed.text)
	}
	if text := strings.TrimLeft(b.String(), notTextKey); text != "" {
		return text
	}
	return b.String()
}

// erase removes the last n keys and returns the text to draw. A combining mark is removed together with its
// letter.
func (e *lineEditor) erase(n int) (echo string) {
	e.partial = nil
	for ; n > 0 && len(e.line) > 0; n-- {
		last := e.line[len(e.line)-1]
		e.line = e.line[:len(e.line)-1]
		echo += strings.Repeat("\b \b", last.cells)
		if last.cells == 0 {
			n++
		}
	}
	return echo
}

// lastWord returns the number of keys in the last word and the spaces after it.
func (e *lineEditor) lastWord() int {
	n := len(e.line)
	for n > 0 && e.line[n-1].text == " " {
		n--
	}
	for n > 0 && e.line[n-1].text != " " {
		n--
	}
	return len(e.line) - n
}

// clear discards the line.
func (e *lineEditor) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pasted, e.line, e.partial, e.escape = "", nil, nil, noEscape
}

// onTyping sets the function that is called whenever text is typed.
func (e *lineEditor) onTyping(typed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.typed = typed
}
