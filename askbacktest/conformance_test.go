package askbacktest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The desk itself is a subject (F13).
func TestTheDeskKeepsWhatSeatsPromise(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject { return askbacktest.New(t) })
}
