package lifecycle_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// Only the first acknowledgement counts. An acknowledgement before the outcome is rejected. The consumption
// of an approval also acknowledges its outcome (F6).
func TestOutcomeIsAcknowledgedOnce(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		_, acks := m.event.(lifecycle.Acked)
		_, spends := m.event.(lifecycle.Consumed)
		before, after := m.before.Ask.AckedAt, m.after.Ask.AckedAt
		switch {
		case acks && errors.Is(m.err, askback.ErrPending) == m.before.Ask.Settled():
			t.Errorf("acknowledged while %s: got error %v", m.before.Ask.Status, m.err)
		case !before.IsZero() && !after.Equal(before):
			t.Errorf("%T changed the time of the acknowledgement from %v to %v", m.event, before, after)
		case !after.IsZero() && !m.after.Ask.Settled():
			t.Errorf("an ask that is %s is acknowledged", m.after.Ask.Status)
		case before.IsZero() && (acks || spends) && m.err == nil && after.IsZero():
			t.Errorf("%T does not acknowledge the outcome", m.event)
		case before.IsZero() && !after.IsZero() && !acks && !spends:
			t.Errorf("%T acknowledges the outcome", m.event)
		}
	})
}
