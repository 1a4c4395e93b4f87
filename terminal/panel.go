package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// head draws the title of the frame, the agent, the recipients and a warning of hidden characters. If the ask
// has questions, head also draws the tags, the title and the context of the ask.
func (f *frame) head(a view.Ask) {
	title := "Askback · question"
	switch {
	case a.Confirmation != nil && a.Confirmation.Dangerous:
		title = "Askback · dangerous approval"
	case a.Confirmation != nil:
		title = "Askback · approval"
	case len(a.Questions) > 1:
		title = fmt.Sprintf("Askback · %d questions", len(a.Questions))
	}
	f.rule(title)
	f.asker(a)
	f.text("for", plain, a.Recipients())
	for _, line := range a.Routing(f.zone) {
		f.text("who", plain, line)
	}
	if a.Confirmation == nil {
		f.names("tags", plain, a.Tags, ", ")
		f.text("title", bold, a.Title)
	}
	if a.Hidden {
		f.message("Careful: this contains hidden characters. They are shown as marks or escapes: ⟨U+202E⟩, ␛, \\u202e.")
	}
	if a.Confirmation == nil {
		f.context(a)
	}
}

// asker draws the label of the agent with its parents, the name of its token if that differs, and the subject of
// its run.
func (f *frame) asker(a view.Ask) {
	parents := slices.Clone(a.Path)
	slices.Reverse(parents)
	f.names("agent", bold, append([]safetext.Text{a.Agent}, parents...), " < ")
	f.text("token", bold, a.Owner)
	f.text("run", plain, a.SessionTitle)
}

// context draws the context of an ask and the repairs of its call. Repairs are drawn like text of the agent,
// because an agent could imitate them.
func (f *frame) context(a view.Ask) {
	f.markdown("about", plain, a.Context)
	if a.Data.String() != "" {
		f.exact("about", plain, a.Data)
	}
	for _, person := range a.LeftOut {
		f.text("not to", plain, person)
	}
	for _, warning := range a.Warnings {
		f.text("fixed", plain, warning)
	}
}

// question draws a question with all its choices (F3).
func (f *frame) question(a view.Ask, i int, q view.Question) {
	f.questionText(a, i, q)
	if len(q.Choices) > 0 {
		f.row("", gutter, plain, "")
	}
	for _, c := range q.Choices {
		f.choice(c)
	}
	if q.OtherKey != "" {
		f.otherChoice(q.OtherKey)
	}
	f.text("*", plain, q.DefaultText)
}

// questionText draws the header and the text of a question.
func (f *frame) questionText(a view.Ask, i int, q view.Question) {
	if len(a.Questions) > 1 {
		f.rule(fmt.Sprintf("%d of %d", i+1, len(a.Questions)))
	} else {
		f.row("", gutter, plain, "")
	}
	f.text("", dim, q.Header)
	f.markdown("asks", bold, q.Text)
}

// choice draws a choice with its key.
func (f *frame) choice(c view.Choice) {
	key := c.Key
	if c.Default {
		key = "* " + key
	}
	f.text(key, plain, c.Label)
	f.indentedMarkdown("", dim, "  ", c.Description)
	f.preview("  ", c.Preview, c.PreviewMarkdown)
}

// otherChoice draws the key for an answer that is not an option. The row has no text of the agent.
func (f *frame) otherChoice(key string) {
	words := "Other: your own words"
	if f.margin == 0 {
		f.message(key + "   " + words)
		return
	}
	f.b.WriteString(strings.Repeat(" ", max(0, f.margin-1-len(key))) + f.withSGR(bold, key) + "   " + words + "\n")
	f.rows++
}

// call draws a tool call or an action: first exactly what is approved, and then, in a separate part, the text
// of the agent about it.
func (f *frame) call(a view.Ask) {
	c := a.Confirmation
	f.target(c)
	f.warnings(c.Warnings)
	if a.Earlier != nil {
		f.message(a.Earlier.Sentence("on " + view.FormatTime(a.Earlier.At, f.zone)).String())
	}
	f.arguments(c)
	switch {
	case c.Dangerous && c.Own:
		f.message("This is marked dangerous: you may not be able to undo it.")
	case c.Dangerous:
		f.message("This tool is marked dangerous: you may not be able to undo what it does.")
	}
	if !a.HasText() {
		return
	}
	f.rule("what the agent says about it")
	f.names("tags", plain, a.Tags, ", ")
	f.text("title", bold, a.Title)
	f.markdown("says", plain, c.Description)
	f.preview("", c.Preview, c.PreviewMarkdown)
	f.markdown("about", plain, c.Context)
	f.context(a)
}

// warnings draws warnings about the arguments, each with the names that it concerns.
func (f *frame) warnings(all []view.Warning) {
	for _, w := range all {
		f.message(w.Sentence)
		for _, about := range w.Names {
			f.exact("name", bold, about)
		}
	}
}

// target draws the action, or the tool of a call and, if it has one, its server.
func (f *frame) target(c *view.Confirmation) {
	if c.Own {
		f.exact("action", bold, c.Action)
		return
	}
	f.exact("tool", bold, c.Tool)
	if c.Server.String() != "" {
		f.exact("server", bold, c.Server)
	}
}

// arguments draws the arguments of a call or, for an action, its details.
func (f *frame) arguments(c *view.Confirmation) {
	switch {
	case c.Plan != nil:
		f.markdown("plan", plain, c.Plan.Document)
		if c.Plan.Others.String() != "" {
			f.exact("with", plain, c.Plan.Others)
		}
	case !c.Own:
		f.exact("with", plain, c.Lines)
	case c.Details.String() != "":
		f.exact("about", plain, c.Details)
	}
}

// asJSON draws the arguments of a call as JSON, unless they were drawn as JSON.
func (f *frame) asJSON(a view.Ask) {
	if c := a.Confirmation; c != nil && !c.Own && (c.Lines != c.Arguments || c.Plan != nil) {
		f.rule("the same arguments as JSON")
		f.exact("with", plain, c.Arguments)
	}
}

// ShowCall draws exactly the call that runs if it is approved, and the agent that asks. If o is nil, the
// output has no styles and 80 columns.
func ShowCall(out io.Writer, a view.Ask, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	f := newFrame(*o)
	f.asker(a)
	f.target(a.Confirmation)
	f.arguments(a.Confirmation)
	return f.writeTo(out)
}

// repeatTarget draws the tool or the action again below a long call.
func (f *frame) repeatTarget(c *view.Confirmation, rows int) {
	what, first := "This call", "the exact arguments come first"
	if c.Own {
		what, first = "This", "it begins there"
	}
	f.message(fmt.Sprintf("%s takes %d rows. Scroll up: %s. You decide about", what, rows, first))
	f.target(c)
}
