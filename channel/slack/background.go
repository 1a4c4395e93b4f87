package slack

import "sync"

// A background counts goroutines. Unlike with a [sync.WaitGroup], a goroutine may be started during Wait,
// because a person may press a button at any time. The zero value is ready to use.
type background struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when the last goroutine ends; nil if no goroutine runs
}

// Go calls f in a goroutine.
func (b *background) Go(f func()) {
	b.mu.Lock()
	if b.running++; b.running == 1 {
		b.idle = make(chan struct{})
	}
	b.mu.Unlock()
	go func() {
		defer b.end()
		f()
	}()
}

func (b *background) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running--; b.running == 0 {
		close(b.idle)
		b.idle = nil
	}
}

// Wait waits until no goroutine runs. It does not wait for goroutines that start after all earlier goroutines
// have ended.
func (b *background) Wait() {
	b.mu.Lock()
	idle := b.idle
	b.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
