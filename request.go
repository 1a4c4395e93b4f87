package askback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/lookalike"
	"github.com/askback/askback/internal/wire/codec"
)

// A Request is an agent's request for answers, or for a confirmation.
type Request struct {
	Questions    []Question    `request:"questions,manual"`
	Confirmation *Confirmation `request:"confirmation"`

	// SessionID is the id of the session of the ask. SessionKey is the asker's own name for the session. If
	// both are empty, the ask gets a session of its own.
	SessionID  string          `request:"session_id"`
	SessionKey string          `request:"session_key"`
	Agent      string          `request:"agent"` // a label for people; "" is the asker's name
	Title      string          `request:"title"`
	Context    json.RawMessage `request:"context,manual"` // a JSON string or object, shown with the question
	// people, and groups after "@", who may answer; empty: every person
	To        []string `request:"to"`
	Quorum    int      `request:"quorum"` // how many people must approve a confirmation; 0 is 1
	StartedBy string   `request:"started_by"`
	Tags      []string `request:"tags"`
	// the time until the deadline; at most one of Timeout and Deadline is set
	Timeout   time.Duration `request:"timeout"`
	Deadline  time.Time     `request:"deadline"`
	OnTimeout OnTimeout     `request:"on_timeout"` // "" is OnTimeoutWait without a deadline, and else OnTimeoutFail
	// CallbackURL is the address of a program that receives the question and its outcome (docs/wire.md §8).
	// If it is "", the callback of the session is used, or else the callback in the server's settings.
	CallbackURL string `request:"callback_url"`
	// Key makes the request safe to repeat. While the ask is stored, a request
	// of the same asker with the same key returns the same ask.
	Key string `request:"key,header"`
	// Restarted reports that the asker's program was started again and repeats the request with this key. If
	// the ask is pending, people see that it is a repeat.
	Restarted bool `request:"restarted"`
	// TraceParent is the position of the ask in a trace, as in the header traceparent of W3C Trace Context,
	// or "". The client sends it in that header.
	TraceParent string `request:"-"`
	// Warnings are the repairs that were made to the tool call of a model (F15). Normalize adds a warning for
	// each part that it drops. They are part of the request because another program may decode the call
	// before it reaches the server.
	Warnings []Problem `request:"warnings,manual"`
}

// Normalize returns the canonical form of a request. Questions are numbered, long headers are truncated, JSON
// is compacted, and empty fields get their defaults. If a question has options and allows free text, an
// option or default "Other" is removed. If a question allows several answers, its previews are removed. Each
// removal adds a warning, up to 20 warnings. The error is an [Invalid] that lists every problem.
func (r Request) Normalize() (Request, error) {
	var bad problems
	switch {
	case r.Confirmation != nil && len(r.Questions) > 0:
		bad.add("/confirmation", "an ask has questions or a confirmation, not both", "make two asks")
	case r.Confirmation != nil:
		r.Confirmation = r.Confirmation.normalize(&bad)
	default:
		r.Questions = normalizeQuestions(r.Questions, &bad)
	}
	r.checkAddressing(&bad)
	r.checkTime(&bad)
	if r.Quorum == 0 {
		r.Quorum = 1
	}
	r.checkQuorum(&bad)
	checkCallback(&bad, r.CallbackURL)
	if r.TraceParent != "" && !ValidTraceParent(r.TraceParent) {
		bad.add("/traceparent", "has the wrong format",
			"leave it out, or send 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	}
	r.checkWarnings(&bad)
	for _, p := range bad.dropped {
		if len(r.Warnings) < limits.MaxProblems {
			r.Warnings = append(slices.Clip(r.Warnings), p)
		}
	}
	return r, bad.err()
}

// checkQuorum checks the number of people who must approve.
func (r *Request) checkQuorum(bad *problems) {
	switch {
	case r.Quorum < 1 || r.Quorum > limits.MaxQuorum:
		bad.add("/quorum", fmt.Sprintf("must be a number from 1 to %d", limits.MaxQuorum), `"quorum": 2`)
	case r.Quorum > 1 && r.Confirmation == nil:
		bad.add("/quorum", "only a confirmation can need several people; the first answer to a question counts",
			"leave quorum out")
	}
}

// ValidTraceParent reports whether a text is a traceparent of version 00 (W3C Trace Context,
// section 3.2).
func ValidTraceParent(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "00" {
		return false
	}
	for i, digits := range []int{2, 32, 16, 2} {
		if len(parts[i]) != digits || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

// checkWarnings checks the number and the lengths of the warnings.
func (r *Request) checkWarnings(bad *problems) {
	if len(r.Warnings) > limits.MaxProblems {
		bad.add("/warnings",
			fmt.Sprintf("%d warnings are too many; at most %d are allowed", len(r.Warnings), limits.MaxProblems),
			"leave them out")
		return
	}
	for i, p := range r.Warnings {
		bad.enter("/warnings", i)
		checkText(bad, "/pointer", p.Pointer, limits.MaxName)
		checkText(bad, "/detail", p.Detail, limits.MaxDescription)
		checkText(bad, "/fix", p.Fix, limits.MaxDescription)
		bad.leave()
	}
}

// checkAddressing checks the session, the agent, the key, the starter, the people addressed, the title, the
// tags and the context. It removes repeated names and tags, compacts the context, and sets a context without
// members to nil.
func (r *Request) checkAddressing(bad *problems) {
	if r.SessionID != "" && r.SessionKey != "" {
		bad.add("/session_key", "session_id and session_key cannot be combined", "send only one of them")
	}
	checkText(bad, "/session_id", r.SessionID, limits.MaxKey)
	checkName(bad, "/session_key", r.SessionKey, limits.MaxKey)
	checkName(bad, "/agent", r.Agent, limits.MaxName)
	checkText(bad, "/title", r.Title, limits.MaxName)
	checkName(bad, "/key", r.Key, limits.MaxKey)
	checkName(bad, "/started_by", r.StartedBy, limits.MaxName)
	r.To = checkTo(bad, r.To)
	r.Tags = checkNames(bad, "/tags", r.Tags)
	var ok bool
	switch r.Context, ok = compact(r.Context); {
	case len(r.Context) == 0:
	case string(r.Context) == "{}":
		r.Context = nil // an object without members means that the ask has no context
	case !ok || r.Context[0] != '"' && r.Context[0] != '{':
		bad.add("/context", "must be a string or an object", `"context": "what the person should know"`)
	case !codec.Valid(r.Context):
		bad.add("/context", "a name is repeated in the context", "send each name once")
	case len(r.Context) <= limits.MaxContext/len(`\u2028`): // no character is longer in JSON
	default:
		if n := contextLength(r.Context); n > limits.MaxContext {
			bad.add("/context", tooLong(n, limits.MaxContext), "shorten it")
		}
	}
}

// contextLength returns the number of characters of a JSON string, or of the compact form of a JSON object.
// The escaping of characters does not change the length.
func contextLength(raw json.RawMessage) int {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return utf8.RuneCountInString(text)
	}
	var value any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // keep the digits as sent
	if in.Decode(&value) == nil {
		if plain, err := marshal(value); err == nil {
			raw = plain
		}
	}
	return utf8.RuneCount(raw)
}

func (r *Request) checkTime(bad *problems) {
	if r.Timeout < 0 || r.Timeout > limits.MaxTimeout {
		bad.add("/timeout", "must be positive and shorter than ten years", `"timeout": "10m"`)
	}
	if r.Deadline.UTC().Year() > 9999 {
		bad.add("/deadline", "must be before the year 10000", `"deadline": "2030-01-31T18:00:00Z"`)
	}
	if r.Timeout != 0 && !r.Deadline.IsZero() {
		bad.add("/deadline", "an ask has a timeout or a deadline, not both", "leave one out")
	}
	limited := r.Timeout != 0 || !r.Deadline.IsZero()
	if r.OnTimeout == "" {
		r.OnTimeout = OnTimeoutWait
		if limited {
			r.OnTimeout = OnTimeoutFail
		}
	}
	switch r.OnTimeout {
	case OnTimeoutWait, OnTimeoutFail, OnTimeoutDecline:
	case OnTimeoutDefault:
		r.checkDefaults(bad)
	default:
		bad.add("/on_timeout", "must be wait, fail, default or decline", `"on_timeout": "wait"`)
	}
	if !limited && r.OnTimeout != OnTimeoutWait {
		bad.add("/on_timeout", "on_timeout needs a timeout or a deadline", `add "timeout": "10m"`)
	}
}

// checkDefaults requires a default for each required question. It rejects defaults for a confirmation,
// because a deadline never approves (F4, F5).
func (r *Request) checkDefaults(bad *problems) {
	if r.Confirmation != nil {
		bad.add("/on_timeout", "a confirmation is never approved by a timeout", `"on_timeout": "decline"`)
	}
	for i, q := range r.Questions {
		if !q.Optional && len(q.Default) == 0 {
			bad.add(fmt.Sprintf("/questions/%d/default", i),
				"on_timeout default needs a default on every required question", "add a default")
		}
	}
}

// questionIDs holds the ids of the questions of an ask, in order.
var questionIDs = [limits.MaxQuestions]string{"q1", "q2", "q3", "q4"}

func normalizeQuestions(questions []Question, bad *problems) []Question {
	if n := len(questions); n == 0 || n > limits.MaxQuestions {
		bad.add("/questions", fmt.Sprintf("an ask needs 1 to %d questions; this one has %d", limits.MaxQuestions, n),
			`"questions": [{"question": "Which one?", "options": [{"label": "A"}, {"label": "B"}]}]`)
		return nil
	}
	out := make([]Question, len(questions))
	for i, q := range questions {
		bad.enter("/questions", i)
		out[i] = q.normalize(bad)
		out[i].ID = questionIDs[i]
		if slices.ContainsFunc(out[:i], func(earlier Question) bool { return earlier.Text == q.Text }) {
			bad.add("/question", "this question is repeated", "ask it once")
		}
		bad.leave()
	}
	return out
}

func (q Question) normalize(bad *problems) Question {
	checkRequired(bad, "/question", q.Text, limits.MaxQuestion)
	if !utf8.ValidString(q.Header) {
		bad.add("/header", "is not UTF-8", "send UTF-8")
	}
	q.Header = truncate(q.Header, limits.MaxHeader)
	if len(q.Options) == 0 && q.NoOther {
		bad.add("/allow_custom", "a question without options always takes free text", "leave allow_custom out")
	}
	given := q.Options
	q.Options = normalizeOptions(&q, bad)
	q.Default = q.dropOther(len(given) > 0, bad)
	q.checkDefault(bad)
	q.checkFormat(bad)
	return q
}

// dropOther returns the defaults of a question. If the question has options and allows free text, it removes
// the default "Other" and adds a warning. The option "Other" is removed, so this default would become free
// text.
func (q *Question) dropOther(options bool, bad *problems) []string {
	kept := slices.Grow([]string(nil), len(q.Default))
	for _, d := range q.Default {
		if _, isLabel := q.Option(d); options && !q.NoOther && !isLabel && isOther(d) {
			bad.drop("/default", `"Other" cannot be a default`, "name a label, or leave it out")
			continue
		}
		kept = append(kept, d)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func normalizeOptions(q *Question, bad *problems) []Option {
	// an option "Other" is dropped, and then does not count
	if n := len(q.Options); n > limits.MaxOptions+limits.MinOptions {
		bad.add("/options", fmt.Sprintf("%d options are too many; at most %d are allowed", n, limits.MaxOptions),
			"offer fewer")
		return nil
	}
	kept := slices.Grow([]Option(nil), len(q.Options))
	looks := make([]string, 0, len(q.Options))
	for i, o := range q.Options {
		bad.enter("/options", i)
		if o.normalize(q, bad) {
			look := lookalike.Skeleton(o.Label)
			if look == "" && strings.TrimSpace(o.Label) != "" {
				bad.add("/label", "has only invisible characters", "write something")
			}
			if n := slices.Index(looks, look); n >= 0 {
				o.addRepeated(kept[n].Label, bad)
			}
			kept, looks = append(kept, o), append(looks, look)
		}
		bad.leave()
	}
	if n := len(kept); len(q.Options) > 0 && (n < limits.MinOptions || n > limits.MaxOptions) {
		detail := fmt.Sprintf("a question needs %d to %d options, or none for free text; this one has %d",
			limits.MinOptions,
			limits.MaxOptions, n)
		if n < len(q.Options) {
			detail += `; "Other" is always offered and does not count`
		}
		bad.add("/options", detail, `"options": [{"label": "A"}, {"label": "B"}]`)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// addRepeated adds the problem that people cannot distinguish the option from an earlier option. The argument
// earlier is the label of that option.
func (o *Option) addRepeated(earlier string, bad *problems) {
	if earlier == o.Label {
		bad.add("/label", "this label is repeated", "give each option its own label")
		return
	}
	bad.add("/label", fmt.Sprintf("%s looks like %s, so people cannot tell them apart", quote(o.Label), quote(earlier)),
		`leave one out, or say how they differ: "Yes, now" and "Yes, tonight"`)
}

// normalize checks the option, drops a preview that would not be shown, and reports whether to keep the
// option.
func (o *Option) normalize(q *Question, bad *problems) bool {
	checkRequired(bad, "/label", o.Label, limits.MaxLabel)
	checkText(bad, "/description", o.Description, limits.MaxDescription)
	checkText(bad, "/preview", o.Preview, limits.MaxPreview)
	if !q.NoOther && isOther(o.Label) {
		bad.drop("", `"Other" is always offered`, "leave it out")
		return false
	}
	if q.MultiSelect && o.Preview != "" {
		bad.drop("/preview", "a question with multiSelect shows no previews", "describe the option instead")
		o.Preview = ""
	}
	return true
}

// isOther reports whether a label means "Other", the option that Askback itself adds.
func isOther(label string) bool {
	label = lookalike.Skeleton(label)
	return strings.EqualFold(label, "other") || strings.EqualFold(label, "other...")
}

func (q *Question) checkDefault(bad *problems) {
	const at = "/default"
	if len(q.Default) > 1 && !q.MultiSelect {
		bad.add(at, "a question without multi_select has at most one default", "name one label")
		return
	}
	if len(q.Default) > limits.MaxOptions {
		bad.add(at, fmt.Sprintf("%d defaults are too many; at most %d are allowed", len(q.Default), limits.MaxOptions),
			"name fewer")
		return
	}
	for i, d := range q.Default {
		checkRequired(bad, at, d, limits.MaxText)
		if _, ok := q.Option(d); !ok && q.NoOther {
			bad.add(at, fmt.Sprintf("%s is not an option", quote(d)), "name one of the labels")
		}
		if slices.Contains(q.Default[:i], d) {
			bad.add(at, fmt.Sprintf("%s is repeated", quote(d)), "name it once")
		}
	}
}

func (c Confirmation) normalize(bad *problems) *Confirmation {
	const at = "/confirmation"
	if strings.TrimSpace(c.ToolName) == "" {
		bad.add(at+"/tool_name", "is blank", "name the tool")
	}
	checkName(bad, at+"/tool_name", c.ToolName, limits.MaxName)
	checkName(bad, at+"/server", c.Server, limits.MaxName)
	checkText(bad, at+"/description", c.Description, limits.MaxQuestion)
	checkText(bad, at+"/input_preview", c.InputPreview, limits.MaxPreview)
	checkText(bad, at+"/context", c.Context, limits.MaxContext)
	var ok bool
	if c.Input, ok = compact(c.Input); len(c.Input) == 0 {
		c.Input, ok = json.RawMessage("{}"), true
	}
	if !ok || c.Input[0] != '{' {
		bad.add(at+"/input", "the arguments of a tool must be a JSON object", `"input": {}`)
	}
	if len(c.Input) > limits.MaxInput {
		bad.add(at+"/input",
			fmt.Sprintf("%d bytes are too many; at most %d are allowed", len(c.Input), limits.MaxInput), "shorten it")
	}
	if c.Tier == "" || strings.EqualFold(c.Tier, "confirm") { // programs in Rust write Confirm
		c.Tier = "confirm"
	}
	if c.Tier != "confirm" {
		bad.add(at+"/tier", "tier must be confirm", `"tier": "confirm"`)
	}
	if c.Digest != "" {
		bad.add(at+"/digest", "Askback computes the digest", "leave it out")
	}
	return &c
}
