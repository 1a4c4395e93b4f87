package askback

import "time"

// A Person is somebody who may answer.
type Person struct {
	Name     string `json:"name"`
	Email    string `json:"email,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
}

// An Asking is an agent, as people see it: the name of its token.
type Asking struct {
	Name    string `json:"name"`
	Pending int    `json:"asks_pending"`
}

// Stats say how long agents wait, and for whom (F16). Times are seconds. What
// is settled is that of the last [StatsTime]; of a very large inbox the newest
// part is counted, and Partial says so.
type Stats struct {
	Pending       int            `json:"pending"`
	OldestPending float64        `json:"oldest_pending_s"` // how long the oldest open ask waits
	Settled       map[Status]int `json:"settled"`
	ByPolicy      int            `json:"by_policy"`     // answered by a grant
	MedianWait    float64        `json:"median_wait_s"` // from asking to an answer by a person
	Answers       []PersonStats  `json:"people"`
	Agents        []Asking       `json:"agents"`
	Partial       bool           `json:"partial"`
}

// PersonStats are the answers of one person. Approvals within moments of each
// other, all alike, are the mark of somebody who no longer reads.
type PersonStats struct {
	Name       string  `json:"name"`
	Answered   int     `json:"answered"`
	Approved   int     `json:"approved"`
	Denied     int     `json:"denied"`
	MedianWait float64 `json:"median_wait_s"`
}

// StatsTime is the time that [Stats] look back.
const StatsTime = 24 * time.Hour
