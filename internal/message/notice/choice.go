package notice

import (
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A Button answers an ask with a choice.
type Button struct {
	Label string // safe text
	URL   string // receives a POST
	Body  string // body of the POST
}

// A Choice is an answer that a button of a message offers.
type Choice struct {
	Label  string // safe text
	Answer askback.Answer
	width  int // width of the label, in cells
}

// Limits are the limits of a service for choices as buttons. 0 means no limit.
type Limits struct {
	Choices int // maximum number of choices
	Label   int // width of the widest label, in cells
}

// fit reports whether choices are within the limits.
func (l Limits) fit(choices []Choice) bool {
	if l.Choices > 0 && len(choices) > l.Choices {
		return false
	}
	return l.Label == 0 || !slices.ContainsFunc(choices, func(c Choice) bool { return c.width > l.Label })
}

// Choices returns the answers that buttons of a service may offer. It returns nil if the ask must be answered
// on its page. Such an ask has several questions or selections, more or longer options than the limits l, a
// dangerous call, or characters that cannot be seen.
//
// The result is all choices or none. The limits do not change the order of the choices, so the index of a
// choice is the same with any limits.
func Choices(a askback.Ask, l Limits) []Choice {
	choices := choices(a)
	if !l.fit(choices) {
		return nil
	}
	return choices
}

func choices(a askback.Ask) []Choice {
	v := view.Of(a)
	if v.Hidden {
		return nil
	}
	if a.Confirmation != nil {
		if !v.Together() {
			return nil
		}
		return []Choice{
			choice("Approve", askback.Decide(askback.Approve, "")), choice("Deny", askback.Decide(askback.Deny, "")),
		}
	}
	if len(a.Questions) != 1 || a.Questions[0].MultiSelect {
		return nil
	}
	var choices []Choice
	seen := map[string]bool{}
	for _, o := range a.Questions[0].Options {
		c := choice(o.Label, askback.Choose(o.Label))
		if seen[c.Label] {
			return nil
		}
		seen[c.Label] = true
		choices = append(choices, c)
	}
	return choices
}

func choice(label string, answer askback.Answer) Choice {
	text := safetext.Line(label)
	return Choice{Label: text.String(), Answer: answer, width: safetext.Width(text)}
}
