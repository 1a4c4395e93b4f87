package mcpserver

import (
	"context"
	"time"
)

const (
	// maxAcks is the most calls of Ack at once, over HTTP and for each connection on
	// stdio. Only a store that hangs gets as many: then one Ack less costs less than the
	// memory.
	maxAcks = 4096
	// ackTime bounds a call of Ack, and so how long the end waits for it.
	ackTime = 5 * time.Second
	// ackTick is the interval at which outcomes are acknowledged. Calls of one tick reach
	// the store at the same moment, and it commits them together. Without it, each answer
	// costs a commit more. It is short, because a crash before Ack returns the answer twice.
	ackTick = 50 * time.Millisecond
)

// ack acknowledges an outcome in the background at the next tick, so that the reply does
// not wait for the disk. If Ack fails, the outcome is returned once more.
func (s *Server) ack(caller *caller, d delivery) {
	if err := caller.acks.begin(); err != nil {
		s.ackFailed(d, err)
		return
	}
	go func() {
		defer caller.acks.end()
		select {
		case <-time.After(time.Until(time.Now().Truncate(ackTick).Add(ackTick))):
		case <-s.stopping.Done():
		}
		ctx, cancel := context.WithTimeout(s.ackCtx, ackTime)
		defer cancel()
		err := ctx.Err() // Finish may have run out of time
		if err == nil {
			_, err = caller.client.Ack(ctx, d.id)
		}
		if err != nil {
			s.ackFailed(d, err)
		}
	}()
}

// ackFailed makes an outcome count as not delivered.
func (s *Server) ackFailed(d delivery, err error) {
	s.recent.remove(d.recentKey)
	s.log.Warn("an outcome was sent and could not be acknowledged", "ask", d.id, "error", err)
}
