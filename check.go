package askback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/codec"
)

func checkNames(bad *problems, at string, list []string) []string {
	if len(list) > limits.MaxNames {
		bad.add(at, fmt.Sprintf("%d entries are too many; at most %d are allowed", len(list), limits.MaxNames),
			"name fewer")
		return nil
	}
	out := slices.Grow([]string(nil), len(list))
	for i, one := range list {
		bad.enter(at, i)
		if strings.TrimSpace(one) == "" {
			bad.add("", "is blank", "name a person, or leave it out")
		}
		checkName(bad, "", one, limits.MaxName)
		bad.leave()
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

func checkRequired(bad *problems, at, s string, limit int) {
	if strings.TrimSpace(s) == "" {
		bad.add(at, "is blank", "write something")
		return
	}
	checkText(bad, at, s, limit)
}

// checkName checks the encoding and the length of a name. A name must not have control
// characters, because it is displayed on one line.
func checkName(bad *problems, at, s string, limit int) {
	if strings.ContainsFunc(s, unicode.IsControl) {
		bad.add(at, "a name must not contain control characters", "write it in one line")
		return
	}
	checkText(bad, at, s, limit)
}

func checkText(bad *problems, at, s string, limit int) {
	switch {
	case !utf8.ValidString(s):
		bad.add(at, "is not UTF-8", "send UTF-8")
	case len(s) > limit && utf8.RuneCountInString(s) > limit:
		bad.add(at, tooLong(utf8.RuneCountInString(s), limit), "shorten it")
	}
}

// CheckDraft returns an [Invalid] unless the draft is a JSON object of at most
// 256 KiB.
func CheckDraft(draft json.RawMessage) error {
	if b := bytes.TrimSpace(draft); len(draft) > limits.MaxDraft || !utf8.Valid(b) || !json.Valid(b) || b[0] != '{' {
		return Invalid{{
			Detail: fmt.Sprintf("a draft is a JSON object of at most %d bytes", limits.MaxDraft),
			Fix:    `{"answers": []}`,
		}}
	}
	return nil
}

// CheckReason returns an [Invalid] if the reason is not UTF-8 or is too long.
func CheckReason(reason string) error {
	var bad problems
	checkText(&bad, "/reason", reason, limits.MaxText)
	return bad.err()
}

func tooLong(n, limit int) string {
	return fmt.Sprintf("%d characters are too many; at most %d are allowed", n, limit)
}

// truncate returns the first n grapheme clusters of s. It removes white space around the result.
func truncate(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	rest, state := s, -1
	for range n {
		if rest == "" {
			return s
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return strings.TrimSpace(strings.TrimSuffix(s, rest))
}

// compact returns raw without white space between its tokens, and reports whether raw is JSON in UTF-8. If
// raw is not such JSON, compact only removes the white space around raw.
func compact(raw json.RawMessage) (json.RawMessage, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	if out, err := codec.AppendRaw(make([]byte, 0, len(raw)), raw, ""); err == nil {
		return out, true
	}
	var b bytes.Buffer // for JSON with lone surrogates
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil || !utf8.Valid(raw) {
		return bytes.Clone(bytes.TrimSpace(raw)), false
	}
	return b.Bytes(), true
}

// quote returns s in quotation marks for a message. If s has more than 40 characters, an
// ellipsis replaces the rest.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
