package email

import (
	"strings"

	"github.com/emersion/go-message/textproto"
	"github.com/emersion/go-msgauth/authres"
)

// authenticated reports whether the server with an authserv-id found that a message is from the domain of its
// author (RFC 8601, RFC 7489). At least one of its results must be for DMARC, and each DMARC result must be
// pass for this domain.
func authenticated(h textproto.Header, id, from string) (passed bool) {
	for _, field := range resultFields(h, id) {
		field, ok := withoutQuotes(field)
		if !ok {
			return false
		}
		_, results, err := authres.Parse(field)
		if err != nil {
			return false
		}
		for _, r := range results {
			d, isDMARC := r.(*authres.DMARCResult)
			if !isDMARC {
				continue
			}
			if d.Value != authres.ResultPass ||
				d.From != "" && !strings.EqualFold(domainOf("@"+d.From), domainOf(from)) {
				return false
			}
			passed = true
		}
	}
	return passed
}

// withoutQuotes returns a field without its comments and quotes. There a server repeats what the author of a
// message chose, such as the address of the envelope. The parser of the field splits it without regard to
// quotes, so only the characters of domains are kept inside quotes. It returns false if a comment or quote
// does not end.
func withoutQuotes(field string) (plain string, ok bool) {
	var b strings.Builder
	depth, quoted, escaped := 0, false, false
	for _, r := range field {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && (quoted || depth > 0):
			escaped = true
		case quoted:
			if quoted = r != '"'; quoted && strings.ContainsRune(domainCharacters, r) {
				b.WriteRune(r)
			}
		case r == '(':
			depth++
		case depth > 0:
			if r == ')' {
				depth--
			}
		case r == '"':
			quoted = true
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), depth == 0 && !quoted
}

// domainCharacters are the characters of domain names.
const domainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."

// resultFields returns the fields Authentication-Results of the server with an id that the author of the
// message cannot have written. Servers add fields at the top (RFC 5321 section 4.4). All fields above the
// field Received of the incoming hop are therefore from this server, which may write one for each method (RFC
// 8601 section 5). Some servers write their results below that field, directly above what the author sent.
// There only the first field counts: the author may have written the next one. The same holds for a message
// without a field Received.
func resultFields(h textproto.Header, id string) (fields []string) {
	entered, above := false, 0
	for f := h.Fields(); f.Next(); {
		switch {
		case strings.EqualFold(f.Key(), "Received"):
			entered = entered || !isInternal(f.Value())
		case strings.EqualFold(f.Key(), "Authentication-Results") && isOf(f.Value(), id):
			fields = append(fields, f.Value())
			if !entered {
				above++
			}
		}
	}
	if entered && above > 0 {
		return fields[:above]
	}
	return fields[:min(1, len(fields))]
}

// isOf reports whether a field Authentication-Results begins with an id.
func isOf(field, id string) bool {
	who, _, _ := strings.Cut(field, ";")
	words := strings.Fields(who)
	return len(words) > 0 && strings.EqualFold(words[0], id)
}

// isInternal reports whether a field Received is about a step within a server: it names no sending host, or
// the protocol is LMTP, which delivers messages to mailboxes. A name after "from" does not count, because the
// other side chooses it. Text after a < does not count either: it is a recipient.
func isInternal(received string) bool {
	words := strings.Fields(strings.ToLower(received))
	if len(words) == 0 || words[0] != "from" {
		return true
	}
	before, _, _ := strings.Cut(strings.ToLower(received), "<")
	words = strings.Fields(before)
	for i := len(words) - 2; i > 0; i-- {
		if words[i] == "with" {
			protocol := strings.TrimSuffix(words[i+1], ";")
			return strings.HasPrefix(protocol, "lmtp") || strings.HasPrefix(protocol, "utf8lmtp")
		}
	}
	return false
}
