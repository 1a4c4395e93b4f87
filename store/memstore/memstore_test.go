package memstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) storetest.Subject {
	s := memstore.New()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return storetest.Subject{Store: s}
}

func TestStoreConforms(t *testing.T) { storetest.Run(t, open) }
