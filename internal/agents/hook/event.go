package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/text/plan"
	"github.com/askback/askback/internal/wire/jcs"
)

// ErrForeign is the error for an event that is not from the agent whose hook reads it. The hook must then
// print nothing.
var ErrForeign = errors.New("this hook was run by another program")

// ErrCannotAsk is the error for a call that cannot be shown and approved unchanged. For example, it
// is too large, asks for a secret, or has a number that a float64 cannot represent.
var ErrCannotAsk = errors.New("this call cannot be shown to a person without changes")

// maxText is the maximum size of a string in an event in bytes.
const maxText = 64 << 10

// maxDepth is the maximum depth of nested values in an event.
const maxDepth = 256

// Members maps the names of members of an event to their values.
type Members map[string]jcs.Value

// ReadMembers returns the members of an event that have one of the names. A string that is too
// long and a repeated name are errors. Other members are skipped, because each version of an
// agent adds some.
func ReadMembers(raw []byte, names ...string) (Members, error) {
	found, err := jcs.Skim(raw, maxDepth, names...)
	if err != nil {
		return nil, err
	}
	m := Members{}
	for _, f := range found {
		if f.Value.Kind == jcs.String && len(f.Value.Text()) > maxText {
			return nil, fmt.Errorf("%s is longer than %d bytes", f.Name, maxText)
		}
		m[f.Name] = f.Value
	}
	return m, nil
}

// Text returns a string, or "" if the member is missing or of another kind. The result does not
// keep the event in memory.
func (m Members) Text(name string) string {
	if v := m[name]; v.Kind == jcs.String {
		return strings.Clone(v.Text())
	}
	return ""
}

// Time returns a time as text, or "" if the member is not a time in the format of RFC 3339.
func (m Members) Time(name string) string {
	text := m.Text(name)
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return ""
	}
	return text
}

// Object returns a copy of an object. It returns nil if the member is of another kind, or has more
// than limit bytes. The result does not keep the event in memory.
func (m Members) Object(raw []byte, name string, limit int) json.RawMessage {
	v, ok := m[name]
	if !ok || v.Kind != jcs.Object || v.End-v.Offset > limit {
		return nil
	}
	return bytes.Clone(v.Raw(raw))
}

// Input returns a copy of the arguments of a tool. It returns nil if the member is not an object, or too
// large for a confirmation.
func (m Members) Input(raw []byte, name string) json.RawMessage {
	return m.Object(raw, name, limits.MaxInput)
}

// HasAny reports whether the event has a member with one of the names.
func (m Members) HasAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := m[name]
		return ok
	})
}

// Key returns an idempotency key for an event of an agent. parts identify the event.
func Key(agent string, parts ...string) string {
	b, _ := json.Marshal(parts) // strings can always be encoded
	sum := sha256.Sum256(b)
	return agent + ":" + hex.EncodeToString(sum[:])
}

// Confirmation returns the confirmation of a tool call. It returns false if the tool has no name. It also
// returns false if the arguments have no canonical form, because a person could not approve exactly these
// arguments.
func Confirmation(server, tool string, input json.RawMessage) (*askback.Confirmation, bool) {
	if _, err := jcs.Canonical(input); err != nil || tool == "" {
		return nil, false
	}
	return newConfirmation(server, tool, input), true
}

// A Verdict is the decision of a person about a tool call.
type Verdict int

// The verdicts. The verdict is [NoVerdict] if neither a person nor a grant of a person made the decision.
const (
	NoVerdict Verdict = iota
	Allowed
	Denied
)

// IsSameCall reports whether two confirmations are about the same tool, with the same bytes as
// arguments.
func IsSameCall(a, b askback.Confirmation) bool {
	return a.ToolName == b.ToolName && a.Server == b.Server && bytes.Equal(a.Input, b.Input)
}

// IsAbout reports whether a settled ask is about the call of a confirmation. A standing approval is not about a plan
// that is not in its call: the next plan has the same arguments.
func IsAbout(own askback.Confirmation, ask askback.Ask) bool {
	if !ask.Settled() || ask.Confirmation == nil || !IsSameCall(own, *ask.Confirmation) {
		return false
	}
	isHidden := plan.IsTool(own.ToolName) && plan.Text(own.ToolName, own.Input) == ""
	return !isHidden || !ask.Outcome.Approved() || ask.Outcome.Actor.Kind != askback.ActorPolicy
}

// VerdictOf returns the decision about the call of a confirmation, and its text for the model. An approval of
// other arguments denies the call: see [askback.Outcome.Input].
func VerdictOf(own askback.Confirmation, ask askback.Ask) (Verdict, string) {
	o := ask.Outcome
	if !IsAbout(own, ask) {
		return NoVerdict, ""
	}
	text, _, _ := asktool.Result(ask)
	switch {
	case o.Approved() && len(o.Input) > 0:
		return Denied, outcometext.OtherArguments(ask) + outcometext.CallAgain
	case o.Approved():
		return Allowed, text
	case o.Status == askback.Answered && o.Decision == askback.Deny:
		return Denied, text
	}
	return NoVerdict, ""
}

// Answered returns the text for a model whose tool for questions is denied, because the question was answered
// in Askback. Models take a denial for a failure, so the text first contradicts that. Answered returns false
// if ask has no answers.
func Answered(ask askback.Ask) (string, bool) {
	if !ask.Settled() || ask.Kind != askback.Questions || ask.Outcome.Status != askback.Answered {
		return "", false
	}
	text, _, _ := asktool.Result(ask)
	return "This is not a failure. The user was asked in Askback. " + text +
		" Continue with this answer. Do not ask again.", true
}
