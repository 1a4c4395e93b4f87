package txn_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/test/kit/filltest"
)

// fixed lists the texts of an ask that the constants of AskBytes include: ids, names and digests. The text of
// a question is shared with its answer.
var fixed = []string{
	"ID", "SessionID", "Agent", "Owner", "PageURL", "Questions.ID", "Confirmation.Tier", "Confirmation.Digest",
	"Outcome.Answers.ID", "Outcome.Answers.Question", "Outcome.Digest", "Outcome.GrantID",
}

// texts with a type of their own, such as a status, are constants and need no memory
func TestAskBytesCountsEveryText(t *testing.T) {
	const size = 1000
	before := txn.AskBytes(new(filltest.New[askback.Ask]()))
	a := filltest.New[askback.Ask]()
	for i, leaf := range filltest.Leaves(&a) {
		larger := filltest.New[askback.Ask]()
		switch v := filltest.Leaves(&larger)[i].Value.Addr().Interface().(type) {
		case *string:
			*v = strings.Repeat("x", size)
		case *json.RawMessage:
			*v = make([]byte, size)
		default:
			continue
		}
		got := txn.AskBytes(&larger) - before
		if counted := got > size/2; counted == slices.Contains(fixed, leaf.Field()) {
			t.Errorf("%s with %d bytes counts as %d more", leaf.Path, size, got)
		}
	}
}
