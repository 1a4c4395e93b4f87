package terminal

import (
	"encoding/json"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
)

// deciding is the state of a call in a panel.
type deciding struct {
	*view.Confirmation
	form    view.Form       // with the arguments as the person changed them
	note    field           // the reason of the decision
	pending *askback.Answer // an approval that needs a typed word
	word    string          // that word
	typed   field           // what was typed of it
	grant   askback.Scope   // the scope of pending, if it also approves later calls
}

// approveWord is the word that approves a dangerous call, as on its page.
const approveWord = "approve"

// pressForCall handles a key while a call is decided. Keys that decide work only when they
// are armed.
func (p *picker) pressForCall(key string) tea.Cmd {
	c := p.call
	switch key {
	case "a", "y", "d", "A":
		if !p.armed {
			return nil
		}
	}
	switch key {
	case "a", "y":
		p.approve(p.decision(askback.Approve), "")
	case "A":
		p.approve(approveAll(askback.ScopeInput), askback.ScopeInput)
	case "d":
		p.result = Answered{p.decision(askback.Deny)}
	case "n":
		p.edit(writingNote, &c.note)
	case "e":
		return p.editArguments()
	case "enter":
		p.problem = "Enter decides nothing here: a approves, d denies."
	case "esc":
		p.problem = p.leaving() + "."
	default:
		return p.pressAnywhere(key)
	}
	return nil
}

// decision returns a decision with the changed arguments.
func (p *picker) decision(d askback.Decision) askback.Answer {
	p.call.form.Decision = d
	return p.call.form.Answer(p.ask)
}

// approve approves the call, or asks for a typed word if it is dangerous, was not read, or
// covers later calls.
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

// checkWord approves the call if the word was typed. Any other text approves nothing.
func (p *picker) checkWord() {
	c := p.call
	p.mode, p.editing = picking, nil
	if strings.TrimSpace(c.typed.text()) != c.word {
		p.problem = "That was not the word " + c.word + ". Nothing is approved, and the call is still open."
		return
	}
	p.result = Answered{*c.pending}
}

// withReason adds the note to a result that decides a call.
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
	case c.Repeated:
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
		p.problem = "There is no editor here."
		return nil
	}
	var changed string
	edit := func() (err error) {
		changed, err = p.options.Edit(p.ctx, name, text)
		return err
	}
	return tea.Exec(&external{p.host, p.ctx, edit}, func(err error) tea.Msg { return editedMsg{p, changed, err} })
}

// edited takes over the text that the editor saved.
func (p *picker) edited(text string, err error) tea.Cmd {
	text = strings.TrimRight(text, "\r\n")
	switch {
	case p.ctx.Err() != nil:
	case err != nil:
		p.problem = "The editor failed, so nothing was changed: " + err.Error() + ". EDITOR names another one."
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

// argumentsProblem returns why text cannot be the arguments of a call, or "".
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
	page := func() error { return p.options.Page(p.ctx, f.b.String()) }
	return tea.Exec(&external{p.host, p.ctx, page}, func(err error) tea.Msg { return pagedMsg{p, err} })
}

// paged records that all rows were shown. Without a pager, they are written above the panel.
func (p *picker) paged(err error) {
	if p.ctx.Err() != nil {
		return
	}
	if err != nil && p.embedded {
		p.problem = "The pager failed: " + err.Error() + ". PAGER names another one. PgDn shows more rows here."
		return
	}
	if err != nil {
		f := newFrame(p.options)
		f.ask(p.ask)
		p.above = append(p.above, f.lines()...)
	}
	p.unseen, p.read = 0, true
}
