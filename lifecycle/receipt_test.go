package lifecycle_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
)

// F6: there is one receipt at most, the first, and none before the outcome. Whoever
// spends an approval has it.
func TestAReceiptIsGivenOnce(t *testing.T) {
	eachMoment(t, func(t *rapid.T, m moment) {
		_, receipt := m.event.(lifecycle.Received)
		_, spends := m.event.(lifecycle.Consumed)
		before, after := m.before.Ask.ReceivedAt, m.after.Ask.ReceivedAt
		switch {
		case receipt && errors.Is(m.err, askback.ErrPending) == m.before.Ask.Settled():
			t.Errorf("a receipt for an ask that is %s: got error %v", m.before.Ask.Status, m.err)
		case !before.IsZero() && !after.Equal(before):
			t.Errorf("the receipt of %v became one of %v by %T", before, after, m.event)
		case !after.IsZero() && !m.after.Ask.Settled():
			t.Errorf("there is a receipt for an ask that is %s", m.after.Ask.Status)
		case before.IsZero() && (receipt || spends) && m.err == nil && after.IsZero():
			t.Errorf("no receipt after %T", m.event)
		case before.IsZero() && !after.IsZero() && !receipt && !spends:
			t.Errorf("a receipt by %T", m.event)
		}
	})
}
