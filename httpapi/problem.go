package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
	"github.com/askback/askback/internal/wire/jcs"
)

// A problem is an error on the wire (RFC 9457). docs/problems.md explains each type that the
// server sends.
type problem struct {
	Type   string            `json:"type"`
	Title  string            `json:"title"`
	Status int               `json:"status"`
	Detail string            `json:"detail,omitempty"`
	Errors []askback.Problem `json:"errors,omitempty"`
	AskID  string            `json:"ask_id,omitempty"`
	// QuestionIDs are the ids of the asks from which the client must choose.
	QuestionIDs []string         `json:"question_ids,omitempty"`
	Approvers   []string         `json:"approvers,omitempty"` // the people who may decide
	Outcome     *askback.Outcome `json:"outcome,omitempty"`
	Ask         *askback.Ask     `json:"ask,omitempty"`

	after time.Duration // Retry-After of status 429 and 503
}

const (
	typePrefix  = "urn:askback:problem:"
	typeInvalid = "invalid"
	typeSyntax  = "not-json"
)

// sentinels maps errors to problems and back, so that errors.Is gives the same result
// for a [Client] as for the engine.
var sentinels = []struct {
	err    error
	status int
	word   string
}{
	{askback.ErrUnauthorized, http.StatusUnauthorized, "unauthorized"},
	{askback.ErrForbidden, http.StatusForbidden, "forbidden"},
	{askback.ErrSelfApproval, http.StatusForbidden, "self-approval"},
	{askback.ErrNotApprover, http.StatusForbidden, "not-approver"},
	{askback.ErrStartBy, http.StatusForbidden, "start-by"},
	{askback.ErrNotFound, http.StatusNotFound, "not-found"},
	{askback.ErrSettled, http.StatusConflict, "settled"},
	{askback.ErrConsumed, http.StatusConflict, "consumed"},
	{askback.ErrPending, http.StatusConflict, "pending"},
	{askback.ErrSent, http.StatusConflict, "sent"},
	{askback.ErrNotApproved, http.StatusConflict, "not-approved"},
	{askback.ErrEnded, http.StatusConflict, "session-ended"},
	{askback.ErrAsksOpen, http.StatusConflict, "asks-open"},
	{askback.ErrExists, http.StatusConflict, "exists"},
	{askback.ErrNotActive, http.StatusConflict, "not-active"},
	{askback.ErrChanged, http.StatusConflict, "changed"},
	{askback.ErrDigest, http.StatusUnprocessableEntity, "digest"},
	{askback.ErrKeyReused, http.StatusUnprocessableEntity, "key-reused"},
	{askback.ErrTooMany, http.StatusTooManyRequests, "too-many"},
	{askback.ErrTooFast, http.StatusTooManyRequests, "too-fast"},
	{askback.ErrBusy, http.StatusServiceUnavailable, "busy"},
	{askback.ErrFull, http.StatusServiceUnavailable, "full"},
	{askback.ErrStopping, http.StatusServiceUnavailable, "stopping"},
	{askback.ErrUnknown, http.StatusServiceUnavailable, "unknown"},
	{askback.ErrDiskFull, http.StatusInsufficientStorage, "disk-full"},
	{askback.ErrDamaged, http.StatusInternalServerError, "damaged"},
}

// problemOf returns the problem for err. An unknown error may contain secrets, so its problem has no details.
func problemOf(err error) problem {
	var (
		invalid askback.Invalid
		syntax  *jcs.SyntaxError
		given   problem
		damaged askback.DamagedError
	)
	switch {
	case errors.As(err, &given):
		return given
	case errors.As(err, &invalid):
		return problem{
			Status: http.StatusUnprocessableEntity, Type: typeInvalid, Detail: invalid.Error(), Errors: invalid,
		}
	case errors.As(err, &syntax):
		return problem{
			Status: http.StatusBadRequest,
			Type:   typeSyntax, Detail: syntax.Error(), Errors: []askback.Problem{
				{
					Pointer: syntax.Pointer, Detail: syntax.Detail,
					Fix: "send strict JSON (RFC 8259) in UTF-8, with each key once",
				},
			},
		}
	}
	for _, s := range sentinels {
		if !errors.Is(err, s.err) {
			continue
		}
		if errors.As(err, &damaged) && s.err == askback.ErrDamaged {
			return problem{Status: s.status, Type: s.word, Detail: damaged.Error()}
		}
		if other, ok := errors.AsType[askback.NotApproverError](err); ok && s.err == askback.ErrNotApprover {
			return problem{Status: s.status, Type: s.word, Detail: other.Error(), Approvers: other.Who}
		}
		p := problem{Status: s.status, Type: s.word, Detail: s.err.Error()}
		if retry, ok := errors.AsType[*askback.RetryError](err); ok {
			p.Detail, p.after = retry.Error(), retry.After
		}
		return p
	}
	return problem{
		Status: http.StatusInternalServerError, Type: "internal", Detail: "an internal error; see the server log",
	}
}

// Error implements error, so that a handler can return a problem.
func (p problem) Error() string { return p.Detail }

// writeProblem replies with p, and with the headers for its status. If the ask or the outcome in p cannot be
// encoded, the reply has neither.
func (h *Handler) writeProblem(w http.ResponseWriter, p problem) {
	p.Title = http.StatusText(p.Status)
	if p.Type == "" {
		p.Type = "http"
	}
	p.Type = typePrefix + p.Type
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(p.after.Seconds())))))
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="askback"`)
	}
	b := newBuffer()
	if err := b.encode(p.AppendJSON); err != nil { // the stored JSON of the ask is damaged
		p.Ask, p.Outcome = nil, nil
		_ = b.encode(p.AppendJSON)
	}
	if writeBody(w, p.Status, problemType, b.bytes) == nil {
		b.release()
	}
}

// AppendJSON appends the JSON of p to b.
func (p problem) AppendJSON(b []byte) (_ []byte, err error) {
	b = codec.AppendString(append(b, `{"type":`...), p.Type)
	b = codec.AppendString(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	if p.Detail != "" {
		b = codec.AppendString(append(b, `,"detail":`...), p.Detail)
	}
	if len(p.Errors) > 0 {
		if b, err = codec.AppendList(append(b, `,"errors":`...), p.Errors, askback.Problem.AppendJSON); err != nil {
			return b, err
		}
	}
	if p.AskID != "" {
		b = codec.AppendString(append(b, `,"ask_id":`...), p.AskID)
	}
	if len(p.QuestionIDs) > 0 {
		b = codec.AppendStrings(append(b, `,"question_ids":`...), p.QuestionIDs)
	}
	if len(p.Approvers) > 0 {
		b = codec.AppendStrings(append(b, `,"approvers":`...), p.Approvers)
	}
	if p.Outcome != nil {
		if b, err = p.Outcome.AppendJSON(append(b, `,"outcome":`...)); err != nil {
			return b, err
		}
	}
	if p.Ask != nil {
		if b, err = p.Ask.AppendJSON(append(b, `,"ask":`...)); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// asError returns the error that a received problem represents, and the ask in the problem. A problem of an
// unknown type is the error itself. If its status is 502, 503 or 504, the error is [askback.ErrUnreachable]
// instead.
func (p problem) asError() (askback.Ask, error) {
	var ask askback.Ask
	if p.Ask != nil {
		ask = *p.Ask
	}
	if len(p.Errors) > 0 {
		return ask, askback.Invalid(p.Errors)
	}
	for _, s := range sentinels {
		switch {
		case p.Type != typePrefix+s.word:
		case s.err == askback.ErrDamaged:
			return ask, fmt.Errorf("%w: %s", s.err, p.Detail)
		case s.err == askback.ErrNotApprover:
			return ask, askback.NotApproverError{Who: p.Approvers}
		case p.after > 0:
			return ask, &askback.RetryError{Err: s.err, Why: p.Detail, After: p.after}
		default:
			return ask, s.err
		}
	}
	switch p.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		// The reply is from a proxy that could not reach the server, or whose request timed out.
		return ask, fmt.Errorf("%w: %s", askback.ErrUnreachable, p.Detail)
	}
	return ask, p
}

// maxAfter is the largest Retry-After, in seconds, that a client accepts.
const maxAfter = 3600

// parseProblem decodes body as a problem. If body is not a problem, it derives a problem from the status of
// res.
func parseProblem(res *http.Response, body []byte) problem {
	status := res.StatusCode
	var p problem
	if json.Unmarshal(body, &p) != nil || !strings.HasPrefix(p.Type, typePrefix) {
		p = problem{Type: "http", Detail: "the server replied " + http.StatusText(status)}
	}
	p.Status = status
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.after = time.Duration(min(seconds, maxAfter)) * time.Second
	}
	return p
}
