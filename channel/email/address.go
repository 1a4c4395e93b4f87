package email

import (
	"crypto/hmac"
	"encoding/base32"
	"fmt"
	"net/mail"
	"strings"

	"github.com/askback/askback/internal/mac"
)

// The token of a reply address authenticates an ask, a person and a number, which is the number of times that
// the person was asked again. The token consists of the digits of the ask's id, the number, and a code.
const (
	askPrefix   = "ask_"
	askDigits   = 26 // length of the id of an ask, without its prefix
	codeDigits  = 20 // 100 bits: a server that accepts a thousand guesses a second needs 10^19 years
	tokenLength = askDigits + 1 + codeDigits
)

// maxLocalPart is the maximum length of the part of an address before the @ in bytes (RFC 5321, section
// 4.5.3.1.1).
const maxLocalPart = 64

// placeholder is replaced by the token in the reply address of the settings.
const placeholder = "{token}"

// lower is base32 in lower case, because servers may change the case of an address.
var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// code returns a code that authenticates parts for a purpose.
func (c *Channel) code(purpose string, parts ...string) string {
	return lower.EncodeToString(mac.Sum(c.key, "email "+purpose, parts...))[:codeDigits]
}

// replyToken returns the token of the reply address for an ask and a person. The argument again is the number
// of times that the person has been asked again. The token is "" if the id of the ask does not have the form
// of this release.
func (c *Channel) replyToken(ask, person string, again int) string {
	id, ok := strings.CutPrefix(ask, askPrefix)
	if !ok || len(id) != askDigits || again < 0 || again > maxAgain {
		return ""
	}
	return fmt.Sprintf("%s%d%s", id, again, c.code("reply", ask, person, fmt.Sprint(again)))
}

// replyAddress returns the address to which a person replies about an ask. It returns "" if replies are not
// configured or there is no token for the ask.
func (c *Channel) replyAddress(ask, person string, again int) string {
	token := c.replyToken(ask, person, again)
	if token == "" || c.options.Reply == "" {
		return ""
	}
	return strings.ReplaceAll(c.options.Reply, placeholder, token)
}

// A replyTo has the parts of the token of a reply address.
type replyTo struct {
	ask    string
	person string
	again  int
	token  string
}

// parseToken parses a token in lower case. It reports false unless this server made the token for one of the
// people.
func (c *Channel) parseToken(token string) (r replyTo, ok bool) {
	if len(token) != tokenLength {
		return r, false
	}
	digit := int(token[askDigits]) - '0'
	if digit < 0 || digit > maxAgain {
		return r, false
	}
	ask := askPrefix + token[:askDigits]
	for person := range c.options.People() {
		if hmac.Equal([]byte(c.replyToken(ask, person, digit)), []byte(token)) {
			return replyTo{ask, person, digit, token}, true
		}
	}
	return r, false
}

// recipientFields are the fields that can contain the reply address, the most trusted first. Servers that
// collect mail for several addresses in one mailbox write the fields before To.
var recipientFields = []string{
	"Delivered-To", "X-Original-To", "X-Delivered-To", "X-Envelope-To", "Envelope-To", "To", "Cc",
}

// findToken returns the token in an address. It reports whether the address has the form of the reply
// address.
func (c *Channel) findToken(address string) (token string, ok bool) {
	before, after, _ := strings.Cut(strings.ToLower(c.options.Reply), placeholder)
	address = strings.ToLower(strings.TrimSpace(address))
	rest, ok := strings.CutPrefix(address, before)
	if !ok {
		return "", false
	}
	token, ok = strings.CutSuffix(rest, after)
	return token, ok && len(token) == tokenLength
}

// CheckReply returns the problem with a reply address of the settings, or "".
func CheckReply(s string) (problem string) {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case strings.Count(s, placeholder) != 1 || !strings.Contains(local, placeholder):
		return "has no {token} before the @"
	case CheckAddress(strings.Replace(s, placeholder, strings.Repeat("a", tokenLength), 1)) != "":
		return "is not an e-mail address"
	case domain == "":
		return "has no domain"
	case len(local)-len(placeholder)+tokenLength > maxLocalPart:
		return fmt.Sprintf("is too long: the part before the @ may have %d characters besides {token}",
			maxLocalPart-tokenLength)
	}
	return ""
}

// CheckAddress returns the problem with an e-mail address, or "".
func CheckAddress(s string) (problem string) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || strings.ContainsFunc(s, isControl) {
		return "is not an e-mail address"
	}
	return ""
}

// isControl reports whether r is a control character. Control characters include the ends of lines.
func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 }

// messageID returns the id of a message, with the angle brackets. The id depends only on the parts, so that a
// repeat after a crash has the same id.
func (c *Channel) messageID(parts ...string) string {
	return fmt.Sprintf("<askback.%s@%s>", c.code("message", parts...), c.domain)
}

// questionID returns the id of the message that asks a person.
func (c *Channel) questionID(ask, person string) string { return c.messageID("question", ask, person) }

// domainOf returns the part of an address after the last @. Without an @, it returns the address.
func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// lowerASCII returns an address with ASCII letters in lower case. Other letters stay, because Unicode has
// letters that fold to k and s. An address with such a letter is a different address.
func lowerASCII(address string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, address)
}
