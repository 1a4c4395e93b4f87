// Package answerlink signs the tokens in links and buttons of messages. With a token, one person can answer
// one ask without a log-in. Nothing is stored. An outcome is final, so a token has at most one effect.
// Afterwards the token only shows the outcome.
package answerlink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/mac"
)

// Path is the path of the pages of links. In an address, the token follows Path.
const Path = "/a/"

// Redact returns path without the token of a link, for logs.
func Redact(path string) string {
	if before, _, ok := strings.Cut(path, Path); ok { // also for //a/TOKEN, which is redirected
		return before + Path + "…"
	}
	return path
}

// A Link contains the values to which a token is bound.
type Link struct {
	AskID   string
	Person  string          // person who answers with the token
	Channel askback.Channel // channel through which the person got the token; the outcome records it
	// Choice is the number of the only choice that the token can give as an answer, counted from 1 in the
	// choices of package notice. If Choice is 0, the person chooses on the page. A link in a mail has no
	// choice, because programs that check mails press the buttons of pages.
	Choice int
}

// A Purpose is the purpose of the tokens of a [Signer]. A token for one purpose is not valid for another.
type Purpose string

// Purposes of tokens.
const (
	Page  Purpose = "page"  // used in the address of a page
	Reply Purpose = "reply" // published to a topic that the server reads
)

// A Signer signs links and verifies their tokens. It is safe for concurrent use.
type Signer struct {
	source  func() ([]byte, error)
	purpose Purpose

	mu  sync.Mutex
	key []byte
}

// New returns a Signer for the purpose p. The function key returns a key of at least 32 bytes. The Signer
// calls key when the key is first needed.
func New(key func() ([]byte, error), p Purpose) *Signer { return &Signer{source: key, purpose: p} }

// keySize is the size in bytes of the smallest key.
const keySize = 32

// secret returns the key. It fetches the key once.
func (s *Signer) secret() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		key, err := s.source()
		if err != nil {
			return nil, err
		}
		if len(key) < keySize {
			return nil, errors.New("the key that signs links is too short")
		}
		s.key = key
	}
	return s.key, nil
}

func (s *Signer) sum(key, text []byte) []byte {
	return mac.Sum(key, "answer link "+string(s.purpose), string(text))
}

// oldSum returns the code of text in the form of earlier releases. Messages with such links are in use while
// their asks are open, which may be weeks.
func (s *Signer) oldSum(key, text []byte) []byte {
	return mac.Bare(mac.Bare(key, "askback answer link "+string(s.purpose)), string(text))
}

// encoding uses characters that need no escape in a path. It is strict, so that each link has only one valid
// token.
var encoding = base64.RawURLEncoding.Strict()

// version is the first byte of each token.
const version = 1

// Sign returns the token of a link. It returns an error if the key cannot be fetched, or if the link has no
// ask, person or channel.
func (s *Signer) Sign(l Link) (string, error) {
	key, err := s.secret()
	switch {
	case err != nil:
		return "", err
	case l.AskID == "" || l.Person == "" || l.Channel == "" || l.Choice < 0:
		return "", errors.New("a link needs an ask, a person and a channel")
	}
	text := []byte{version}
	for _, field := range []string{l.AskID, l.Person, string(l.Channel)} {
		text = binary.AppendUvarint(text, uint64(len(field)))
		text = append(text, field...)
	}
	text = binary.AppendUvarint(text, uint64(l.Choice))
	return encoding.EncodeToString(append(text, s.sum(key, text)...)), nil
}

// URL returns the address of the page of a link on the server at the address public. If public is "" or Sign
// fails, it returns "".
func (s *Signer) URL(public string, l Link) string {
	if public == "" {
		return ""
	}
	token, err := s.Sign(l)
	if err != nil {
		return ""
	}
	return public + Path + token
}

// ErrInvalid is returned for a token that was not signed for this purpose with this key.
var ErrInvalid = errors.New("this is not a valid token of a link")

// maxToken is the maximum length of a token that Verify decodes. Valid tokens are shorter, because the names
// of people have a limit.
const maxToken = 4096

// Verify returns the link of a token. The error is [ErrInvalid], or the error of fetching the key.
func (s *Signer) Verify(token string) (Link, error) {
	key, err := s.secret()
	if err != nil {
		return Link{}, err
	}
	if len(token) > maxToken {
		return Link{}, ErrInvalid
	}
	raw, err := encoding.DecodeString(token)
	if err != nil || len(raw) <= sha256.Size || strings.ContainsAny(token, "\r\n") {
		return Link{}, ErrInvalid
	}
	text, code := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	valid := hmac.Equal(code, s.sum(key, text)) || hmac.Equal(code, s.oldSum(key, text))
	if !valid || text[0] != version {
		return Link{}, ErrInvalid
	}
	return parse(text[1:])
}

// parse parses the signed text of a token, without its version.
func parse(text []byte) (l Link, err error) {
	fields := make([]string, 3)
	for i := range fields {
		n, used := binary.Uvarint(text)
		if used <= 0 || n > uint64(len(text)-used) {
			return Link{}, ErrInvalid
		}
		end := used + int(n)
		fields[i], text = string(text[used:end]), text[end:]
	}
	choice, used := binary.Uvarint(text)
	if used <= 0 || used != len(text) || choice > 1<<16 {
		return Link{}, ErrInvalid
	}
	return Link{AskID: fields[0], Person: fields[1], Channel: askback.Channel(fields[2]), Choice: int(choice)}, nil
}
