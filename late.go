package askback

import "time"

// A LateAnswer is an answer to an ask that was settled before, or an attempt to decline it. It
// is kept in the history and did not reach the agent.
type LateAnswer struct {
	AskID   string
	Name    string  // the person
	Channel Channel // through which it came
	At      time.Time
	// Answer is what the person sent. It is empty if that was too long to be kept, and has
	// only a Reason if the person declined.
	Answer Answer
}
