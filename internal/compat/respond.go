package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleRespond = `{"answers": {"Which database?": "SQLite"}}`

// Respond reads the body of POST /conversations/{id}/respond for this
// ask: {"answers": {"<question>": "<label>"}, "annotations": {"<question>":
// {"notes", "preview"}}}. A question is named by its text, or by its id.
func Respond(raw []byte, ask askback.Ask) (askback.Answer, error) {
	b, n, err := parse(raw)
	if err != nil {
		return askback.Answer{}, err
	}
	f := newForm(b, ask)
	answers := false
	b.fields(n, exampleRespond, map[string]func(node){
		"answers": func(n node) {
			answers = true
			f.readAnswers(n)
		},
		"annotations": f.readAnnotations,
	})
	if !answers && b.err() == nil {
		b.wrong("/answers", "there are no answers", exampleRespond)
	}
	if answers && !f.refused {
		f.checkAnswered()
	}
	f.checkPreviews()
	if err := b.err(); err != nil {
		return askback.Answer{}, err
	}
	return b.check(f.answer(ask), ask, f.place)
}

// form is the questions of an ask with what was given for each.
type form struct {
	*body
	questions []askback.Question
	given     []entry
	refused   bool // the answers are no object, and that is said
}

// entry is what was given for one question.
type entry struct {
	at      string // where its answer stood, "" if it has none
	refused bool   // it is no answer, and that is said
	values  []string
	notes   string
	notesAt string
	preview string
}

func newForm(b *body, ask askback.Ask) *form {
	questions := ask.Form()
	return &form{body: b, questions: questions, given: make([]entry, len(questions))}
}

// find returns the question of this name. A text wins over an id.
func (f *form) find(name, at string) (i int, ok bool) {
	i = slices.IndexFunc(f.questions, func(q askback.Question) bool { return q.Text == name })
	if i < 0 {
		i = slices.IndexFunc(f.questions, func(q askback.Question) bool { return q.ID == name })
	}
	if i < 0 {
		f.wrong(at, "there is no such question", "name one by its whole text, or as "+f.ids())
	}
	return i, i >= 0
}

func (f *form) ids() string {
	var out []string
	for _, q := range f.questions {
		out = append(out, q.ID)
	}
	return strings.Join(out, ", ")
}

func (f *form) readAnswers(n node) {
	f.refused = n.Kind != jcs.Object
	f.members(n, exampleRespond, func(name string, n node) {
		i, ok := f.find(name, n.at)
		switch {
		case !ok:
		case f.given[i].at != "":
			f.wrong(n.at, "this question is answered more than once", "answer it once")
		default:
			f.given[i].at = n.at
			f.readAnswer(n, i)
		}
	})
}

// readAnswer reads a text, a list of them, or null for no answer. Only a text is
// cut at commas: in a list the client has done so itself.
func (f *form) readAnswer(n node, i int) {
	q, e := f.questions[i], &f.given[i]
	before := len(f.bad)
	switch n.Kind {
	case jcs.Null:
	case jcs.String:
		e.values = choices(q, n.Text())
	case jcs.Array:
		e.values = f.readList(n, q)
	default:
		f.is(n, jcs.String, "a label, or a list of labels")
	}
	e.refused = len(f.bad) > before
}

func (f *form) readList(n node, q askback.Question) (out []string) {
	if len(n.Elements()) > 1 && !q.MultiSelect {
		f.wrong(n.at, "this question has one answer", "choose one")
		return nil
	}
	for j, v := range n.Elements() {
		var s string
		f.text(&s)(node{v, fmt.Sprintf("%s/%d", n.at, j)})
		out = append(out, label(q, s))
	}
	return out
}

func (f *form) readAnnotations(n node) {
	f.members(n, `{"Which database?": {"notes": "…"}}`, func(name string, n node) {
		i, ok := f.find(name, n.at)
		if !ok || n.Kind == jcs.Null {
			return
		}
		e := &f.given[i]
		if e.notesAt != "" {
			f.wrong(n.at, "this question is annotated twice", "annotate it once")
		}
		e.notesAt = n.at
		f.fields(n, `{"notes": "…"}`, map[string]func(node){
			"notes":   f.text(&e.notes),
			"preview": f.text(&e.preview),
		})
	})
}

// checkAnswered names each question that has no answer and needs one.
func (f *form) checkAnswered() {
	for i, q := range f.questions {
		e := f.given[i]
		blank := !slices.ContainsFunc(e.values, func(s string) bool { return strings.TrimSpace(s) != "" })
		if blank && !q.Optional && !e.refused {
			f.wrong(jcs.Pointer("/answers", q.Text), "this question is not answered", "choose a label, or write a text")
		}
	}
}

// checkPreviews holds a preview to what was shown: a person who saw something
// else chose something else.
func (f *form) checkPreviews() {
	for i, q := range f.questions {
		e := f.given[i]
		if strings.TrimSpace(e.preview) == "" {
			continue
		}
		shown := slices.ContainsFunc(e.values, func(v string) bool {
			o, ok := q.Option(v)
			return ok && o.Preview == e.preview
		})
		if !shown {
			f.wrong(e.notesAt+"/preview", "this is not the preview of what was chosen", "send it as it was asked, or leave it out")
		}
	}
}

// answer puts the form together.
func (f *form) answer(ask askback.Ask) askback.Answer {
	if ask.Kind == askback.Confirm {
		return f.decision()
	}
	var out askback.Answer
	for i, q := range f.questions {
		e := f.given[i]
		out.Answers = append(out.Answers, askback.QuestionAnswer{ID: q.ID, Selected: e.values, Notes: e.notes})
	}
	return out
}

// decision is the form of a confirmation; the notes are the reason.
func (f *form) decision() askback.Answer {
	out := decide(f.given[0].values[0])
	out.Reason = strings.TrimSpace(out.Reason + "\n" + f.given[0].notes)
	return out
}

func (f *form) place(i int, field string) (at, before string) {
	switch {
	case i < 0 && field == "reason" && f.given[0].notesAt != "":
		return f.given[0].notesAt, ""
	case i < 0:
		return "/answers", ""
	case field == "notes":
		return f.given[i].notesAt + "/notes", ""
	}
	return f.given[i].at, ""
}

// NamesApproval reports whether the body of a respond names all that it would approve. It
// names a confirmation by what the agent says of it, so another call with the same words
// could have taken its place. Of confirm_action the words are all there is: the question in
// full is enough, and where it has details its preview as well, as it was shown.
func NamesApproval(raw []byte, ask askback.Ask) bool {
	c := ask.Confirmation
	if c == nil || c.ToolName != confirmAction || c.Server != "" {
		return false
	}
	_, n, err := parse(raw)
	if err != nil {
		return false
	}
	text := ask.Form()[0].Text
	if answers, ok := n.Get("answers"); !ok || !has(answers, text) {
		return false
	}
	input, err := jcs.Parse(c.Input)
	if err != nil {
		return false
	}
	action, ok := input.Get("action")
	if !ok || action.Kind != jcs.String || text != "Confirm: "+action.Text() {
		return false
	}
	if len(input.Members()) == 1 {
		return true
	}
	annotations, _ := n.Get("annotations")
	about, _ := annotations.Get(text)
	preview, ok := about.Get("preview")
	return ok && preview.Kind == jcs.String && preview.Text() == string(c.Input)
}

func has(v jcs.Value, name string) bool {
	_, ok := v.Get(name)
	return ok
}
