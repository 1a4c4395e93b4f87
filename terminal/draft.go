package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A draft contains the fields of the form of an ask that a person has filled in and not sent, by name. The
// pages save the same form. A field that no panel has stays as it was.
type draft struct {
	Form url.Values `json:"form,omitempty"`
}

// otherAnswer is the value of the field of a question for "Other". The values for options are their indexes.
const otherAnswer = "own"

// emptyDraft is the draft of a person who has filled in nothing.
const emptyDraft = "{}"

const (
	draftDelay = 100 * time.Millisecond // wait before the draft of a selected ask is read
	draftPause = 500 * time.Millisecond // wait before typed text is saved, as on the pages
	draftRetry = 3 * time.Second        // wait after an error
)

// A keeper is the state of a panel's draft.
type keeper struct {
	asked  bool       // whether the draft is being read, or was read
	stored string     // draft as it is stored
	form   url.Values // fields of the draft that the panel does not have
	due    bool       // whether the draft is being saved, or will be
	err    error      // error of the last attempt to save the draft
	saves  sync.WaitGroup
}

// Messages about drafts.
type (
	draftMsg struct { // a draft was read
		by  *picker
		raw json.RawMessage
		err error
	}
	readDraftMsg struct{ by *picker } // it is time to read the draft
	saveDraftMsg struct{ by *picker } // it is time to save the draft
	keptMsg      struct {             // a draft was saved, or could not be saved
		by   *picker
		text string
		err  error
	}
)

// earlierMsg is the result of [picker.readEarlier].
type earlierMsg struct {
	by *picker
	is *view.Earlier
}

// readEarlier looks for an earlier approval of the call, unless it did so before.
func (p *picker) readEarlier() tea.Cmd {
	find := p.options.earlier
	if p.options.earlier = nil; find == nil || p.call == nil {
		return nil
	}
	return func() tea.Msg { return earlierMsg{p, find(p.ctx)} }
}

// handleDraft handles a message about the draft, or about an earlier approval, of a panel.
func handleDraft(msg tea.Msg) (cmd tea.Cmd, ok bool) {
	switch m := msg.(type) {
	case earlierMsg:
		m.by.ask.Earlier = m.is
		return nil, true
	case draftMsg:
		return m.by.takeDraft(m.raw, m.err), true
	case readDraftMsg:
		m.by.draft.asked = false
		return m.by.readDraft(), true
	case saveDraftMsg:
		return m.by.saveDraft(), true
	case keptMsg:
		return m.by.kept(m.text, m.err), true
	}
	return nil, false
}

// readDraft reads the draft, unless it was read before.
func (p *picker) readDraft() tea.Cmd {
	if p.options.Drafts == nil || p.draft.asked || p.result != nil {
		return nil
	}
	p.draft.asked = true
	return func() tea.Msg {
		raw, err := p.options.Drafts.Draft(p.ctx, p.ask.ID.String())
		return draftMsg{p, raw, err}
	}
}

// takeDraft fills in the draft that was read. Keys that answer are ignored for a moment, because the cursor
// may now be on another option. If the draft cannot be read, takeDraft reads it again later.
func (p *picker) takeDraft(raw json.RawMessage, err error) tea.Cmd {
	var d draft
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrSettled), errors.Is(err, askback.ErrForbidden),
		errors.Is(err, askback.ErrNotApprover):
		return nil
	case err != nil:
		return p.after(draftRetry, readDraftMsg{p})
	case raw == nil || json.Unmarshal(raw, &d) != nil || len(d.Form) == 0 || p.result != nil:
		return nil
	}
	stored, _ := json.Marshal(d)
	p.restore(d.Form)
	if p.draft.stored = string(stored); !p.touched {
		p.draft.stored = p.draftText()
	}
	if len(p.typed()) == 0 && !p.hasChosen() {
		return nil
	}
	p.problem = "This is your earlier draft, which was not sent."
	return p.arm()
}

// hasChosen reports whether the person has chosen options that were not sent.
func (p *picker) hasChosen() bool {
	return slices.ContainsFunc(p.choices,
		func(c *choosing) bool { return c.answered || c.cursor != newChoosing(c.q).cursor || c.marksChanged() })
}

// restore fills in the fields of form. Text that the person has typed meanwhile is kept.
func (p *picker) restore(form url.Values) {
	p.draft.form = url.Values{}
	for _, name := range []string{"scope", "expires_in"} {
		if value, ok := form[name]; ok {
			p.draft.form[name] = value
		}
	}
	for _, c := range p.choices {
		id := c.q.ID.String()
		p.fill(&c.note, form.Get(id+"-notes"))
		if c.q.OtherKey != "" || len(c.q.Choices) == 0 {
			p.fill(&c.other, form.Get(id+"-other"))
		}
		if !p.touched {
			c.restore(form[id], len(p.choices) > 1)
		}
	}
	p.fill(&p.comment, form.Get("comment"))
	if p.call == nil {
		p.fill(&p.reason, form.Get("reason"))
		return
	}
	p.fill(&p.call.note, form.Get("reason"))
	switch input := form.Get("input"); {
	case input == "" || p.call.form.Edited():
	case argumentsProblem(input) != "" || p.call.NoEdit || p.call.Own || p.call.Editable() == "":
		p.draft.form.Set("input", input)
	default:
		p.call.form.Input = view.RawText(input)
		p.compact, p.read, p.text = false, false, scroller{}
	}
}

// fill sets the text of a field that is empty.
func (p *picker) fill(f *field, text string) {
	if f.text() == "" && text != "" {
		p.problem = f.insert(text)
	}
}

// restore chooses the options with these values. If several is true, the ask has other questions. The
// question then counts as answered, and is shown again before the answers are sent. Otherwise the cursor
// moves to the option, and Enter chooses the option.
func (c *choosing) restore(values []string, several bool) {
	var picked []int
	own := len(c.q.Choices) == 0 && c.other.text() != c.q.DefaultAnswer().Other
	for _, value := range values {
		n, err := strconv.Atoi(value)
		switch {
		case value == otherAnswer && c.q.OtherKey != "":
			own = true
		case err == nil && n >= 0 && n < len(c.q.Choices) && !slices.Contains(picked, n):
			picked = append(picked, n)
		}
	}
	slices.Sort(picked)
	switch {
	case len(picked) == 0 && !own || len(picked) > 1 && !c.q.Multi:
		return
	case c.q.Multi:
		c.picked, c.otherMarked = picked, own && c.other.text() != ""
	case len(picked) == 1:
		c.cursor = picked[0]
	case len(c.q.Choices) > 0:
		c.cursor = len(c.q.Choices)
	}
	if several && (len(picked) > 0 || c.other.text() != "") {
		c.picked, c.otherMarked, c.answered = picked, own && c.other.text() != "", true
	}
}

// marksChanged reports whether the person has marked other options than the default.
func (c *choosing) marksChanged() bool {
	first := newChoosing(c.q)
	return c.q.Multi && (!slices.Equal(c.picked, first.picked) || c.otherMarked != first.otherMarked)
}

// fields adds the entries for a question to a form.
func (c *choosing) fields(form url.Values) {
	id := c.q.ID.String()
	if text := c.other.text(); text != "" && text != c.q.DefaultAnswer().Other {
		form.Set(id+"-other", text)
	}
	if text := c.note.text(); text != "" {
		form.Set(id+"-notes", text)
	}
	if len(c.q.Choices) == 0 || c.useDefault || !c.answered && !c.marksChanged() {
		return
	}
	for _, n := range c.picked {
		form.Add(id, strconv.Itoa(n))
	}
	if c.otherMarked {
		form.Add(id, otherAnswer)
	}
}

// draftText returns the draft with all entries. The word that approves a call is not part of a draft.
func (p *picker) draftText() string {
	form := url.Values{}
	for _, c := range p.choices {
		c.fields(form)
	}
	set := func(name, text string) {
		if text != "" {
			form.Set(name, text)
		}
	}
	set("comment", p.comment.text())
	set("reason", p.reason.text())
	if p.call != nil {
		set("reason", p.call.note.text())
		if p.call.form.Edited() {
			set("input", string(p.call.form.Input))
		}
	}
	if len(form) == 0 && !p.draft.form.Has("input") {
		return emptyDraft
	}
	for name, value := range p.draft.form {
		if !form.Has(name) {
			form[name] = value
		}
	}
	text, _ := json.Marshal(draft{maps.Clone(form)})
	return string(text)
}

// unsaved reports whether the draft differs from the stored draft.
func (p *picker) unsaved() bool {
	text := p.draftText()
	return p.options.Drafts != nil && text != p.draft.stored && (text != emptyDraft || p.draft.stored != "")
}

// keep saves the draft after draftPause, if the draft has changed.
func (p *picker) keep() tea.Cmd {
	if p.draft.due || !p.unsaved() {
		return nil
	}
	p.draft.due = true
	return p.after(draftPause, saveDraftMsg{p})
}

// saveDraft saves the draft in its present state. The draft is also saved if the panel ends meanwhile.
func (p *picker) saveDraft() tea.Cmd {
	if !p.unsaved() {
		p.draft.due = false
		return nil
	}
	text, done := p.draftText(), make(chan tea.Msg, 1)
	p.draft.saves.Go(func() {
		ctx, cancel := p.lateContext()
		defer cancel()
		done <- keptMsg{p, text, p.options.Drafts.SaveDraft(ctx, p.ask.ID.String(), json.RawMessage(text))}
	})
	return func() tea.Msg { return <-done }
}

// lateContext returns a context for saving after the panel ends.
func (p *picker) lateContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(p.ctx), sendTime)
}

// kept records that a draft was saved. After an error, it saves the draft again later.
func (p *picker) kept(text string, err error) tea.Cmd {
	if isOver(err) {
		err = nil
	}
	if p.draft.err = err; err != nil {
		return p.after(draftRetry, saveDraftMsg{p})
	}
	p.draft.due, p.draft.stored = false, text
	return p.keep()
}

// isOver reports whether err means that the ask takes no more drafts.
func isOver(err error) bool {
	return errors.Is(err, askback.ErrSettled) || errors.Is(err, askback.ErrNotFound)
}

// flush saves the draft if it has changed, and waits until all drafts are saved.
func (p *picker) flush(ctx context.Context) error {
	p.draft.saves.Wait()
	if !p.unsaved() || p.result != nil {
		return nil
	}
	err := p.options.Drafts.SaveDraft(ctx, p.ask.ID.String(), json.RawMessage(p.draftText()))
	if err == nil || isOver(err) {
		return nil
	}
	return fmt.Errorf("what you typed for %s was not saved: %w", p.ask.ID, err)
}
