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

// A RecentSet is the set of recent deliveries.
type RecentSet = recentSet

// The methods of RecentSet, for tests.
func NewRecentSet(now time.Time) RecentSet    { return newRecentSet(now) }
func Covers(m *RecentSet, at time.Time) bool  { return m.covers(at) }
func Add(m *RecentSet, recentKey string)      { m.add(recentKey) }
func Has(m *RecentSet, recentKey string) bool { return m.has(recentKey) }
func Size(m *RecentSet) int                   { return len(m.now) + len(m.old) }

// ReadInputs reads an input as the tools wait_for_answer and permission_prompt do. It returns both errors.
func ReadInputs(raw []byte) (waits, prompts error) {
	_, waits = readInput(raw, "question_id", "max_wait_s")
	_, prompts = readPrompt(raw)
	return waits, prompts
}

// OpenState returns the id of the ask in a requestState.
func (s *Server) OpenState(text, name, base string, now time.Time) (string, error) {
	return s.signer.parseState(text, name, base, now)
}

// ServeOutcome serves a request whose reply delivers the outcome of an ask.
func (s *Server) ServeOutcome(
	client Agent, ask askback.Ask, w http.ResponseWriter, r *http.Request, reply http.HandlerFunc,
) {
	caller := &caller{client: client, connected: r.Context(), acks: &s.acks}
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.deliver(caller, ask, ask.ID)
		reply(w, r)
	}), caller, w, r)
}

// ServeOutcomeAndCancel serves a request whose reply delivers an outcome, and cancels it
// right before or right after the reply is written.
func (s *Server) ServeOutcomeAndCancel(client Agent, ask askback.Ask, before bool) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
	caller := &caller{client: client, connected: r.Context(), acks: &s.acks}
	s.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.deliver(caller, ask, ask.ID)
		if before {
			s.cancel(caller)
		}
		_, _ = w.Write([]byte("the reply"))
		s.cancel(caller)
	}), caller, w, r)
}

// InFlight returns the number of requests that can be cancelled.
func (s *Server) InFlight() (n int) {
	for range s.inFlight.Range {
		n++
	}
	return n
}

// Delivered reports whether an outcome counts as delivered.
func (s *Server) Delivered(recentKey string) bool { return s.recent.has(recentKey) }

// ForgetDeliveries empties the set of recent deliveries, as a restart does.
func (s *Server) ForgetDeliveries() {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.now, s.recent.old = nil, nil
}

// Kill releases the lock of the process of s, as the system does when a process ends. The waits of s go on.
func (s *Server) Kill() { _ = s.waiting.Close() }
