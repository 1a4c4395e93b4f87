package view

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/plan"
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
			Description: firstRunes(c.Description, 4*maxHeadline), Input: firstRunes(c.Input, maxBrief+1),
		}
	}
	if full.Confirmation == nil && questionOnPage(full) == "" {
		a.Questions = full.Questions
	}
	v := Of(a)
	if c := full.Confirmation; c != nil && c.ToolName == confirmAction {
		if action, details, own := actionOf(*c, treeOf(c.Input)); own {
			v.Confirmation.Description = nil
			v.Confirmation.setAction(firstRunes(action, 4*maxHeadline), firstRunes(details, 4*maxHeadline))
		}
	}
	if c := full.Confirmation; c != nil {
		if text, others := plan.Cut(c.ToolName, c.Input); text != "" {
			v.Confirmation.Plan = &Plan{}
			v.Confirmation.setPlanLine(text, others != nil)
		}
	}
	if a.Outcome != nil {
		return v
	}
	if full.Confirmation == nil {
		v.OnPage = questionOnPage(full)
	} else {
		v.OnPage = callOnPage(full, v)
	}
	if v.OnPage == "" && v.Hidden {
		v.OnPage = readFirst
	}
	v.Quick = v.OnPage == ""
	return v
}

// Limits for an ask that can be answered from a list. An ask with more or longer options, or a longer text,
// is answered on its page.
const (
	maxQuickOptions = 4
	maxQuickLabel   = 24
	maxQuickText    = 160
)

// readFirst is the reason for an ask whose text a list does not show completely.
const readFirst = "read first"

// questionOnPage returns what a list does not show of an ask with questions, in a few words. It returns "" for one
// question with a few short options and no other text to read, which a list shows completely.
func questionOnPage(a askback.Ask) string {
	if len(a.Questions) != 1 {
		return Count(len(a.Questions), "question")
	}
	q := a.Questions[0]
	isOnPage := func(o askback.Option) bool {
		return o.Description != "" || o.Preview != "" || utf8.RuneCountInString(o.Label) > maxQuickLabel
	}
	options := Count(len(q.Options), "option")
	switch {
	case len(q.Options) == 0:
		return "in your own words"
	case q.MultiSelect:
		return "any of " + options
	case len(q.Options) > maxQuickOptions || slices.ContainsFunc(q.Options, isOnPage):
		return options
	case utf8.RuneCountInString(q.Text) > maxQuickText, strings.Contains(q.Text, "\n"),
		utf8.RuneCountInString(a.Title) > maxQuickText, len(a.Context) > len("null"), len(a.Warnings) > 0:
		return readFirst
	}
	return ""
}

// callOnPage returns readFirst if an open call cannot be decided from a list, and "" otherwise. The row of a call that
// can be decided shows all arguments unchanged, and its tool is neither dangerous nor a free-text tool. A row has no
// place for line breaks, and right-to-left text would change the order of the values.
func callOnPage(full askback.Ask, brief Ask) string {
	c, input := brief.Confirmation, string(full.Confirmation.Input)
	switch {
	case c.Dangerous, c.lookalike, len(c.Warnings) > 0, len(full.Warnings) > 0, c.FreeText,
		len(input) > maxQuickText, strings.HasSuffix(c.ArgumentsLine.String(), "…"), strings.Contains(input, `\n`),
		(c.Own || c.Plan != nil) && strings.HasSuffix(c.headline().String(), "…"),
		strings.ContainsFunc(c.Tool.String()+c.Server.String()+c.ArgumentsLine.String(), safetext.IsRightToLeft):
		return readFirst
	}
	return ""
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
