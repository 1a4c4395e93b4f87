package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
)

// AskFormat is the version number of the stored form of asks. [DecodeAsk] reads older formats and rejects
// newer formats.
const AskFormat = shortFormat

// AppendFixed appends the part of the state that is written once, as JSON. Its members follow from the tags
// of [AskState], without the columns. Times are in milliseconds since 1970.
func (s AskState) AppendFixed(b []byte) ([]byte, error) { return s.appendFixed(b, AskFormat) }

// AppendRequest appends the part of the state that is written once, as JSON in format 1. It omits the
// warnings and the position in a trace. Digests of this JSON are stored, so its form is the same in every
// release.
func (s AskState) AppendRequest(b []byte) ([]byte, error) {
	s.Ask.Warnings, s.Ask.TraceParent = nil, ""
	return s.appendFixed(b, 1)
}

// AppendMoving appends the part of the state that each step rewrites, as JSON.
func (s AskState) AppendMoving(b []byte) ([]byte, error) {
	if s.Ask.AckedAt.Equal(s.Ask.ConsumedAt) {
		s.Ask.AckedAt = time.Time{} // the method restore sets AckedAt to ConsumedAt
	}
	if o := s.Ask.Outcome; o != nil && len(o.Input) == 0 && o.Digest != "" {
		without := *o
		without.Digest = "" // restore sets it from the confirmation
		s.Ask.Outcome = &without
	}
	return s.appendMoving(b, AskFormat)
}

// DecodeAsk returns the state that [AskState.AppendFixed] and [AskState.AppendMoving] appended in this or an
// earlier release, with the columns of its row. It returns an error for a newer format.
func DecodeAsk(row Row, fixedPart, movingPart []byte) (AskState, error) {
	var s AskState
	var fixed, moving int
	errFixed := codec.ReadStored(fixedPart, func(r *codec.Reader) { s.readFixed(r, &fixed) })
	errMoving := codec.ReadStored(movingPart, func(r *codec.Reader) { s.readMoving(r, &moving) })
	if fixed >= shortFormat {
		s.readRow(row)
	}
	if moving >= shortFormat {
		s.Ask.Status = askback.Status(row.Status)
	}
	// The format is the first member. So it is known even if a newer release changed the type of another
	// member.
	switch newest := max(fixed, moving); {
	case newest > AskFormat:
		return AskState{}, fmt.Errorf(
			"ask %s is stored in format %d, and this release reads up to %d: use a newer release", s.Ask.ID, newest,
			AskFormat,
		)
	case errFixed != nil:
		return AskState{}, fmt.Errorf("read a stored ask: %v", errFixed)
	case errMoving != nil:
		return AskState{}, fmt.Errorf("read the state of ask %s: %v", s.Ask.ID, errMoving)
	case fixed <= 0 || moving <= 0 || !s.whole():
		return AskState{}, fmt.Errorf("read ask %s: the stored parts do not match", s.Ask.ID)
	}
	s.restore()
	return s, nil
}

// readRow sets the fields that the fixed part omits: the columns of the row, fields that follow from other
// fields, and fields with their usual value.
func (s *AskState) readRow(row Row) {
	a := &s.Ask
	a.ID, a.SessionID, s.Owner, a.Agent, a.CreatedAt = row.ID, row.Stream, row.Owner, row.Agent, row.Created
	a.Kind = askback.Questions
	if a.Confirmation != nil {
		a.Kind = askback.Confirm
	}
	a.Quorum, a.OnTimeout = cmp.Or(a.Quorum, 1), cmp.Or(a.OnTimeout, askback.OnTimeoutWait)
}

// whole reports whether both parts have the required members and match each other.
func (s AskState) whole() bool {
	a := s.Ask
	return a.ID != "" &&
		(a.Kind == askback.Confirm) == (a.Confirmation != nil) &&
		a.Status != "" && (a.Status == askback.Pending) == (a.Outcome == nil) &&
		(a.Outcome == nil || len(a.Outcome.Answers) <= len(a.Questions)) &&
		!slices.ContainsFunc(s.Held, func(h askback.Held) bool { return len(h.Answers) > len(a.Questions) })
}

// restore sets the fields that are not stored because they follow from other fields.
func (s *AskState) restore() {
	a := &s.Ask
	a.Owner = s.Owner
	if a.AckedAt.IsZero() {
		a.AckedAt = a.ConsumedAt
	}
	for i := range s.Deliveries {
		s.Deliveries[i].AskID, s.Deliveries[i].SessionID = a.ID, a.SessionID
	}
	for _, h := range s.Held {
		for i := range h.Answers {
			h.Answers[i].Question = a.Questions[i].Text
		}
	}
	o := a.Outcome
	if o == nil {
		return
	}
	o.Status = a.Status
	if o.Approved() && o.Digest == "" && a.Confirmation != nil {
		o.Digest = a.Confirmation.Digest
	}
	for i := range o.Answers {
		o.Answers[i].Question = a.Questions[i].Text
	}
}
