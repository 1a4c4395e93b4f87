package httpapi

import "github.com/askback/askback"

// requestBody is the body of POST /asks that a client sends for a normalized request
// (docs/wire.md §2). The key is sent in a header. The handler parses the body with package
// decode; a test checks that both have the same fields.
type requestBody askback.Request

// AppendJSON appends the body to b as JSON.
func (r requestBody) AppendJSON(b []byte) ([]byte, error) {
	return appendRequest(askback.Request(r), b)
}

// answerBody is the body of a request that answers an ask.
type answerBody askback.Answer

// AppendJSON appends the body to b as JSON.
func (a answerBody) AppendJSON(b []byte) ([]byte, error) { return appendAnswer(askback.Answer(a), b) }

type wireReason struct {
	Reason string `json:"reason,omitempty"`
}

type wireDigest struct {
	Digest string `json:"digest"`
}

// tokenBody is the body of POST /tokens.
type tokenBody askback.TokenRequest

// AppendJSON appends the body to b as JSON.
func (r tokenBody) AppendJSON(b []byte) ([]byte, error) {
	return appendTokenRequest(askback.TokenRequest(r), b)
}
