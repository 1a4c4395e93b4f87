package txn

import (
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/jcs"
)

// DigestEdited sets in.Digest to the digest of the arguments that a person edited and approved (F7). It
// parses them as strictly as the agent's arguments. If the digest equals the digest of the original
// arguments, DigestEdited removes the edit. It does nothing for other decisions, without an edit, and for
// JSON that is not an object.
func DigestEdited(s *lifecycle.AskState, in *lifecycle.Answered) error {
	if len(in.Answer.Input) == 0 || in.Answer.Decision != askback.Approve {
		return nil
	}
	c := *s.Ask.Confirmation
	v, err := jcs.Parse(in.Answer.Input)
	if err == nil && v.Kind != jcs.Object {
		return nil // package askback rejects such JSON later
	}
	c.Input = in.Answer.Input
	sum, err := Digest("/input", s.Ask.Agent, c)
	if err != nil {
		return err
	}
	if sum == s.Ask.Confirmation.Digest {
		in.Answer.Input = nil
		return nil
	}
	in.Digest = sum
	return nil
}

// Digest returns the digest of a tool call. at is the JSON pointer of the arguments
// in the request, for errors.
func Digest(at, agent string, c askback.Confirmation) (string, error) {
	sum, err := jcs.ConfirmationDigest(agent, c.Server, c.ToolName, c.Input)
	const fix = "send plain JSON, and large numbers as strings"
	var syntax *jcs.SyntaxError
	var number *jcs.NumberError
	switch {
	case errors.As(err, &syntax):
		return "", askback.Invalid{{Pointer: at + syntax.Pointer, Detail: syntax.Detail, Fix: fix}}
	case errors.As(err, &number):
		return "", askback.Invalid{{Pointer: at + number.Pointer, Detail: number.Detail, Fix: fix}}
	}
	return sum, err
}
