package txn_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/askback/askback/engine/internal/txn"
)

func TestLocksAreGrantedInOrderOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := txn.NewKeyedMutex()
		var order []int
		lock(t, m, "a")
		for i := range 5 {
			go func() {
				lock(t, m, "a")
				order = append(order, i)
				m.Unlock("a")
			}()
			synctest.Wait()
		}
		lock(t, m, "b") // another id, so this call does not wait for the lock on "a"
		m.Unlock("a")
		synctest.Wait()
		if want := []int{0, 1, 2, 3, 4}; !slices.Equal(order, want) {
			t.Errorf("got the order %v, want %v", order, want)
		}
		m.Unlock("b")
		if n := m.Locked(); n != 0 {
			t.Errorf("%d ids take memory, want none", n)
		}
	})
}

func TestCallerWhoseContextEndsIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := txn.NewKeyedMutex()
		lock(t, m, "a")
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		entered := false
		go func() { err = m.Lock(ctx, "a") }()
		synctest.Wait()
		go func() {
			lock(t, m, "a")
			entered = true
			m.Unlock("a")
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want %v", err, context.Canceled)
		}
		if entered {
			t.Error("the id was locked twice")
		}
		m.Unlock("a")
		synctest.Wait()
		if !entered || m.Locked() != 0 {
			t.Errorf("the next caller has the lock: %t, and %d ids are locked; want true and 0", entered, m.Locked())
		}
	})
}

// A caller may get the lock when its context ends. At random, it either keeps the lock or passes the lock on.
func TestLockIsNotLostWhenItsContextEnds(t *testing.T) {
	for range 100 {
		m := txn.NewKeyedMutex()
		lock(t, m, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		switch err := m.Lock(unlockingContext{ctx, m}, "a"); err {
		case nil:
			m.Unlock("a")
		case context.Canceled:
		default:
			t.Fatal(err)
		}
		if n := m.Locked(); n != 0 {
			t.Fatalf("%d ids are locked, want none", n)
		}
	}
}

// unlockingContext is a context that has ended. Its method Done unlocks "a".
type unlockingContext struct {
	context.Context
	mutex *txn.KeyedMutex
}

func (c unlockingContext) Done() <-chan struct{} {
	c.mutex.Unlock("a")
	return c.Context.Done()
}

func lock(t *testing.T, m *txn.KeyedMutex, id string) {
	if err := m.Lock(t.Context(), id); err != nil {
		t.Error(err)
	}
}
