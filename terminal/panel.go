package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// head draws who asks whom, and what belongs to the whole ask.
func (f *frame) head(a view.Ask) {
	title := "Askback · question"
	switch {
	case a.Confirmation != nil:
		title = "Askback · approval"
	case len(a.Questions) > 1:
		title = fmt.Sprintf("Askback · %d questions", len(a.Questions))
	}
	f.rule(title)
	f.asker(a)
	f.names("for", plain, a.To, ", ")
	if a.Confirmation == nil {
		f.names("tags", plain, a.Tags, ", ")
		f.text("title", bold, a.Title)
	}
	if a.Hidden {
		f.say("Careful: there are hidden characters in this. They are drawn as marks or escapes: ⟨U+202E⟩, ␛, \\u202e.")
	}
	if a.Confirmation == nil {
		f.context(a)
	}
}

// asker draws who asks: the label with its parents, and the token where that is another.
func (f *frame) asker(a view.Ask) {
	parents := slices.Clone(a.Path)
	slices.Reverse(parents)
	f.names("agent", bold, append([]safetext.Text{a.Agent}, parents...), " < ")
	f.text("token", bold, a.Owner)
}

// context draws what the agent wants known beside it, and where its call was mended. An
// agent can write that itself, so it stands in its frame.
func (f *frame) context(a view.Ask) {
	f.prose("about", plain, a.Context)
	if a.Data.String() != "" {
		f.exact("about", plain, a.Data)
	}
	for _, mended := range a.Warnings {
		f.text("mended", plain, mended)
	}
}

// question draws one question with everything that can be chosen (F3).
func (f *frame) question(a view.Ask, i int, q view.Question) {
	if len(a.Questions) > 1 {
		f.rule(fmt.Sprintf("%d of %d", i+1, len(a.Questions)))
	} else {
		f.row("", gutter, plain, "")
	}
	f.text("", dim, q.Header)
	f.prose("asks", bold, q.Text)
	if len(q.Choices) > 0 {
		f.row("", gutter, plain, "")
	}
	for _, c := range q.Choices {
		f.choice(c)
	}
	if q.OtherKey != "" {
		f.other(q.OtherKey)
	}
	f.text("*", plain, q.DefaultText)
}

func (f *frame) choice(c view.Choice) {
	key := c.Key
	if c.Default {
		key = "* " + key
	}
	f.text(key, plain, c.Label)
	f.nested("", dim, "  ", c.Description)
	f.shown(c.Preview)
}

// other draws the key for words of one's own. Nothing on this row is the agent's.
func (f *frame) other(key string) {
	words := "Other: your own words"
	if f.margin == 0 {
		f.say(key + "   " + words)
		return
	}
	f.b.WriteString(strings.Repeat(" ", max(0, f.margin-1-len(key))) + f.look(bold, key) + "   " + words + "\n")
	f.rows++
}

// call draws a tool call: exactly what will run, then, fenced off, what the agent says
// about it.
func (f *frame) call(a view.Ask) {
	c := a.Confirmation
	f.target(c)
	f.warnings(c.Warnings)
	f.exact("with", plain, c.Arguments)
	if c.Dangerous {
		f.say("This tool is marked dangerous: what it does may not be undone.")
	}
	if !a.AddsText() {
		return
	}
	f.rule("what the agent says about it")
	f.names("tags", plain, a.Tags, ", ")
	f.text("title", bold, a.Title)
	if !c.Repeated {
		f.prose("says", plain, c.Description)
	}
	if c.Preview.String() != "" {
		f.exact("shows", plain, c.Preview)
	}
	if !c.Repeated {
		f.prose("about", plain, c.Context)
	}
	f.context(a)
}

// warnings stand above the arguments they are about: below long ones they came too late.
func (f *frame) warnings(all []view.Warning) {
	for _, w := range all {
		f.say(w.Sentence)
		for _, about := range w.Names {
			f.exact("name", bold, about)
		}
	}
}

func (f *frame) target(c *view.Confirmation) {
	f.exact("tool", bold, c.Tool)
	if c.Server.String() != "" {
		f.exact("server", bold, c.Server)
	}
}

// again names the tool once more below a long call.
func (f *frame) again(c *view.Confirmation, rows int) {
	f.say(fmt.Sprintf("All of it takes %d rows. Scroll up: the exact arguments stand first. You decide about", rows))
	f.target(c)
}
