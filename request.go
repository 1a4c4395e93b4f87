package askback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A Request is an agent's request for answers, or for a confirmation.
type Request struct {
	Questions    []Question    `request:"questions,manual"`
	Confirmation *Confirmation `request:"confirmation"`

	// SessionID is the id of the session that the ask belongs to. SessionKey is
	// the asker's own name for it. Without either, the ask has its own session.
	SessionID  string          `request:"session_id"`
	SessionKey string          `request:"session_key"`
	Agent      string          `request:"agent"` // a label for people; "" is the asker's name
	Title      string          `request:"title"`
	Context    json.RawMessage `request:"context,manual"` // a JSON string or object, shown with the question
	To         []string        `request:"to"`             // the people who may answer; empty: every person
	Quorum     int             `request:"quorum"`         // the number of required answers: 1, or 0 for the default of 1
	Tags       []string        `request:"tags"`
	Timeout    time.Duration   `request:"timeout"` // the time until the deadline; at most one of Timeout and Deadline is set
	Deadline   time.Time       `request:"deadline"`
	OnTimeout  OnTimeout       `request:"on_timeout"` // "" is OnTimeoutWait without a deadline, OnTimeoutFail with one
	// CallbackURL is the address to which the outcome would be sent. This
	// release rejects it.
	CallbackURL string `request:"callback_url"`
	// Key makes the request safe to repeat. While the ask is stored, a request
	// of the same asker with the same key returns the same ask.
	Key string `request:"key"`
	// Warnings are the repairs that were made to the tool call of a model (F15).
	// They are part of the request because the call may be decoded outside of
	// the server that stores the ask.
	Warnings []Problem `request:"warnings,manual"`
}

// The limits of docs/wire.md §1. Strings are measured in code points, Header in grapheme
// clusters, Input and Draft in bytes.
const (
	MaxQuestions   = 4
	MinOptions     = 2
	MaxOptions     = 50
	MaxQuestion    = 10_000
	MaxHeader      = 12
	MaxLabel       = 200
	MaxDescription = 2_000
	MaxPreview     = 100_000
	MaxContext     = 200_000
	MaxInput       = 1 << 20
	MaxText        = 20_000 // notes, other, reason, comment
	MaxName        = 200    // names, labels of agents, tags, titles
	MaxKey         = 255
	MaxNames       = 100   // people in To, tags
	MaxTo          = 2_000 // all names in To together; each change of the ask stores them again
	MaxDraft       = 1 << 18
	MaxTimeout     = 10 * 366 * 24 * time.Hour
)

// Normalize returns the canonical form of a request. Questions are numbered, headers
// are cut, and empty fields get their defaults. An option or default "Other" is dropped
// if free text is allowed, and so are previews of a question with several answers. Each
// of these is added to Warnings.
//
// The error is an [Invalid] that lists every problem.
func (r Request) Normalize() (Request, error) {
	var bad, dropped problems
	switch {
	case r.Confirmation != nil && len(r.Questions) > 0:
		bad.add("/confirmation", "an ask has questions or a confirmation, not both", "make two asks")
	case r.Confirmation != nil:
		r.Confirmation = r.Confirmation.normalize(&bad)
	default:
		r.Questions = normalizeQuestions(r.Questions, &bad, &dropped)
	}
	r.checkAddressing(&bad)
	r.checkTime(&bad)
	if r.Quorum == 0 {
		r.Quorum = 1
	}
	if r.Quorum != 1 {
		bad.add("/quorum", "quorum is not supported yet", "leave quorum out")
	}
	if r.CallbackURL != "" {
		bad.add("/callback_url", "callback_url is not supported yet", "wait for the ask instead")
	}
	r.checkWarnings(&bad)
	for _, p := range dropped.list {
		if len(r.Warnings) < MaxProblems {
			r.Warnings = append(slices.Clip(r.Warnings), p)
		}
	}
	return r, bad.err()
}

// checkWarnings checks the number and the lengths of the warnings.
func (r *Request) checkWarnings(bad *problems) {
	if len(r.Warnings) > MaxProblems {
		bad.add("/warnings", fmt.Sprintf("%d warnings; at most %d", len(r.Warnings), MaxProblems), "leave them out")
		return
	}
	for i, p := range r.Warnings {
		at := fmt.Sprintf("/warnings/%d", i)
		checkText(bad, at+"/pointer", p.Pointer, MaxName)
		checkText(bad, at+"/detail", p.Detail, MaxDescription)
		checkText(bad, at+"/fix", p.Fix, MaxDescription)
	}
}

// checkAddressing checks the agent, the session, the key, the people addressed, the
// title, the tags and the context. It removes repeated names and tags, and compacts the
// context.
func (r *Request) checkAddressing(bad *problems) {
	if r.SessionID != "" && r.SessionKey != "" {
		bad.add("/session_key", "an ask names its session once", "send session_id or session_key")
	}
	checkText(bad, "/session_id", r.SessionID, MaxKey)
	checkName(bad, "/session_key", r.SessionKey, MaxKey)
	checkName(bad, "/agent", r.Agent, MaxName)
	checkText(bad, "/title", r.Title, MaxName)
	checkName(bad, "/key", r.Key, MaxKey)
	for i, name := range r.To {
		if strings.HasPrefix(name, "@") {
			bad.add(fmt.Sprintf("/to/%d", i), "this release knows no groups", "name the people")
		}
	}
	r.To = checkNames(bad, "/to", r.To)
	if n := utf8.RuneCountInString(strings.Join(r.To, "")); n > MaxTo {
		bad.add("/to", tooLong(n, MaxTo)+" in all", "name fewer people")
	}
	r.Tags = checkNames(bad, "/tags", r.Tags)
	var ok bool
	switch r.Context, ok = compact(r.Context); {
	case len(r.Context) == 0:
	case string(r.Context) == "{}":
		r.Context = nil // an empty object means no context
	case !ok || r.Context[0] != '"' && r.Context[0] != '{':
		bad.add("/context", "context is a string or an object", `"context": "what the person should know"`)
	default:
		if n := contextLength(r.Context); n > MaxContext {
			bad.add("/context", tooLong(n, MaxContext), "shorten it")
		}
	}
}

// contextLength returns the number of characters of a JSON string, or of the compact
// form of a JSON object. The length does not depend on how characters are escaped.
func contextLength(raw json.RawMessage) int {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return utf8.RuneCountInString(text)
	}
	var value any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // keep the digits as they were sent
	if in.Decode(&value) == nil {
		if plain, err := marshal(value); err == nil {
			raw = plain
		}
	}
	return utf8.RuneCount(raw)
}

func (r *Request) checkTime(bad *problems) {
	if r.Timeout < 0 || r.Timeout > MaxTimeout {
		bad.add("/timeout", "a timeout must be positive and shorter than ten years", `"timeout": "10m"`)
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
		bad.add("/on_timeout", "on_timeout is wait, fail, default or decline", `"on_timeout": "wait"`)
	}
	if !limited && r.OnTimeout != OnTimeoutWait {
		bad.add("/on_timeout", "on_timeout needs a timeout or a deadline", `add "timeout": "10m"`)
	}
}

// checkDefaults requires a default for each required question. It rejects defaults
// for a confirmation: a deadline never approves (F4, F5).
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

func normalizeQuestions(questions []Question, bad, dropped *problems) []Question {
	if n := len(questions); n == 0 || n > MaxQuestions {
		bad.add("/questions", fmt.Sprintf("an ask has 1 to %d questions, not %d", MaxQuestions, n),
			`"questions": [{"question": "Which one?", "options": [{"label": "A"}, {"label": "B"}]}]`)
		return nil
	}
	out := make([]Question, len(questions))
	for i, q := range questions {
		at := fmt.Sprintf("/questions/%d", i)
		out[i] = q.normalize(at, bad, dropped)
		out[i].ID = fmt.Sprintf("q%d", i+1)
		if slices.ContainsFunc(out[:i], func(earlier Question) bool { return earlier.Text == q.Text }) {
			bad.add(at+"/question", "this question is repeated", "ask it once")
		}
	}
	return out
}

func (q Question) normalize(at string, bad, dropped *problems) Question {
	checkRequired(bad, at+"/question", q.Text, MaxQuestion)
	if !utf8.ValidString(q.Header) {
		bad.add(at+"/header", "is not UTF-8", "send UTF-8")
	}
	q.Header = truncate(q.Header, MaxHeader)
	if len(q.Options) == 0 && q.NoOther {
		bad.add(at+"/allow_custom", "a question without options always takes free text", "leave allow_custom out")
	}
	given := q.Options
	q.Options = normalizeOptions(q, at, bad, dropped)
	q.Default = q.dropOther(len(given) > 0, at+"/default", dropped)
	q.checkDefault(at+"/default", bad)
	return q
}

// dropOther returns the defaults of a question. If the question has options and allows
// free text, it omits "Other": that option is dropped, so the default would become text.
func (q Question) dropOther(options bool, at string, dropped *problems) []string {
	var kept []string
	for _, d := range q.Default {
		if _, isLabel := q.Option(d); options && !q.NoOther && !isLabel && isOther(d) {
			dropped.add(at, `"Other" cannot be a default`, "name a label, or leave it out")
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

func normalizeOptions(q Question, at string, bad, dropped *problems) []Option {
	var kept []Option
	if n := len(q.Options); n > MaxOptions+MinOptions { // some may be "Other", which is dropped
		bad.add(at+"/options", fmt.Sprintf("%d options; at most %d", n, MaxOptions), "offer fewer")
		return nil
	}
	for i, o := range q.Options {
		at := fmt.Sprintf("%s/options/%d", at, i)
		checkRequired(bad, at+"/label", o.Label, MaxLabel)
		checkText(bad, at+"/description", o.Description, MaxDescription)
		checkText(bad, at+"/preview", o.Preview, MaxPreview)
		if !q.NoOther && isOther(o.Label) {
			dropped.add(at, `"Other" is always offered`, "leave it out")
			continue
		}
		if q.MultiSelect && o.Preview != "" {
			dropped.add(at+"/preview", "a question with multiSelect shows no previews", "describe the option instead")
			o.Preview = ""
		}
		if slices.ContainsFunc(kept, func(k Option) bool { return strings.TrimSpace(k.Label) == strings.TrimSpace(o.Label) }) {
			bad.add(at+"/label", "this label is repeated", "give each option its own label")
		}
		kept = append(kept, o)
	}
	if n := len(kept); len(q.Options) > 0 && (n < MinOptions || n > MaxOptions) {
		detail := fmt.Sprintf("a question has %d to %d options, or none for free text, not %d", MinOptions, MaxOptions, n)
		if n < len(q.Options) {
			detail += `; "Other" is always offered and does not count`
		}
		bad.add(at+"/options", detail, `"options": [{"label": "A"}, {"label": "B"}]`)
	}
	return kept
}

// isOther reports whether a label means "Other", the option that Askback adds itself.
func isOther(label string) bool {
	switch strings.ToLower(strings.TrimSpace(label)) {
	case "other", "other…", "other...":
		return true
	}
	return false
}

func (q Question) checkDefault(at string, bad *problems) {
	if len(q.Default) > 1 && !q.MultiSelect {
		bad.add(at, "a question with one answer takes one default", "name one label")
		return
	}
	if len(q.Default) > MaxOptions {
		bad.add(at, fmt.Sprintf("%d defaults; at most %d", len(q.Default), MaxOptions), "name fewer")
		return
	}
	for i, d := range q.Default {
		checkRequired(bad, at, d, MaxText)
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
	checkName(bad, at+"/tool_name", c.ToolName, MaxName)
	checkName(bad, at+"/server", c.Server, MaxName)
	checkText(bad, at+"/description", c.Description, MaxQuestion)
	checkText(bad, at+"/input_preview", c.InputPreview, MaxPreview)
	checkText(bad, at+"/context", c.Context, MaxContext)
	var ok bool
	if c.Input, ok = compact(c.Input); len(c.Input) == 0 {
		c.Input, ok = json.RawMessage("{}"), true
	}
	if !ok || c.Input[0] != '{' {
		bad.add(at+"/input", "the arguments of a tool must be a JSON object", `"input": {}`)
	}
	if len(c.Input) > MaxInput {
		bad.add(at+"/input", fmt.Sprintf("%d bytes; at most %d", len(c.Input), MaxInput), "shorten it")
	}
	if c.Tier == "" || strings.EqualFold(c.Tier, "confirm") { // programs in Rust write Confirm
		c.Tier = "confirm"
	}
	if c.Tier != "confirm" {
		bad.add(at+"/tier", "only tier confirm needs an ask", `"tier": "confirm"`)
	}
	if c.Digest != "" {
		bad.add(at+"/digest", "Askback computes the digest", "leave it out")
	}
	return &c
}

func checkNames(bad *problems, at string, list []string) []string {
	if len(list) > MaxNames {
		bad.add(at, fmt.Sprintf("%d entries; at most %d", len(list), MaxNames), "name fewer")
		return nil
	}
	var out []string
	for i, one := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		if strings.TrimSpace(one) == "" {
			bad.add(at, "is blank", "name a person, or leave it out")
		}
		checkName(bad, at, one, MaxName)
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

func checkRequired(bad *problems, at, s string, limit int) {
	if strings.TrimSpace(s) == "" {
		bad.add(at, "is blank", "write something")
		return
	}
	checkText(bad, at, s, limit)
}

// checkName checks the encoding and the length of a name. A name must not have control
// characters, because it is displayed on one line.
func checkName(bad *problems, at, s string, limit int) {
	if strings.ContainsFunc(s, unicode.IsControl) {
		bad.add(at, "a name must not contain control characters", "write it in one line")
		return
	}
	checkText(bad, at, s, limit)
}

func checkText(bad *problems, at, s string, limit int) {
	if !utf8.ValidString(s) {
		bad.add(at, "is not UTF-8", "send UTF-8")
	} else if n := utf8.RuneCountInString(s); n > limit {
		bad.add(at, tooLong(n, limit), "shorten it")
	}
}

// CheckDraft returns an [Invalid] unless the draft is a JSON object of at most
// [MaxDraft] bytes.
func CheckDraft(draft json.RawMessage) error {
	if b := bytes.TrimSpace(draft); len(draft) > MaxDraft || !utf8.Valid(b) || !json.Valid(b) || b[0] != '{' {
		return Invalid{{Detail: fmt.Sprintf("a draft is a JSON object of at most %d bytes", MaxDraft), Fix: `{"answers": []}`}}
	}
	return nil
}

// CheckReason returns an [Invalid] if the reason is not UTF-8 or is too long.
func CheckReason(reason string) error {
	var bad problems
	checkText(&bad, "/reason", reason, MaxText)
	return bad.err()
}

func tooLong(n, limit int) string { return fmt.Sprintf("%d characters; at most %d", n, limit) }

// truncate returns the first n grapheme clusters of s, without white space around
// them.
func truncate(s string, n int) string {
	s = strings.TrimSpace(s)
	rest, state := s, -1
	for range n {
		if rest == "" {
			return s
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return strings.TrimSpace(strings.TrimSuffix(s, rest))
}

// compact returns JSON without white space between its tokens, as it is stored and
// sent. It reports whether raw is JSON in UTF-8; if not, it only trims raw.
func compact(raw json.RawMessage) (json.RawMessage, bool) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil || !utf8.Valid(raw) {
		return bytes.Clone(bytes.TrimSpace(raw)), false
	}
	return b.Bytes(), true
}

// quote returns the first 40 characters of s in quotation marks, for a message.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
