package slack

import (
	"testing"
	"testing/synctest"
)

// A goroutine may start while Wait waits for another goroutine. Wait then also waits for the new goroutine.
func TestGoroutineMayStartDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b background
		b.Wait() // none runs
		first, second := make(chan struct{}), make(chan struct{})
		b.Go(func() { <-first })
		waited := make(chan struct{})
		go func() {
			b.Wait()
			close(waited)
		}()
		synctest.Wait()
		b.Go(func() { <-second })
		close(first)
		synctest.Wait()
		select {
		case <-waited:
			t.Error("Wait returned while a goroutine ran")
		default:
		}
		close(second)
		<-waited
	})
}
