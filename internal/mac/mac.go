// Package mac authenticates data that others keep and send back: links in messages, buttons in chats, reply
// addresses, cookies, session ids.
package mac

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
)

// Sum returns the HMAC-SHA256 of parts for a purpose. Sums of different purposes differ. Each part is
// preceded by its length, so two sums also differ if only the boundaries of their parts differ. A purpose is
// a constant without a line break. The form must not change, because reply addresses in sent mails contain
// such sums.
func Sum(key []byte, purpose string, parts ...string) []byte {
	text := []byte("askback " + purpose + "\n")
	for _, p := range parts {
		text = strconv.AppendInt(text, int64(len(p)), 10)
		text = append(text, ' ')
		text = append(text, p...)
		text = append(text, '\n')
	}
	return Bare(key, string(text))
}

// Bare returns the HMAC-SHA256 of text, without a purpose and lengths. Sum uses Bare. Other callers use it
// only to verify signatures of earlier releases. Make new signatures with [Sum].
func Bare(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
