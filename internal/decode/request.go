package decode

import (
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/canon"
)

const exampleRequest = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`

// Request reads the body of POST /asks (wire.md §2): questions, a confirmation,
// or the flat form of one question, and what goes with them.
func Request(raw []byte) (askback.Request, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.Request{}, err
	}
	var (
		out     askback.Request
		flat    flat
		context []byte
		wait    string
	)
	fields := map[string]func(node){
		"questions":    func(n node) { out.Questions = r.questions(n) },
		"confirmation": func(n node) { out.Confirmation = r.confirmation(n) },
		"session_id":   r.text(&out.SessionID),
		"session_key":  r.text(&out.SessionKey),
		"agent":        r.text(&out.Agent),
		"title":        r.text(&out.Title),
		"context":      r.raw(&context, `"what the person should know"`, canon.String, canon.Object),
		"to":           r.texts(&out.To),
		"quorum":       r.number(&out.Quorum),
		"tags":         r.texts(&out.Tags),
		"timeout":      r.duration(&out.Timeout),
		"deadline":     r.instant(&out.Deadline),
		"on_timeout":   r.text(&wait),
		"callback_url": r.text(&out.CallbackURL),
		"key":          r.text(&out.Key),
	}
	r.flatFields(&flat, fields)
	r.fields(n, exampleRequest, fields)
	out.Context, out.OnTimeout = context, askback.OnTimeout(wait)
	if flat.seen {
		if out.Questions != nil {
			r.wrong("/question", "an ask has questions, or one question in the flat form, not both", "put it among the questions")
		}
		out.Questions = []askback.Question{r.unflatten(flat)}
	}
	return out, r.err()
}

// flat is the form of one question without a list around it (C1, C2).
type flat struct {
	question     askback.Question
	descriptions []string
	described    bool
	standard     node
	seen         bool
}

func (r *reader) flatFields(f *flat, fields map[string]func(node)) {
	q := &f.question
	for name, read := range map[string]func(node){
		"question":     r.text(&q.Text),
		"header":       r.text(&q.Header),
		"options":      func(n node) { q.Options = r.options(n) },
		"multi_select": r.flag(&q.MultiSelect),
		"multiSelect":  r.flag(&q.MultiSelect),
		"allow_custom": r.not(&q.NoOther),
		"required":     r.not(&q.Optional),
		"default":      func(n node) { f.standard = n },
		"descriptions": func(n node) { f.described, f.descriptions = true, r.described(n) },
	} {
		fields[name] = func(n node) {
			f.seen = true
			read(n)
		}
	}
}

// described reads a list of strings in which null says nothing.
func (r *reader) described(n node) (out []string) {
	r.each(n, `["…"]`, func(n node) {
		var s string
		if n.Kind != canon.Null {
			r.text(&s)(n)
		}
		out = append(out, s)
	})
	return out
}

func (r *reader) unflatten(f flat) askback.Question {
	q := f.question
	if f.described && len(f.descriptions) != len(q.Options) {
		r.wrong("/descriptions", fmt.Sprintf("%d descriptions for %d options", len(f.descriptions), len(q.Options)),
			"describe each option, with null where there is nothing to say")
		return q
	}
	for i, d := range f.descriptions {
		if d != "" {
			q.Options[i].Description = d
		}
	}
	q.Default = r.standard(f.standard, q)
	return q
}

func (r *reader) questions(n node) []askback.Question {
	out := []askback.Question{}
	r.each(n, `[{"question": "Which database?"}]`, func(n node) { out = append(out, r.question(n)) })
	return out
}

func (r *reader) question(n node) askback.Question {
	var q askback.Question
	var standard node
	r.fields(n, `{"question": "Which database?"}`, map[string]func(node){
		"question":     r.text(&q.Text),
		"header":       r.text(&q.Header),
		"options":      func(n node) { q.Options = r.options(n) },
		"multiSelect":  r.flag(&q.MultiSelect),
		"multi_select": r.flag(&q.MultiSelect),
		"allow_custom": r.not(&q.NoOther),
		"required":     r.not(&q.Optional),
		"default":      func(n node) { standard = n },
	})
	q.Default = r.standard(standard, q)
	return q
}

// options reads labels, or objects with a label.
func (r *reader) options(n node) []askback.Option {
	out := []askback.Option{}
	r.each(n, `["PostgreSQL", "SQLite"]`, func(n node) {
		var o askback.Option
		if n.Kind == canon.String {
			o.Label = n.Text()
		} else {
			r.fields(n, `{"label": "SQLite"}`, map[string]func(node){
				"label":       r.text(&o.Label),
				"description": r.text(&o.Description),
				"preview":     r.text(&o.Preview),
			})
		}
		out = append(out, o)
	})
	return out
}

// standard reads a default: a label or text, the place of an option counted
// from 0, or a list of them.
func (r *reader) standard(n node, q askback.Question) []string {
	switch n.Kind {
	case canon.Missing:
		return nil
	case canon.Array:
		out := []string{}
		r.each(n, "", func(n node) { out = append(out, r.standard(n, q)...) })
		return out
	case canon.Number:
		i, ok := n.Int()
		if !ok || i < 0 || i >= int64(len(q.Options)) {
			r.wrong(n.at, fmt.Sprintf("there is no option %s; they are counted from 0", n.Text()), "name the label instead")
			return nil
		}
		return []string{q.Options[i].Label}
	}
	var s string
	r.text(&s)(n)
	return []string{s}
}

func (r *reader) confirmation(n node) *askback.Confirmation {
	var c askback.Confirmation
	var input []byte
	r.fields(n, `{"tool_name": "delete_files", "input": {"paths": ["/tmp/x"]}}`, map[string]func(node){
		"tool_name":     r.text(&c.ToolName),
		"server":        r.text(&c.Server),
		"description":   r.text(&c.Description),
		"input":         r.raw(&input, `{"paths": ["/tmp/x"]}`, canon.Object),
		"input_preview": r.text(&c.InputPreview),
		"tier":          r.text(&c.Tier),
		"dangerous":     r.flag(&c.Dangerous),
		"context":       r.text(&c.Context),
	})
	c.Input = input
	return &c
}
