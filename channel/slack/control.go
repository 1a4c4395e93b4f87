package slack

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/mac"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Limits of Slack for elements, and the maximum number of options that are shown as buttons.
const (
	maxLabel    = 75
	maxFew      = 10 // for radio buttons and checkboxes
	maxButtons  = 5
	buttonLabel = 30 // maximum width of the label of a button in cells
	maxModal    = 100
	codeBytes   = 16
)

// Actions of the elements in a message. If a block has several buttons, each action has an index, as in
// "choose.2".
const (
	actChoose  = "choose"
	actPick    = "pick" // an element in which people mark options; actSend sends them
	actSend    = "send"
	actForm    = "form"
	actApprove = "approve"
	actDeny    = "deny"
	actReason  = "reason"
	actDecline = "decline"
)

// code returns the value of a button or an option. Only this app can make the value, for one ask and one
// action. The value contains neither an answer nor arguments.
func (c *Channel) code(ask string, parts ...string) string {
	sum := mac.Sum(c.key, "slack", append([]string{c.options.Team, ask}, parts...)...)
	return base64.RawURLEncoding.EncodeToString(sum[:codeBytes])
}

// oldCode returns the value in the form of earlier releases. Messages of these releases stay in channels
// while their asks are open, which may be weeks.
func (c *Channel) oldCode(ask string, parts ...string) string {
	var text []byte
	for _, p := range append([]string{c.options.Team, ask}, parts...) {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(p))), p...)
	}
	sum := mac.Bare(mac.Bare(c.key, "askback: buttons"), string(text))
	return base64.RawURLEncoding.EncodeToString(sum[:codeBytes])
}

// isCode reports whether value is the code for an ask and an action, in the form of this or an earlier release.
func (c *Channel) isCode(value, ask string, parts ...string) bool {
	return hmac.Equal([]byte(value), []byte(c.code(ask, parts...))) ||
		hmac.Equal([]byte(value), []byte(c.oldCode(ask, parts...)))
}

// answerable reports whether an ask may be answered in Slack. It returns false for a settled ask. It also
// returns false for an ask that must be answered on its page: a dangerous call, or an ask with text that is
// hard to see.
func answerable(a askback.Ask) bool {
	v := view.Of(a)
	if a.Settled() || v.Hidden {
		return false
	}
	return a.Confirmation == nil || v.Together()
}

// controls returns the blocks with which people answer an ask. If the ask must be answered on its page, it
// returns nil.
func (c *Channel) controls(a askback.Ask) []slack.Block {
	switch {
	case !answerable(a), a.Confirmation == nil && len(a.Questions) == 0:
		return nil
	case a.Confirmation != nil:
		return c.decision(a)
	case len(a.Questions) > 1:
		return c.formButton(a, fmt.Sprintf("Answer %d questions…", len(a.Questions)))
	case len(a.Questions[0].Options) == 0:
		return c.formButton(a, "Write an answer…")
	}
	q := a.Questions[0]
	var blocks []slack.Block
	if buttons := c.choices(a.ID, q); buttons != nil {
		blocks = append(blocks, buttons)
	} else {
		send := c.button(a.ID, actSend, "Send", slack.StylePrimary)
		blocks = append(blocks, slack.NewActionBlock(blockID(a.ID, actPick), c.picker(a.ID, 0, q, nil)),
			slack.NewActionBlock(blockID(a.ID, actSend), send))
	}
	words := "Add a note…"
	if !q.NoOther {
		words = "Other, or add a note…"
	}
	form := c.formButton(a, words)
	if form == nil {
		return nil
	}
	return append(blocks, form...)
}

// decision returns the buttons Approve and Deny in separate blocks. Each button opens a dialog of Slack that
// asks for confirmation.
func (c *Channel) decision(a askback.Ask) []slack.Block {
	approve := c.button(a.ID, actApprove, "Approve", slack.StylePrimary)
	approve.Confirm = dialog("Approve this call?", "It runs with exactly the arguments in the message.", "Approve")
	deny := c.button(a.ID, actDeny, "Deny", slack.StyleDanger)
	deny.Confirm = dialog("Deny this call?", "The agent may not run it.", "Deny")
	return []slack.Block{
		slack.NewActionBlock(blockID(a.ID, actApprove), approve),
		slack.NewDividerBlock(),
		slack.NewActionBlock(blockID(a.ID, actDeny), deny, c.button(a.ID, actReason, "Deny with a reason…", "")),
	}
}

func dialog(title, text, yes string) *slack.ConfirmationBlockObject {
	return slack.NewConfirmationBlockObject(plain(title), plain(text), plain(yes), plain("Back"))
}

// button returns a button with the label words. The label must be text of Askback, or safe text.
func (c *Channel) button(ask, action, words string, style slack.Style) *slack.ButtonBlockElement {
	b := slack.NewButtonBlockElement(action, c.code(ask, action), plain(words))
	b.Style = style
	return b
}

// formButton returns the buttons that open the form for an ask, and the form that declines it. It returns nil if
// the form for the ask does not fit.
func (c *Channel) formButton(a askback.Ask, words string) []slack.Block {
	if _, ok := c.form(a, ""); !ok {
		return nil
	}
	return []slack.Block{slack.NewActionBlock(blockID(a.ID, actForm), c.button(a.ID, actForm, words, ""),
		c.button(a.ID, actDecline, "Decline…", ""))}
}

// choices returns a button for each option of a question. It returns nil if the question has many or long
// options, or allows several answers.
func (c *Channel) choices(ask string, q askback.Question) slack.Block {
	if q.MultiSelect || len(q.Options) > maxButtons {
		return nil
	}
	var buttons []slack.BlockElement
	for i, label := range labels(q) {
		if safetext.Width(safetext.Line(label)) > buttonLabel {
			return nil
		}
		buttons = append(buttons, c.button(ask, indexed(actChoose, i), label, ""))
	}
	return slack.NewActionBlock(blockID(ask, actChoose), buttons...)
}

// picker returns the element in which people mark the options of a question, followed by extra options. The
// element has radio buttons, checkboxes or a list, depending on the number of options.
func (c *Channel) picker(
	ask string, question int, q askback.Question, extra []*slack.OptionBlockObject,
) slack.BlockElement {
	var options []*slack.OptionBlockObject
	for i, label := range labels(q) {
		options = append(options,
			slack.NewOptionBlockObject(c.code(ask, "option", indexed("", question), indexed("", i)), plain(label), nil))
	}
	options = append(options, extra...)
	switch few := len(options) <= maxFew; {
	case q.MultiSelect && few:
		return slack.NewCheckboxGroupsBlockElement(actPick, options...)
	case q.MultiSelect:
		return slack.NewOptionsMultiSelectBlockElement(slack.MultiOptTypeStatic, plain("Choose any number"), actPick,
			options...)
	case few:
		return slack.NewRadioButtonsBlockElement(actPick, options...)
	}
	return slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plain("Choose one"), actPick, options...)
}

// optionsOf returns the options of an element.
func optionsOf(e slack.BlockElement) []*slack.OptionBlockObject {
	switch e := e.(type) {
	case *slack.CheckboxGroupsBlockElement:
		return e.Options
	case *slack.RadioButtonsBlockElement:
		return e.Options
	case *slack.SelectBlockElement:
		return e.Options
	case *slack.MultiSelectBlockElement:
		return e.Options
	}
	return nil
}

// labels returns the labels of the options of a question. If a label is blank, too long for Slack or equal to
// another label, each label begins with its number in the message. Labels that are then too long are
// truncated. The message has the whole labels.
func labels(q askback.Question) []string {
	all := make([]string, len(q.Options))
	seen, number := map[string]bool{}, false
	for i, o := range q.Options {
		all[i] = safetext.Line(o.Label).String()
		number = number || seen[all[i]] || length(all[i]) > maxLabel || strings.TrimSpace(all[i]) == ""
		seen[all[i]] = true
	}
	if number {
		for i, label := range all {
			all[i] = cut(fmt.Sprintf("%d. %s", i+1, label), maxLabel)
		}
	}
	return all
}

// cut truncates s to the length limit, and marks the truncation with "…".
func cut(s string, limit int) string {
	if length(s) <= limit {
		return s
	}
	end, size := 0, 1 // the mark … counts
	for i, r := range s {
		if size += length(string(r)); size > limit {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return s[:end] + "…"
}

// blockID returns the id of the block for an ask and a use.
func blockID(ask, use string) string { return ask + "." + use }

// indexed returns an action with an index.
func indexed(action string, i int) string { return fmt.Sprintf("%s.%d", action, i) }
