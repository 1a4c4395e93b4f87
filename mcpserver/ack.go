package mcpserver

import (
	"context"
	"time"
)

const (
	// maxAcks is the maximum number of concurrent calls of Ack, for all HTTP requests together and for each
	// connection on stdio. It is reached only if the store hangs. Further outcomes then count as not
	// delivered, which bounds the memory.
	maxAcks = 4096
	// ackTime is the timeout of a call of Ack. It also limits how long Finish waits for the call.
	ackTime = 5 * time.Second
	// ackTick is the interval at which outcomes are acknowledged. The store can then commit
	// all acks of one tick together. The interval is short, because an outcome is delivered
	// again after a crash before Ack.
	ackTick = 50 * time.Millisecond
)

// ack acknowledges the outcome d in the background, so that the reply does not wait for the disk. Over HTTP,
// it waits for the next tick, or until the server stops. On stdio it does not wait, because some clients kill
// the server as soon as their last turn is over. If the call of Ack fails, the outcome counts as not
// delivered.
func (s *Server) ack(caller *caller, d delivery) {
	if err := caller.acks.begin(); err != nil {
		s.ackFailed(d, err)
		return
	}
	go func() {
		defer caller.acks.end()
		if !caller.stdio {
			select {
			case <-time.After(time.Until(time.Now().Truncate(ackTick).Add(ackTick))):
			case <-s.stopping.Done():
			}
		}
		ctx, cancel := context.WithTimeout(s.ackCtx, ackTime)
		defer cancel()
		err := ctx.Err() // set if Finish has timed out
		if err == nil {
			_, err = caller.client.Ack(ctx, d.id)
		}
		if err != nil {
			s.ackFailed(d, err)
		}
	}()
}

// ackFailed makes the outcome d count as not delivered, and logs err.
func (s *Server) ackFailed(d delivery, err error) {
	s.recent.remove(d.recentKey)
	s.log.Warn("an outcome was sent and could not be acknowledged", "ask", d.id, "error", err)
}
