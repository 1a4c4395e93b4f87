package post

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// A Button answers an ask with one choice.
type Button struct {
	Label string // safe text
	URL   string // receives a POST
	Body  string // of the POST
}

// A Choice is one of the answers that buttons of a message offer.
type Choice struct {
	Label  string // safe text
	Answer askback.Answer
}

// The most and the longest choices that buttons show whole: ntfy allows three actions, and
// phones cut longer labels.
const (
	maxChoices     = 3
	maxChoiceLabel = 24 // cells
)

// Choices returns the answers that buttons may offer, or none if an ask must be answered on
// its page: several questions, several selections, many or long options, dangerous calls, and
// whatever has characters that cannot be seen. The result depends only on what was asked, so
// an index in it stays valid.
func Choices(a askback.Ask) []Choice {
	v := view.Of(a)
	if v.Hidden || a.Quorum > 1 {
		return nil
	}
	if a.Confirmation != nil {
		if !v.Together() {
			return nil
		}
		return []Choice{
			{"Approve", askback.Decide(askback.Approve, "")},
			{"Deny", askback.Decide(askback.Deny, "")},
		}
	}
	if len(a.Questions) != 1 || a.Questions[0].MultiSelect || len(a.Questions[0].Options) > maxChoices {
		return nil
	}
	var choices []Choice
	seen := map[string]bool{}
	for _, o := range a.Questions[0].Options {
		label := safetext.Line(o.Label)
		if seen[label.String()] || safetext.Width(label) > maxChoiceLabel {
			return nil
		}
		seen[label.String()] = true
		choices = append(choices, Choice{label.String(), askback.Choose(o.Label)})
	}
	return choices
}
