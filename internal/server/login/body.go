package login

import (
	"net/http"
	"time"
)

// BodyTime is how long the body of an authenticated request may take to arrive. Until a request is
// authenticated, the shorter time limit of the HTTP server applies.
const BodyTime = 2 * time.Minute

// ExtendBody sets how long the body of a request may take from now on, such as [BodyTime].
func ExtendBody(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if r.ContentLength != 0 {
		// An error means that the connection has no deadlines, as in some tests.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
	}
}

// RefuseBody makes the reply to a request close the connection if its body was not read. Otherwise the
// server would wait for the body before it replies.
func RefuseBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
