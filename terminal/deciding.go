package terminal

import (
	"encoding/json"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A deciding is a call in a panel, with the input of the person who decides it.
type deciding struct {
	*view.Confirmation
	form    view.Form       // form with the changed arguments
	note    field           // reason of the decision
	pending *askback.Answer // an approval that needs a typed word
	word    string          // the word to type
	typed   field           // typed part of the word
	grant   askback.Scope   // scope of pending, if it also approves later calls
	action  int             // action that Enter takes, counted from 1; 0 for no action
}

// approveWord is the word that approves a dangerous call, as on its page.
const approveWord = "approve"

// A decideMsg arrives decideTime after a letter that decides was pressed.
type decideMsg struct {
	by      *picker
	presses int // number of keys up to the letter that decides
}

// decideNow decides the call by the letter that was pressed, unless another key has followed.
func (p *picker) decideNow(m decideMsg) {
	key := p.letter
	if key == "" || m.presses != p.presses {
		return
	}
	p.letter = ""
	p.guard.meant()
	if key == "d" {
		p.result = Answered{p.decision(askback.Deny)}
		return
	}
	p.approve(p.decision(askback.Approve), "")
}

// pressForCall handles a key while a call is decided.
func (p *picker) pressForCall(key string) tea.Cmd {
	c := p.call
	switch key {
	case "a", "y", "d":
		if !p.guard.alone {
			return p.ignoreKey()
		}
		p.letter = key
		return p.after(decideTime, decideMsg{p, p.presses})
	case "A":
		p.approve(approveAll(askback.ScopeInput), askback.ScopeInput)
	case "n", "ctrl+n":
		p.edit(writingNote, &c.note)
	case "e":
		return p.editArguments()
	case "up", "down":
		c.step(key, len(p.actions()))
	case "enter":
		return p.takeAction()
	case "esc":
		if p.problem = p.leaving() + "."; c.action > 0 {
			c.action, p.problem = 0, ""
		}
	default:
		return p.pressAnywhere(key)
	}
	return nil
}

// An action is an operation on a call, with a key. On every keyboard, the arrows also select an action, and
// Enter takes it.
type action struct{ key, words string }

// actions returns the possible actions on the call. Neither the first nor the last action decides, because in
// a shell, an arrow and Enter repeat a command.
func (p *picker) actions() []action {
	all := []action{{"n", "reason"}, {"d", "deny"}, {"a", "approve"}}
	if p.needsWord() {
		all[2].words = "approve with a typed word"
	}
	if !p.call.NoEdit && !p.call.Own {
		all = append(all, action{"e", "edit"})
	}
	return append(all, action{"v", "show all"}, action{"D", "decline to decide"})
}

// needsWord reports whether only a typed word approves the call.
func (p *picker) needsWord() bool { return p.call.Dangerous || p.unseen > 0 }

// step moves to the next or the previous of n actions.
func (c *deciding) step(key string, n int) {
	if key == "up" {
		c.action--
	} else {
		c.action++
	}
	if c.action < 1 {
		c.action = n
	} else if c.action > n {
		c.action = 1
	}
}

// takeAction performs the action that the arrows selected, as Enter does. If no action is selected, it
// explains the keys.
func (p *picker) takeAction() tea.Cmd {
	c := p.call
	if c.action == 0 || c.action > len(p.actions()) {
		p.problem = "Enter does nothing yet: press a to approve, d to deny, or ↑ ↓ to choose what Enter does."
		return nil
	}
	key := p.actions()[c.action-1].key
	c.action = 0
	if key == "a" || key == "d" {
		p.letter = key
		p.decideNow(decideMsg{p, p.presses})
		return nil
	}
	return p.pressForCall(key)
}

// decision returns an answer with the decision d and the changed arguments.
func (p *picker) decision(d askback.Decision) askback.Answer {
	p.call.form.Decision = d
	return p.call.form.Answer(p.ask)
}

// approve approves the call. If the call is dangerous, was not read, or scope covers later calls, it asks for
// a typed word first. It does not approve changed arguments for later calls.
func (p *picker) approve(a askback.Answer, scope askback.Scope) {
	c := p.call
	if len(a.Input) == 0 && c.form.Edited() {
		p.problem = "Changed arguments can be approved only once: press a."
		return
	}
	if scope == "" && !c.Dangerous && p.unseen == 0 {
		p.result = Answered{a}
		return
	}
	c.pending, c.grant, c.word = &a, scope, approveWord
	c.typed.set("")
	p.edit(confirming, &c.typed)
}

// checkWord approves the call if the person typed the word. Any other text approves nothing.
func (p *picker) checkWord() {
	c := p.call
	p.mode, p.editing = picking, nil
	if strings.TrimSpace(c.typed.text()) != c.word {
		p.problem = "That was not the word " + c.word + ". Nothing is approved, and the call is still open."
		return
	}
	p.result = Answered{*c.pending}
}

// withReason adds the note of the person to a result that decides a call.
func (p *picker) withReason(r Result) Result {
	answered, ok := r.(Answered)
	if ok && p.call != nil {
		answered.Answer.Reason = strings.TrimSpace(p.call.note.text())
		return answered
	}
	return r
}

// editArguments opens the arguments in the editor of the person.
func (p *picker) editArguments() tea.Cmd {
	c := p.call
	switch {
	case c.NoEdit:
		p.problem = "This agent cannot run other arguments. If you want others, deny and give them in the reason."
		return nil
	case c.Own:
		p.problem = "This action has no arguments to change. Deny it, and write a note on what to do instead."
		return nil
	case c.Editable() == "":
		p.problem = "The arguments are too long to edit here."
		return nil
	}
	return p.openEditor("arguments.json", string(c.form.Input))
}

// openEditor opens text in the editor of the person.
func (p *picker) openEditor(name, text string) tea.Cmd {
	if p.options.Edit == nil {
		p.problem = "No editor is available here."
		return nil
	}
	var changed string
	edit := func() (err error) {
		changed, err = p.options.Edit(p.ctx, name, text)
		return err
	}
	return tea.Exec(&external{p.host, p.ctx, edit}, func(err error) tea.Msg { return editedMsg{p, changed, err} })
}

// edited takes the text that the editor saved for a field or for the arguments. It shows an error, and
// rejects arguments that are not a JSON object.
func (p *picker) edited(text string, err error) tea.Cmd {
	text = strings.TrimRight(text, "\r\n")
	switch {
	case p.ctx.Err() != nil:
	case err != nil:
		p.problem = "The editor failed, so nothing was changed: " + err.Error() + ". Set EDITOR to use another one."
	case p.editing != nil:
		p.editing.set("")
		p.problem = p.editing.insert(text)
	case p.call != nil:
		if problem := argumentsProblem(text); problem != "" {
			p.problem = problem
			return nil
		}
		p.call.form.Input = view.RawText(text)
		p.compact, p.read, p.text = false, false, scroller{}
		return p.arm()
	}
	return nil
}

// argumentsProblem returns the reason why text cannot be the arguments of a call, or "".
func argumentsProblem(text string) string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return "That is not a JSON object, so the arguments are unchanged. Press e to try again."
	}
	return ""
}

// showAll shows the whole ask in a pager.
func (p *picker) showAll() tea.Cmd {
	if p.options.Page == nil {
		p.paged(errors.ErrUnsupported)
		return nil
	}
	o := p.options
	o.Style = false
	f := newFrame(o)
	f.ask(p.ask)
	f.asJSON(p.ask)
	page := func() error { return p.options.Page(p.ctx, f.b.String()) }
	return tea.Exec(&external{p.host, p.ctx, page}, func(err error) tea.Msg { return pagedMsg{p, err} })
}

// paged records that all rows were shown. If the pager failed, it writes the rows above the panel. In an
// inbox, it shows the error instead.
func (p *picker) paged(err error) {
	if p.ctx.Err() != nil {
		return
	}
	if err != nil && p.embedded {
		p.problem = "The pager failed: " + err.Error() + ". Set PAGER to use another one. PgDn shows more rows here."
		return
	}
	if err != nil {
		f := newFrame(p.options)
		f.ask(p.ask)
		p.above = append(p.above, f.lines()...)
	}
	p.unseen, p.read = 0, true
}
