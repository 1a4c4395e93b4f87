package terminal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A choosing is the state of one question in a panel: the choices and the texts of the person so far.
type choosing struct {
	q           view.Question
	cursor      int   // choice under the cursor; len(q.Choices) is "Other", and -1 no choice
	picked      []int // indexes of choices
	other       field
	otherMarked bool // whether the text of other is a part of the answer
	useDefault  bool
	answered    bool
	note        field
	filter      field
	key         string // the first characters of a key that is being typed
}

// newChoosing returns the state of a question before any key is pressed. The cursor is on the first default.
// If several answers are possible, the defaults are marked. Only Enter takes a default.
func newChoosing(q view.Question) *choosing {
	c := &choosing{q: q}
	for i, choice := range slices.Backward(q.Choices) {
		if choice.Default {
			c.cursor = i
			if q.Multi {
				c.toggle(i)
			}
		}
	}
	if text := q.DefaultText.String(); text != "" && q.OtherKey != "" && q.HasDefault {
		c.other.set(q.DefaultAnswer().Other)
		c.otherMarked = q.Multi
		if len(q.DefaultAnswer().Selected) == 0 {
			c.cursor = len(q.Choices)
		}
	}
	return c
}

// visible returns the choices that match the filter. "Other" always matches.
func (c *choosing) visible() (found []int) {
	words := strings.Fields(strings.ToLower(c.filter.text()))
	for i, choice := range c.q.Choices {
		text := strings.ToLower(choice.Label.String() + " " + choice.Description.String())
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			found = append(found, i)
		}
	}
	if c.q.OtherKey != "" {
		found = append(found, len(c.q.Choices))
	}
	return found
}

// manyChoices is the number of options from which letters filter the options.
const manyChoices = 5

// filtersBy reports whether a typed text begins a filter. Only a letter does, if the question has many
// options whose keys are numbers.
func (c *choosing) filtersBy(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return len(c.q.Choices) >= manyChoices && c.q.Numbered() && unicode.IsLetter(r)
}

// keepVisible moves the cursor to the first visible choice, unless the choice under the cursor is visible.
func (c *choosing) keepVisible() {
	all := c.visible()
	if slices.Contains(all, c.cursor) {
		return
	}
	c.cursor = -1
	if len(all) > 0 {
		c.cursor = all[0]
	}
}

// pageStep is the number of choices that Page Up and Page Down move.
const pageStep = 5

// step moves the cursor, and reports whether key moves it.
func (c *choosing) step(key string) bool {
	all := c.visible()
	at, last := slices.Index(all, c.cursor), len(all)-1
	switch key {
	case "up", "k":
		if at--; at < 0 {
			at = last
		}
	case "down", "j":
		if at++; at > last {
			at = 0
		}
	case "pgup":
		at -= pageStep
	case "pgdown":
		at += pageStep
	case "home":
		at = 0
	case "end":
		at = last
	default:
		return false
	}
	if len(all) > 0 {
		c.cursor = all[min(max(at, 0), last)]
	}
	return true
}

// typeKey adds a character to the key that is being typed. When the key of a choice is complete, the cursor
// moves to the choice. The result ok reports whether the character can be a part of a key. The result moved
// reports whether the cursor moved.
func (c *choosing) typeKey(text string) (ok, moved bool) {
	for _, typed := range []string{c.key + text, text} {
		for i := range len(c.q.Choices) + 1 {
			if key := c.keyOf(i); key != "" && strings.HasPrefix(key, typed) {
				ok, c.key = true, typed
				if key == typed {
					c.cursor = i
					return true, true
				}
			}
		}
		if ok {
			return true, false
		}
	}
	c.key = ""
	return false, false
}

// keyOf returns the key of the choice i, or of "Other".
func (c *choosing) keyOf(i int) string {
	if i < len(c.q.Choices) {
		return c.q.Choices[i].Key
	}
	return c.q.OtherKey
}

// toggle marks a choice, or removes its mark.
func (c *choosing) toggle(i int) {
	if at := slices.Index(c.picked, i); at >= 0 {
		c.picked = slices.Delete(c.picked, at, at+1)
		return
	}
	c.picked = append(c.picked, i)
	slices.Sort(c.picked)
}

func (c *choosing) isMarked(i int) bool {
	if i == len(c.q.Choices) {
		return c.otherMarked
	}
	return slices.Contains(c.picked, i)
}

// answer returns the chosen answer, or the default if it was taken, with the note.
func (c *choosing) answer() askback.QuestionAnswer {
	other := ""
	if c.otherMarked {
		other = c.other.text()
	}
	a := c.q.Pick(c.picked, other)
	if c.useDefault {
		a = c.q.DefaultAnswer()
	}
	a.Notes = c.note.text()
	return a
}

// values returns the answer for display.
func (c *choosing) values() (out []safetext.Text) {
	for _, value := range c.answer().Values() {
		out = append(out, safetext.Line(value))
	}
	return out
}
