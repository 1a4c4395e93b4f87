package askbacktest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/askback/askback/askbacktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The desk itself is a subject (F13).
func TestTheDeskKeepsWhatSeatsPromise(t *testing.T) {
	askbacktest.Seats(t, func(t *testing.T) askbacktest.Subject { return askbacktest.New(t) })
}
