package email

import (
	"strings"

	"github.com/emersion/go-message/textproto"
	"github.com/emersion/go-msgauth/authres"
)

// authenticated reports whether a mail server found that a message is from the domain of its author (RFC
// 8601, RFC 7489). The server has the authserv-id id. At least one result for DMARC is required, and each
// DMARC result must be pass for this domain.
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

// withoutQuotes returns a field without its comments. In a quoted string, it keeps only characters of
// domains. It reports false if a comment or a quoted string does not end. Servers repeat text of the author
// in comments and quoted strings, such as the address of the envelope. The parser splits the field without
// regard to quotes.
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

// resultFields returns the fields Authentication-Results of the server id that the author of the message
// cannot have written. Servers add fields at the top (RFC 5321 section 4.4). So all fields above the field
// Received of the incoming hop are from this server. It may write a field for each method (RFC 8601 section
// 5). Some servers write their results below this field Received, directly above the fields of the author.
// Then only the first field counts, because the author may have written the next field. The same rule applies
// to a message without a field Received.
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

// isOf reports whether a field Authentication-Results begins with the authserv-id id.
func isOf(field, id string) bool {
	who, _, _ := strings.Cut(field, ";")
	words := strings.Fields(who)
	return len(words) > 0 && strings.EqualFold(words[0], id)
}

// isInternal reports whether a field Received is about a step within a server. Such a field names no sending
// host, or its protocol is LMTP, which delivers messages to mailboxes. A name after "from" does not count,
// because the sending host chooses the name. Text after a < does not count either, because it is a recipient.
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
