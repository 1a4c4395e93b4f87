package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleRespond = `{"answers": {"Which database?": "SQLite"}}`

// Respond parses the body of POST /conversations/{id}/respond as an answer to ask: {"answers":
// {"<question>": "<label>"}, "annotations": {"<question>": {"notes", "preview"}}}. A question
// is named by its text or its id.
func Respond(raw []byte, ask askback.Ask) (askback.Answer, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.Answer{}, err
	}
	f := newForm(r, ask)
	answers := false
	r.fields(n, exampleRespond, map[string]func(Node){
		"answers": func(n Node) {
			answers = true
			f.readAnswers(n)
		},
		"annotations": f.readAnnotations,
	})
	if !answers && r.err() == nil {
		r.Problem("/answers", "answers is missing", exampleRespond)
	}
	if answers && !f.invalid {
		f.checkAnswered()
	}
	f.checkPreviews()
	if err := r.err(); err != nil {
		return askback.Answer{}, err
	}
	return r.normalize(f.answer(ask), ask, f.pointer)
}

// A form holds the questions of an ask, and the input for each question.
type form struct {
	*reader
	questions []askback.Question
	given     []entry
	invalid   bool // the answers are not an object
}

// An entry is the input for one question.
type entry struct {
	at      string // the pointer of the answer, or "" without an answer
	invalid bool   // a problem was added for the answer
	values  []string
	notes   string
	notesAt string
	preview string
}

func newForm(r *reader, ask askback.Ask) *form {
	questions := ask.Form()
	return &form{reader: r, questions: questions, given: make([]entry, len(questions))}
}

// find returns the index of the question with the given text or, without such a question, with the given id.
// If there is no such question, it adds a problem.
func (f *form) find(name, at string) (i int, ok bool) {
	i = slices.IndexFunc(f.questions, func(q askback.Question) bool { return q.Text == name })
	if i < 0 {
		i = slices.IndexFunc(f.questions, func(q askback.Question) bool { return q.ID == name })
	}
	if i < 0 {
		f.Problem(at, "unknown question", "send the complete text of a question, or its id: "+f.ids())
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

func (f *form) readAnswers(n Node) {
	f.invalid = n.Kind != jcs.Object
	f.members(n, exampleRespond, func(name string, n Node) {
		i, ok := f.find(name, n.Pointer)
		switch {
		case !ok:
		case f.given[i].at != "":
			f.Problem(n.Pointer, "this question is answered more than once", "answer it once")
		default:
			f.given[i].at = n.Pointer
			f.readAnswer(n, i)
		}
	})
}

// readAnswer reads a string, a list of strings, or null for no answer. Only a string is
// split at commas.
func (f *form) readAnswer(n Node, i int) {
	q, e := f.questions[i], &f.given[i]
	before := len(f.problems)
	switch n.Kind {
	case jcs.Null:
	case jcs.String:
		e.values = choices(q, n.Text())
	case jcs.Array:
		e.values = f.readList(n, q)
	default:
		f.require(n, jcs.String, "a label, or a list of labels")
	}
	e.invalid = len(f.problems) > before
}

func (f *form) readList(n Node, q askback.Question) (out []string) {
	if len(n.Elements()) > 1 && !q.MultiSelect {
		f.Problem(n.Pointer, "this question allows only one answer", "choose one")
		return nil
	}
	for j, v := range n.Elements() {
		var s string
		f.Text(&s)(Node{v, fmt.Sprintf("%s/%d", n.Pointer, j)})
		out = append(out, labelOf(q, s))
	}
	return out
}

func (f *form) readAnnotations(n Node) {
	f.members(n, `{"Which database?": {"notes": "…"}}`, func(name string, n Node) {
		i, ok := f.find(name, n.Pointer)
		if !ok || n.Kind == jcs.Null {
			return
		}
		e := &f.given[i]
		if e.notesAt != "" {
			f.Problem(n.Pointer, "this question is annotated twice", "annotate it once")
		}
		e.notesAt = n.Pointer
		f.fields(n, `{"notes": "…"}`, map[string]func(Node){
			"notes":   f.Text(&e.notes),
			"preview": f.Text(&e.preview),
		})
	})
}

// checkAnswered adds a problem for each required question without an answer, unless the answer already has a
// problem.
func (f *form) checkAnswered() {
	for i, q := range f.questions {
		e := f.given[i]
		blank := !slices.ContainsFunc(e.values, func(s string) bool { return strings.TrimSpace(s) != "" })
		if blank && !q.Optional && !e.invalid {
			f.Problem(jcs.Pointer("/answers", q.Text), "this question is not answered",
				"choose a label, or write a text")
		}
	}
}

// checkPreviews adds a problem for each preview that differs from the preview of the chosen option. In this
// case, the person saw something else.
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
			f.Problem(e.notesAt+"/preview", "this is not the preview of the chosen option",
				"send the preview unchanged, or leave it out")
		}
	}
}

// answer returns the input as an answer to ask. It must be called only if there are no
// problems.
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

// decision returns the decision for a confirmation. The notes are added to its reason.
func (f *form) decision() askback.Answer {
	out := parseDecision(f.given[0].values[0])
	out.Reason = strings.TrimSpace(out.Reason + "\n" + f.given[0].notes)
	return out
}

// pointer returns the pointer of a field of the answer to question i, or of the whole answer
// if i is -1. The prefix is always empty.
func (f *form) pointer(i int, field string) (at, before string) {
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

// NamesApproval reports whether a body for [Respond] names everything that it approves. This
// is possible only for confirm_action, whose question is the action itself. The body must
// contain the complete action, and also its preview if the action has details. For any other
// tool, the question is only a description by the agent, so another call could have the same
// question.
func NamesApproval(raw []byte, ask askback.Ask) bool {
	c := ask.Confirmation
	if c == nil || c.ToolName != confirmAction || c.Server != "" {
		return false
	}
	_, n, err := parse(raw)
	input, invalid := jcs.Parse(c.Input)
	if err != nil || invalid != nil {
		return false
	}
	text := ask.Form()[0].Text
	answers, _ := n.Get("answers")
	_, answered := answers.Get(text)
	action, _ := input.Get("action")
	if !answered || action.Kind != jcs.String || text != "Confirm: "+action.Text() {
		return false
	}
	if len(input.Members()) == 1 {
		return true
	}
	annotations, _ := n.Get("annotations")
	about, _ := annotations.Get(text)
	preview, _ := about.Get("preview")
	return preview.Kind == jcs.String && preview.Text() == string(c.Input)
}
