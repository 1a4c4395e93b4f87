package compat

import (
	"strings"

	"github.com/askback/askback"
)

// decide reads what was said to a confirmation. Only the few words of the
// dialects approve, whatever their case; the one that approves more than this
// once must be exact. All else denies, and is kept as the reason.
func decide(said string) askback.Answer {
	said = strings.TrimSpace(said)
	if said == string(askback.ApproveAll) {
		return askback.Decide(askback.ApproveAll, "")
	}
	switch strings.ToLower(said) {
	case "yes, proceed", "yes", "y", "true", "approved":
		return askback.Decide(askback.Approve, "")
	case "no, cancel", "no", "n", "false", "denied":
		return askback.Decide(askback.Deny, "")
	}
	return askback.Decide(askback.Deny, said)
}
