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
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// A Client is a program with its own ask tool. The input of the tool is converted to an
// ask, and the outcome to the tool's result.
type Client struct {
	Name       string
	Example    string // a valid input
	FieldNames string // pairs of names of a field: Askback's name and the client's name
	// ReadCall reads an input with one call.
	ReadCall func(Client, []byte) (Call, error)
	readAll  func(Client, []byte) (Input, error) // used instead of ReadCall, for an input with several calls
	typed    bool                                // also accepts a payload with a type; see readTyped
}

// MaxCalls is the maximum number of calls in one input. Each is an ask.
const MaxCalls = 10

// An Input is the input of a client's tool: one call, or several calls that wait together. Each call is a
// separate ask. The program continues when all asks are settled.
type Input struct {
	Calls []Call
	join  func([]any) any // joins the results of all calls; nil if the input has one call
}

// A Call is one input of a client's tool. It keeps the client's names of questions and
// options, which an ask does not have.
type Call struct {
	Request   askback.Request // normalized
	questions []ClientQuestion
	reply     ReplyFunc
}

// NewCall returns a call for the request r. questions have the client's names, and reply returns the result.
func NewCall(r askback.Request, questions []ClientQuestion, reply ReplyFunc) Call {
	return Call{Request: r, questions: questions, reply: reply}
}

// A ReplyFunc returns the result of a call for a settled ask. If the format cannot express
// the outcome, the error is an *[Unanswered].
type ReplyFunc func([]ClientAnswer, askback.Ask) (any, error)

// clients are the clients that are not coding agents, sorted by name. The clients of coding agents are in the
// agents' folders.
var clients = []Client{
	{Name: "a2a", Example: exampleA2A, ReadCall: readA2A},
	{Name: "ag-ui", Example: exampleAGUI, readAll: readAGUI},
	{
		Name: "crush", Example: exampleCrush, FieldNames: "options choices header label",
		ReadCall: QuestionsBy(crushQuestion, Answered(crushReply)),
	},
	{
		Name: "deepagents", Example: exampleDeepagents, FieldNames: "options choices label value",
		ReadCall: QuestionsBy(deepagentsQuestion, deepagentsReply), typed: true,
	},
	{Name: "flat", Example: exampleFlat, ReadCall: readFlat, typed: true},
	{Name: "langgraph", Example: exampleLanggraph, readAll: readLanggraph, typed: true},
}

// Clients returns the clients that are not coding agents, sorted by name.
func Clients() []Client { return slices.Clone(clients) }

// ExampleQuestions is the input with one question in the format of most clients.
const ExampleQuestions = `{"questions": [{"question": "Which database?", "header": "Database", "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]}]}`

// Ask parses an input of the client's tool with one call. The error is a *[Mistake].
func (c Client) Ask(raw []byte) (Call, error) {
	in, err := c.Read(raw)
	if err == nil && len(in.Calls) != 1 {
		err = c.mistake(askback.Invalid{{Detail: fmt.Sprintf("%d calls in one input", len(in.Calls)), Fix: "send one"}})
	}
	if err != nil {
		return Call{}, err
	}
	return in.Calls[0], nil
}

// Read parses the input of the client's tool. The error is a *[Mistake].
func (c Client) Read(raw []byte) (Input, error) {
	var in Input
	var err error
	known := false
	if c.typed {
		var call Call
		call, known, err = readTyped(raw)
		in = Input{Calls: []Call{call}}
	}
	switch {
	case known:
	case c.readAll != nil:
		in, err = c.readAll(c, raw)
	default:
		in, err = only(c.ReadCall(c, raw))
	}
	if err != nil {
		if m, ok := errors.AsType[*Mistake](err); ok {
			return Input{}, m
		}
		return Input{}, c.mistake(err)
	}
	return in, nil
}

// only returns the input with the call, and err.
func only(call Call, err error) (Input, error) { return Input{Calls: []Call{call}}, err }

// Result returns the outcomes of asks in the format of the client's tool. asks are the asks of the calls, in
// the same order. If an ask has no outcome, or the format cannot express an outcome, the error is an
// *[Unanswered], and no approval may be used.
func (in Input) Result(asks []askback.Ask) (json.RawMessage, error) {
	if len(asks) != len(in.Calls) {
		return nil, errors.New("these asks were not made by this input")
	}
	all := make([]any, len(asks))
	for i, call := range in.Calls {
		one, err := call.result(asks[i])
		if err != nil {
			return nil, err
		}
		all[i] = one
	}
	if in.join == nil {
		return jcs.Marshal(all[0])
	}
	return jcs.Marshal(in.join(all))
}

// Result returns the outcome of ask in the format of the client's tool. If ask has no outcome, or the format
// cannot express the outcome, the error is an *[Unanswered]. If ask was made by another call, Result returns
// an error.
func (c Call) Result(ask askback.Ask) (json.RawMessage, error) {
	return Input{Calls: []Call{c}}.Result([]askback.Ask{ask})
}

func (c Call) result(ask askback.Ask) (any, error) {
	if !c.matches(ask) {
		return nil, errors.New("this ask was not made by this call")
	}
	if !ask.Settled() {
		return nil, unanswered(ask)
	}
	return c.reply(c.answers(ask), ask)
}

// matches reports whether ask has the questions or the confirmation of this call. Answers get
// the client's names of questions by position, so the answers of another ask would get wrong
// names.
func (c Call) matches(ask askback.Ask) bool {
	if own := c.Request.Confirmation; own != nil {
		return ask.Confirmation != nil && ask.Confirmation.ToolName == own.ToolName &&
			bytes.Equal(ask.Confirmation.Input, own.Input)
	}
	return slices.EqualFunc(c.Request.Questions, ask.Questions,
		func(a, b askback.Question) bool { return a.ID == b.ID && a.Text == b.Text })
}

// A Mistake is the error for invalid input of a client's tool. Its text is for the model. It has at most 400
// characters: the position, the expected value, and an example in the client's format.
type Mistake struct {
	text string
	err  error
}

// NewMistake returns the error with a text for the model and a cause.
func NewMistake(text string, cause error) *Mistake { return &Mistake{text, cause} }

// Error returns the text for the model.
func (m *Mistake) Error() string { return m.text }

// Unwrap returns the cause, such as an [askback.Invalid] or a [jcs.SyntaxError].
func (m *Mistake) Unwrap() error { return m.err }

func (c Client) mistake(err error) *Mistake {
	example := " Example: " + c.Example
	room := decode.MaxCorrection - utf8.RuneCountInString(example) - 1
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok {
		return &Mistake{truncate("Not JSON: "+err.Error(), room) + "." + example, err}
	}
	bad = slices.Clone(bad)
	for i, p := range bad {
		bad[i].Pointer = c.pointer(p.Pointer)
		if strings.ContainsAny(p.Fix, `{"`) {
			bad[i].Fix = "" // the example shows JSON better
		}
	}
	return &Mistake{truncate(bad.Error(), room) + "." + example, bad}
}

// pointer returns a JSON pointer with Askback's names of fields replaced by the client's
// names.
func (c Client) pointer(at string) string {
	words := strings.Fields(c.FieldNames)
	parts := strings.Split(at, "/")
	for i, part := range parts {
		if n := slices.Index(words, part); n >= 0 && n%2 == 0 {
			parts[i] = words[n+1]
		}
	}
	return strings.Join(parts, "/")
}

func truncate(s string, limit int) string {
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// An Unanswered is the error for an outcome that the client's format cannot express. Its text for the model
// states the reason, and that this is not consent.
type Unanswered struct {
	Status askback.Status
	text   string
}

// Error returns the text for the model.
func (u *Unanswered) Error() string { return u.text }

func unanswered(ask askback.Ask) *Unanswered {
	return &Unanswered{ask.Status, outcometext.NoAnswer(ask)}
}

// otherArguments returns the error for an approval of arguments that the client cannot run.
func otherArguments(ask askback.Ask) *Unanswered {
	const notConsent = " This is not consent to the arguments that you sent."
	return &Unanswered{ask.Status, outcometext.OtherArguments(ask) + notConsent}
}

// Quoted returns s as a JSON string, so that no character of s can end the quotation.
func Quoted(s string) string {
	b, _ := jcs.Marshal(s) // a string can always be encoded
	return string(b)
}

// QuestionsBy returns a function that reads an object with "questions" in the client's format.
// The function calls one for each question.
func QuestionsBy(one func(*Reader, Node) ClientQuestion, reply ReplyFunc) func(Client, []byte) (Call, error) {
	return func(c Client, raw []byte) (Call, error) {
		v, err := jcs.Parse(raw)
		if err != nil {
			return Call{}, err
		}
		r := &Reader{reader: &reader{}}
		call := Call{reply: reply}
		seen := false
		r.Fields(r.unpack(Node{Value: v}), map[string]func(Node){
			"questions": func(n Node) {
				seen = true
				r.elements(n, func(n Node) { call.questions = append(call.questions, one(r, n)) })
			},
			"delivery":         r.waitOnly,
			"isBlocking":       r.ignored("only a person or the deadline ends an ask"),
			"autoResolutionMs": r.ignored("only a person or the deadline ends an ask"),
			// A client that shows one question after the other has a form with these fields.
			"title": r.Text(&call.Request.Title), "confirm_title": r.Text(&call.Request.Title),
			"confirm_description": r.ignored("the form is sent as a whole"),
		})
		if !seen {
			r.Problem("/questions", "questions is missing", "send one to four")
		}
		return call.finish(r)
	}
}

// finish returns the call with its request normalized, or the problems of r. It adds a problem for a question
// with a wrong number of options. It also adds a problem for two questions with the same key, because the
// result could contain only one of the answers.
func (c Call) finish(r *Reader) (Call, error) {
	for i, a := range c.questions {
		for j, before := range c.questions[:i] {
			if a.Key != "" && a.Key == before.Key {
				r.Problem(fmt.Sprintf("/questions/%d/%s", i, a.KeyField), fmt.Sprintf("questions %d and %d have the "+
					"same value, so their answers would be ambiguous", j+1, i+1), "use a different value for each")
			}
		}
		c.Request.Questions = append(c.Request.Questions, a.Question)
		if n := len(a.Options); n == 1 || n > decode.MaxToolOptions {
			r.Problem(fmt.Sprintf("/questions/%d/options", i),
				fmt.Sprintf("a question needs %d to %d options, or none for free text; this one has %d",
					limits.MinOptions, decode.MaxToolOptions, n), "")
		}
	}
	if err := r.err(); err != nil {
		return Call{}, err
	}
	c.Request.Warnings = r.warnings
	normal, err := c.Request.Normalize()
	c.Request = normal
	return c, err
}
