package terminal

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// A keyboard makes lines of single keys, and draws them. The terminal could do that alone, but
// then nobody would hear that somebody types until Enter is pressed, and a deadline could
// pass meanwhile. The keys are those that terminals know: Backspace, Ctrl+U, Ctrl+W and
// Ctrl+D; those that send a signal do so still.
type keyboard struct {
	mu    sync.Mutex
	line  []key
	part  []byte // of a character
	odd   sequence
	heard func() // something was typed; nil: nobody listens
}

// A sequence is how far a key that is no text has come: arrows, Home and the like send
// several bytes.
type sequence uint8

const (
	noSequence sequence = iota
	begun               // after Esc
	inside              // after Esc [
	last                // after Esc O: one more byte
)

// noText stands in a line for a key that is no text. It is not drawn, and a line that has
// one behind its text, or nothing else, is no answer: the person meant to move something.
const noText = "\x1b"

// A key is what was typed and how many cells it took on the screen.
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

// read reads one line from a terminal that gives single keys, with its end.
func (k *keyboard) read(file *os.File) (string, error) {
	one := make([]byte, 1)
	for {
		n, err := file.Read(one)
		if err != nil {
			return "", err
		}
		if n == 0 {
			continue
		}
		line, echo, err := k.press(one[0])
		if wrong := draw(file, echo); wrong != nil {
			return "", wrong
		}
		if line != "" || err != nil {
			return line, err
		}
	}
}

// draw writes what there is to draw. To write nothing is an error while another writes.
func draw(file *os.File, echo string) error {
	if echo == "" {
		return nil
	}
	_, err := file.WriteString(echo)
	return err
}

// press takes one byte. It returns the line once it is finished, and what is drawn.
func (k *keyboard) press(b byte) (line, echo string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.swallows(b) {
		return "", "", nil
	}
	switch b {
	case '\n', '\r':
		line, k.line, k.part = k.text()+string(k.part)+"\n", nil, nil
		return line, "\n", nil
	case backspace, del:
		return "", k.erase(1), nil
	case killLine:
		return "", k.erase(len(k.line)), nil
	case killWord:
		return "", k.erase(k.word()), nil
	case endOfInput:
		if len(k.line)+len(k.part) == 0 {
			return "", "", io.EOF
		}
		return "", "", nil
	}
	if k.heard != nil {
		k.heard()
	}
	return "", k.add(b), nil
}

// swallows reports whether a byte belongs to a key that is no text. Such a key leaves one
// mark in the line.
func (k *keyboard) swallows(b byte) bool {
	was := k.odd
	k.odd = noSequence
	switch {
	case b == escape:
		k.odd, k.part = begun, nil
		k.line = append(k.line, key{text: noText})
		return true
	case was == begun && b == '[':
		k.odd = inside
	case was == begun && b == 'O':
		k.odd = last
	case was == inside && b >= ' ' && b < '@': // its parameters
		k.odd = inside
	case was == inside && b >= '@' && b <= '~', was == last && b >= ' ' && b <= '~':
	default:
		return false
	}
	return true
}

// add takes a byte of a character, and draws it once it is whole.
func (k *keyboard) add(b byte) (echo string) {
	k.part = append(k.part, b)
	if !utf8.FullRune(k.part) {
		return ""
	}
	r, _ := utf8.DecodeRune(k.part)
	echo, cells := string(r), safetext.Cells(r)
	switch {
	case r == '\t':
		echo, cells = "    ", 4
	case r < ' ':
		echo, cells = "^"+string(r+'@'), 2
	case r >= 0x80 && r < 0xa0:
		echo, cells = "?", 1
	}
	k.line = append(k.line, key{string(k.part), cells})
	k.part = nil
	return echo
}

// text returns the line. A key that is no text and was pressed before all others did not
// change anything, and is left out.
func (k *keyboard) text() string {
	var b strings.Builder
	for _, typed := range k.line {
		b.WriteString(typed.text)
	}
	if text := strings.TrimLeft(b.String(), noText); text != "" {
		return text
	}
	return b.String()
}

// erase takes the last keys away, marks together with their letter.
func (k *keyboard) erase(n int) (echo string) {
	k.part = nil
	for ; n > 0 && len(k.line) > 0; n-- {
		last := k.line[len(k.line)-1]
		k.line = k.line[:len(k.line)-1]
		echo += strings.Repeat("\b \b", last.cells)
		if last.cells == 0 {
			n++
		}
	}
	return echo
}

// word counts the keys of the last word and the spaces behind it.
func (k *keyboard) word() int {
	n := len(k.line)
	for n > 0 && k.line[n-1].text == " " {
		n--
	}
	for n > 0 && k.line[n-1].text != " " {
		n--
	}
	return len(k.line) - n
}

// forget throws away what was typed of a line.
func (k *keyboard) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.line, k.part, k.odd = nil, nil, noSequence
}

// listen is called for what is typed from now on.
func (k *keyboard) listen(heard func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard = heard
}
