package modelhttp

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/agent"
)

// A Problem is the error object of a provider. The forms of all providers are similar.
type Problem struct {
	Type, Code string // the provider's names for the error, such as overloaded_error
	Message    string
}

// ParseProblem returns the problem in the body of a reply. Fields that the body does not have are "".
func ParseProblem(body []byte) Problem {
	if s := strings.TrimSpace(string(body)); strings.HasPrefix(s, "[") { // the form of Gemini
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var outer struct{ Error json.RawMessage }
	if json.Unmarshal(body, &outer) != nil {
		return Problem{}
	}
	if outer.Error == nil { // the form of older versions of vLLM
		outer.Error = body
	}
	var text string
	if json.Unmarshal(outer.Error, &text) == nil {
		return Problem{Message: text}
	}
	var fields map[string]any
	if json.Unmarshal(outer.Error, &fields) != nil {
		return Problem{}
	}
	field := func(name string) string {
		switch v := fields[name].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return ""
	}
	return Problem{Type: field("type"), Code: field("code"), Message: field("message")}
}

// Error returns the readable error for a request that failed with err. The error never contains the key. It
// contains one line of the provider's text only if the request was rejected for its content.
func Error(ctx context.Context, err error, key string) *agent.ModelError {
	var status *statusError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var dial *net.OpError
	switch {
	case errors.As(err, &status):
		return ParseProblem(status.body).error(status.status, status.header, key)
	case errors.Is(err, errIdle):
		return temporary("the model provider sent nothing for a long time")
	case ctx.Err() != nil:
		return temporary("the request to the model was cancelled")
	case errors.Is(err, errNoStream):
		return &agent.ModelError{
			Err: errors.New("base_url of this model replies with a page and not with a stream; correct it"),
		}
	case errors.Is(err, errTooLarge):
		return &agent.ModelError{Err: errors.New("the reply of the model is too large")}
	case errors.As(err, &dns):
		return temporary("the host of the model provider has no address")
	case errors.As(err, &certificate):
		return temporary("the certificate of the model provider is not valid")
	case errors.As(err, &dial) && dial.Op == "dial":
		return temporary("the model provider cannot be reached")
	}
	return temporary("the connection to the model provider was cut")
}

func temporary(sentence string) *agent.ModelError {
	return &agent.ModelError{Err: errors.New(sentence), Retry: true}
}

// Error returns the error for a problem in the middle of a stream whose status was 200.
func (p Problem) Error(key string) *agent.ModelError {
	return p.error(p.status(), nil, key)
}

// status returns the status that a request with this problem usually has. If the name of the problem is
// unknown, it returns a status for an error of the provider.
func (p Problem) status() int {
	for _, name := range []string{p.Type, p.Code} {
		if n, err := strconv.Atoi(name); err == nil && n >= 400 && n <= 599 {
			return n
		}
		switch name {
		case "invalid_request_error", "context_length_exceeded", "content_filter", "content_policy_violation":
			return http.StatusBadRequest
		case "authentication_error", "invalid_api_key":
			return http.StatusUnauthorized
		case "billing_error":
			return http.StatusPaymentRequired
		case "permission_error":
			return http.StatusForbidden
		case "not_found_error", "model_not_found":
			return http.StatusNotFound
		case "request_too_large":
			return http.StatusRequestEntityTooLarge
		case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
			return http.StatusTooManyRequests
		case "overloaded_error":
			return 529
		}
	}
	return http.StatusInternalServerError
}

func (p Problem) error(status int, header http.Header, key string) *agent.ModelError {
	e := agent.StatusError(status, header, time.Now())
	switch {
	case p.isLength(status):
		e = ContextLength()
	case p.isRefusal():
		e = Refusal()
	case p.isCredit():
		e = &agent.ModelError{Err: errors.New("the account at the model provider has no credit left")}
	case (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && p.Message != "":
		e.Err = fmt.Errorf("%w: %s", e.Err, line(p.Message, key))
	}
	return e
}

// ContextLength returns the error for a conversation that is too long for the model.
func ContextLength() *agent.ModelError {
	return &agent.ModelError{Err: errors.New(
		"the conversation is longer than the model can read; start a new run, or use a model with a larger context",
	)}
}

// Refusal returns the error for a model that refuses to reply to its input.
func Refusal() *agent.ModelError {
	return &agent.ModelError{Err: errors.New(
		"the model refused to reply, because of the rules of its provider; start a new run with other words",
	)}
}

// isLength reports whether the problem is that the conversation is too long. Only OpenAI and llama.cpp have
// names for this problem. The problems of other providers are recognized by their text.
func (p Problem) isLength(status int) bool {
	if p.Code == "context_length_exceeded" || p.Type == "exceed_context_size_error" {
		return true
	}
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	s := strings.ToLower(p.Message)
	return strings.Contains(s, "prompt is too long") || // Anthropic
		strings.Contains(s, "exceed context limit") || // Anthropic
		strings.Contains(s, "maximum context length") || // vLLM
		strings.Contains(s, "input token count") && strings.Contains(s, "exceeds") // Gemini
}

func (p Problem) isRefusal() bool {
	return p.Code == "content_filter" || p.Code == "content_policy_violation"
}

func (p Problem) isCredit() bool {
	return p.Type == "insufficient_quota" || p.Code == "insufficient_quota" || // OpenAI, with status 429
		strings.Contains(p.Message, "credit balance is too low") // Anthropic, with status 400
}

// maxLine is the maximum length of a provider's text in an error, in bytes.
const maxLine = 300

// line returns s as one line of at most maxLine bytes, without the key and without control characters.
func line(s, key string) string {
	if key != "" {
		s = strings.ReplaceAll(s, key, "***")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxLine {
		return s
	}
	end := maxLine
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
