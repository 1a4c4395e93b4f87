package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

// A Client is a program with an ask tool of its own: what the tool is given is
// asked here, and what it returns is made of the outcome.
type Client struct {
	Name    string
	example string // an input that is accepted as it stands
	words   string // pairs: a field here, and what the client calls it
	read    func(Client, []byte) (Call, error)
	typed   bool // its agents interrupt themselves with a payload that has a type
}

// A Call is one input of a client's ask tool. It knows the client's own names
// of questions and options, which an ask does not keep.
type Call struct {
	Request askback.Request // normal
	asked   []asked
	reply   func([]said, askback.Ask) (any, error)
}

// clients are sorted by name.
var clients = []Client{
	{Name: "claude", example: exampleAsk, read: readClaude},
	{Name: "codex", example: exampleCodex, read: questionsBy(codexQuestion, codexReply)},
	{Name: "crush", example: exampleCrush, words: "options choices header label", read: questionsBy(crushQuestion, crushReply)},
	{Name: "deepagents", example: exampleDeepagents, words: "options choices label value", read: questionsBy(deepagentsQuestion, deepagentsReply), typed: true},
	{Name: "flat", example: exampleFlat, read: readFlat, typed: true},
	{Name: "gemini", example: exampleAsk, read: questionsBy(geminiQuestion, geminiReply)},
	{Name: "langgraph", example: exampleLanggraph, read: readLanggraph, typed: true},
	{Name: "opencode", example: exampleAsk, words: "multiSelect multiple", read: questionsBy(opencodeQuestion, opencodeReply)},
	{Name: "vscode", example: exampleVSCode, read: questionsBy(vscodeQuestion, vscodeReply)},
}

const exampleAsk = `{"questions": [{"question": "Which database?", "header": "Database", "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]}]}`

// Clients returns the names of the clients, sorted.
func Clients() []string {
	var out []string
	for _, c := range clients {
		out = append(out, c.Name)
	}
	return out
}

// ClientNamed returns the client of this name.
func ClientNamed(name string) (Client, bool) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return clients[i], true
}

// Ask reads what the client's tool was given. The error is a *[Mistake].
func (c Client) Ask(raw []byte) (Call, error) {
	var call Call
	var err error
	known := false
	if c.typed {
		call, known, err = readInterrupt(raw)
	}
	if !known {
		call, err = c.read(c, raw)
	}
	if err != nil {
		if m, ok := errors.AsType[*Mistake](err); ok {
			return Call{}, m
		}
		return Call{}, c.mistake(err)
	}
	return call, nil
}

// Result words the outcome of an ask as the client's tool would: exactly its
// shape, with everything that was said. Where the client has no words for an
// outcome, or there is none yet, the error is an *[Unanswered].
func (c Call) Result(ask askback.Ask) (json.RawMessage, error) {
	if !c.made(ask) {
		return nil, errors.New("this ask was not made by this call")
	}
	if !ask.Settled() {
		return nil, unanswered(ask)
	}
	out, err := c.reply(c.said(ask), ask)
	if err != nil {
		return nil, err
	}
	return marshal(out)
}

// made says whether an ask is the one of this call: names are looked up by
// position, and an answer must never stand under another question's name.
func (c Call) made(ask askback.Ask) bool {
	if mine := c.Request.Confirmation; mine != nil {
		return ask.Confirmation != nil && ask.Confirmation.ToolName == mine.ToolName && bytes.Equal(ask.Confirmation.Input, mine.Input)
	}
	return slices.EqualFunc(c.Request.Questions, ask.Questions, func(a, b askback.Question) bool { return a.ID == b.ID && a.Text == b.Text })
}

// A Mistake is what was wrong with the input of a client's tool. Its text is
// meant for the model: at most 400 characters, with the place, what was
// expected, and an example in the client's own shape.
type Mistake struct {
	text string
	err  error
}

// Error returns the text for the model.
func (m *Mistake) Error() string { return m.text }

// Unwrap returns the askback.Invalid, or the syntax error, behind the text.
func (m *Mistake) Unwrap() error { return m.err }

func (c Client) mistake(err error) *Mistake {
	example := " Example: " + c.example
	room := decode.MaxCorrection - utf8.RuneCountInString(example) - 1
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok {
		return &Mistake{shorten("Not JSON: "+err.Error(), room) + "." + example, err}
	}
	bad = slices.Clone(bad)
	for i, p := range bad {
		bad[i].Pointer = c.pointer(p.Pointer)
		if strings.ContainsAny(p.Fix, `{"`) {
			bad[i].Fix = "" // the example shows it better
		}
	}
	return &Mistake{shorten(bad.Error(), room) + "." + example, bad}
}

// pointer says where a problem stands in the client's own words.
func (c Client) pointer(at string) string {
	words := strings.Fields(c.words)
	parts := strings.Split(at, "/")
	for i, part := range parts {
		if n := slices.Index(words, part); n >= 0 && n%2 == 0 {
			parts[i] = words[n+1]
		}
	}
	return strings.Join(parts, "/")
}

func shorten(s string, limit int) string {
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// An Unanswered is the error for an outcome that a client has no words for. Its
// text tells a model what happened, and that it is not consent.
type Unanswered struct {
	Status askback.Status
	text   string
}

// Error returns the text for the model.
func (u *Unanswered) Error() string { return u.text }

func unanswered(ask askback.Ask) *Unanswered {
	said := map[askback.Status]string{
		askback.Pending:   "Nobody has answered yet.",
		askback.Declined:  "The person declined to answer.",
		askback.Cancelled: "This was withdrawn before anybody answered.",
		askback.Expired:   "Nobody answered in time.",
	}[ask.Status]
	if o := ask.Outcome; o != nil && o.Reason != "" && o.Actor.Kind != askback.ActorTimer {
		said += " Reason: " + quoted(o.Reason) + "."
	}
	return &Unanswered{ask.Status, said + " This is not consent."}
}

// quoted makes a string of JSON of a text: nothing in it ends it.
func quoted(s string) string {
	b, err := marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// questionsBy reads an object whose "questions" are in the client's words, one
// by one. Each reader says how its client calls what it read.
func questionsBy(one func(*input, node) asked, reply func([]said, askback.Ask) (any, error)) func(Client, []byte) (Call, error) {
	return func(c Client, raw []byte) (Call, error) {
		v, err := jcs.Parse(raw)
		if err != nil {
			return Call{}, err
		}
		in := &input{body: &body{}}
		call := Call{reply: reply}
		seen := false
		in.fields(in.unpack(node{Value: v}), map[string]func(node){
			"questions": func(n node) {
				seen = true
				in.list(n, func(n node) { call.asked = append(call.asked, one(in, n)) })
			},
			"delivery":         in.waits,
			"isBlocking":       in.dropped("nothing but a person or the deadline ends an ask"),
			"autoResolutionMs": in.dropped("nothing but a person or the deadline ends an ask"),
			// A form of several questions is sent as a whole here.
			"title": in.text(&call.Request.Title), "confirm_title": in.text(&call.Request.Title),
			"confirm_description": in.dropped("the form is sent as a whole"),
		})
		if !seen {
			in.wrong("/questions", "there are no questions", "send one to four")
		}
		return call.finish(in)
	}
}

// finish makes the request normal. Two questions of one name are refused: the
// second answer would take the place of the first.
func (c Call) finish(in *input) (Call, error) {
	for i, a := range c.asked {
		for j, before := range c.asked[:i] {
			if a.key != "" && a.key == before.key {
				in.wrong(fmt.Sprintf("/questions/%d/%s", i, a.keyField), fmt.Sprintf("this is repeated; questions %d and %d could not be told apart", j+1, i+1), "give each its own")
			}
		}
		c.Request.Questions = append(c.Request.Questions, a.Question)
		if n := len(a.Options); n == 1 || n > decode.MaxToolOptions {
			in.wrong(fmt.Sprintf("/questions/%d/options", i), fmt.Sprintf("a question has %d to %d options, or none for free text, not %d",
				askback.MinOptions, decode.MaxToolOptions, n), "")
		}
	}
	if err := in.err(); err != nil {
		return Call{}, err
	}
	c.Request.Warnings = in.mended
	normal, err := c.Request.Normalize()
	c.Request = normal
	return c, err
}
