package compat

import (
	"strings"

	"github.com/askback/askback"
)

// parseDecision parses the answer to a confirmation. Only a few words approve, in any
// letter case; "approve_all" must be exact. Any other text denies, and is the reason.
func parseDecision(text string) askback.Answer {
	text = strings.TrimSpace(text)
	if text == string(askback.ApproveAll) {
		return askback.Decide(askback.ApproveAll, "")
	}
	switch strings.ToLower(text) {
	case "yes, proceed", "yes", "y", "true", "approved":
		return askback.Decide(askback.Approve, "")
	case "no, cancel", "no", "n", "false", "denied":
		return askback.Decide(askback.Deny, "")
	}
	return askback.Decide(askback.Deny, text)
}
