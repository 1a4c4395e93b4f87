package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/askback/askback"
)

// The limits of Ack and Finish.
const (
	AckTick    = ackTick
	AckTime    = ackTime
	MaxAcks    = maxAcks
	FinishTime = finishTime
)

// Memory is what a server remembers of what it gave.
type Memory = memory

// The ways of a memory, for tests.
func NewMemory(now time.Time) Memory     { return newMemory(now) }
func Knows(m *Memory, at time.Time) bool { return m.knows(at) }
func Tell(m *Memory, mark string)        { m.tell(mark) }
func Told(m *Memory, mark string) bool   { return m.told(mark) }
func Size(m *Memory) int                 { return len(m.now) + len(m.old) }

// Judge reads an input as the small tools and the prompt do.
func Judge(raw []byte) (waits, prompts error) {
	_, waits = readInput(raw, "question_id", "max_wait_s")
	_, prompts = readPrompt(raw)
	return waits, prompts
}

// OpenState reads what a client was given to keep after a round with a page.
func (s *Server) OpenState(text, name, base string, now time.Time) (string, error) {
	return s.seal.openState(text, name, base, now)
}

// Give serves a request with a protocol that gives an ask and then replies.
func (s *Server) Give(seat Agent, ask askback.Ask, w http.ResponseWriter, r *http.Request, reply http.HandlerFunc) {
	who := &caller{seat: seat, live: r.Context(), acks: &s.acks}
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.tell(who, ask, ask.ID)
		reply(w, r)
	}), who, w, r)
}

// GiveAndCancel serves a request that gives an ask, and is cancelled right before or
// right after its reply is written.
func (s *Server) GiveAndCancel(seat Agent, ask askback.Ask, before bool) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
	who := &caller{seat: seat, live: r.Context(), acks: &s.acks}
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.tell(who, ask, ask.ID)
		if before {
			s.cancel(who)
		}
		_, _ = w.Write([]byte("the reply"))
		s.cancel(who)
	}), who, w, r)
}

// InFlight is how many requests can be cancelled.
func (s *Server) InFlight() int {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	return len(s.inFlight.who)
}

// Remembers says whether an ask counts as given.
func (s *Server) Remembers(mark string) bool { return s.memory.told(mark) }

// ForgetRounds empties the memory of a server, as a restart does.
func (s *Server) ForgetRounds() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.now, s.memory.old = nil, nil
}
