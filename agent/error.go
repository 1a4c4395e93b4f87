package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback/conversation"
)

// A ModelError is the error of a request to a model.
type ModelError struct {
	// Err is a sentence for people: the problem and its remedy. It has no secrets.
	Err error
	// Retry is set if another attempt may succeed. After is the shortest time until another attempt that the
	// provider allows. It is at most [LongestAfter].
	Retry bool
	After time.Duration
	Usage conversation.Usage // the tokens that the failed request used
}

// Error returns the text of Err.
func (e *ModelError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ModelError) Unwrap() error { return e.Err }

// LongestAfter is the maximum of [ModelError.After]. If a provider requires a longer pause, such as until the
// next day, the request is repeated earlier: the number of attempts is limited.
const LongestAfter = 15 * time.Minute

// StatusError returns the error for a reply with a status other than 2xx. At all providers, the statuses 408,
// 409, 425, 429 and 5xx are temporary, including 529, which Anthropic sends if it is overloaded.
func StatusError(status int, header http.Header, now time.Time) *ModelError {
	e := &ModelError{Retry: true}
	switch {
	case status == http.StatusTooManyRequests:
		e.Err = errors.New("the model provider limits the rate of requests (status 429)")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status >= 500:
		e.Err = fmt.Errorf("the model provider is overloaded or has an error (status %d)", status)
	default:
		return &ModelError{Err: errors.New(rejection(status))}
	}
	e.After = retryAfter(header, now)
	return e
}

// rejection returns the sentence for a status that another attempt would get as well.
func rejection(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "the model provider rejected the API key (status 401); correct api_key of this model"
	case http.StatusPaymentRequired:
		return "the account at the model provider has no credit (status 402)"
	case http.StatusForbidden:
		return "the API key may not use this model (status 403)"
	case http.StatusNotFound:
		return "the model provider has no such model, or base_url of this model is wrong (status 404)"
	case http.StatusRequestEntityTooLarge:
		return "the conversation is too large for the model provider (status 413); start a new run"
	}
	if status >= 300 && status < 400 {
		return fmt.Sprintf("base_url of this model redirects to another address (status %d), which gets no API key; "+
			"write the other address", status)
	}
	return fmt.Sprintf("the model provider rejected the request (status %d)", status)
}

// retryAfter returns the time in the header Retry-After, which is a number of seconds or a date. The header
// Retry-After-Ms of OpenAI and Azure has priority. Without a valid header, the time is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return limitAfter(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return limitAfter(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return limitAfter(at.Sub(now).Seconds())
	}
	return 0
}

// limitAfter returns a number of seconds as a duration between 0 and [LongestAfter].
func limitAfter(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN too
		return 0
	}
	return time.Duration(min(seconds, LongestAfter.Seconds()) * float64(time.Second))
}
