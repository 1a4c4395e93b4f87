package view

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// Brief returns the view of an ask for a list. It omits details that only the page of the ask shows, so that
// a list of large asks is cheap. Quick is set if the ask is open and the list shows all of it.
func Brief(a askback.Ask) Ask {
	full := a
	a.Context = nil
	a.Questions = nil
	for _, q := range full.Questions {
		a.Questions = append(a.Questions, askback.Question{ID: q.ID, Text: q.Text, Header: q.Header})
	}
	if c := full.Confirmation; c != nil {
		a.Confirmation = &askback.Confirmation{
			ToolName: c.ToolName, Server: c.Server, Dangerous: c.Dangerous,
			Description: firstRunes(c.Description, 4*maxHeadline), Input: firstRunes(c.Input, maxBrief),
		}
	}
	if full.Confirmation == nil && isShortQuestion(full) {
		a.Questions = full.Questions
	}
	v := Of(a)
	if c := full.Confirmation; c != nil && c.ToolName == confirmAction {
		if action, details, own := actionOf(*c, treeOf(c.Input)); own {
			v.Confirmation.Description = nil
			v.Confirmation.setAction(firstRunes(action, 4*maxHeadline), firstRunes(details, 4*maxHeadline))
		}
	}
	if full.Confirmation == nil {
		v.Quick = isShortQuestion(full) && !v.Hidden && a.Outcome == nil
	} else {
		v.Quick = isShortCall(full, v)
	}
	return v
}

// Limits for an ask that can be answered from a list. An ask with more or longer options, or a longer text,
// is answered on its page.
const (
	maxQuickOptions = 4
	maxQuickLabel   = 24
	maxQuickText    = 160
)

// isShortQuestion reports whether an ask is one question with a few short options, and has no other text to
// read.
func isShortQuestion(a askback.Ask) bool {
	if len(a.Questions) != 1 || len(a.Context) > len("null") || a.Title != "" || len(a.Warnings) > 0 {
		return false
	}
	q := a.Questions[0]
	if q.MultiSelect || len(q.Options) == 0 || len(q.Options) > maxQuickOptions ||
		utf8.RuneCountInString(q.Text) > maxQuickText || strings.Contains(q.Text, "\n") {
		return false
	}
	for _, o := range q.Options {
		if o.Description != "" || o.Preview != "" || utf8.RuneCountInString(o.Label) > maxQuickLabel {
			return false
		}
	}
	return true
}

// isShortCall reports whether an open call can be decided from a list. The call is not dangerous, its tool is
// not a free-text tool, it has no warnings, and its row shows all arguments unchanged. A row has no place for
// line breaks, and right-to-left text would change the order of the values.
func isShortCall(full askback.Ask, brief Ask) bool {
	c, input := brief.Confirmation, string(full.Confirmation.Input)
	return full.Outcome == nil && !c.Dangerous && !c.FreeText && !c.lookalike && len(c.Warnings) == 0 &&
		len(full.Warnings) == 0 && !brief.Hidden &&
		len(input) <= maxQuickText && !strings.HasSuffix(c.ArgumentsLine.String(), "…") &&
		!strings.Contains(input, `\n`) &&
		!strings.ContainsFunc(c.Tool.String()+c.Server.String()+c.ArgumentsLine.String(), safetext.IsRightToLeft)
}

// firstRunes returns the first n runes of s.
func firstRunes[T string | json.RawMessage](s T, n int) T {
	for i := range string(s) {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
