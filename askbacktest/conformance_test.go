package askbacktest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The instance passes the conformance suite of askback.Client (F13).
func TestInstanceConformsToSuite(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject {
		return askbacktest.On(t, memstore.New(), &engine.Options{Settings: engine.Settings{Undo: limits.MaxUndo}})
	})
}
