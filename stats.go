package askback

import (
	"context"
)

// Directory is the interface to people, agents and statistics. Its methods may return
// the errors that every method of [Asker] may return.
type Directory interface {
	// People returns the people who may answer, sorted by name.
	People(ctx context.Context) ([]Person, error)
	// Groups returns the groups of people, sorted by name.
	Groups(ctx context.Context) ([]Group, error)
	// Routes returns the routes in the order in which they are matched: the routes of the settings come
	// first.
	Routes(ctx context.Context) (RouteList, error)
	// Agents returns the agents that may ask or have a pending ask, sorted by name.
	Agents(ctx context.Context) ([]AgentStats, error)
	// Stats returns figures on how long agents wait for people.
	Stats(ctx context.Context) (Stats, error)
}

// AgentStats is an agent with the number of its pending asks.
type AgentStats struct {
	Name    string `json:"name"`
	Pending int    `json:"asks_pending"`
}

// Stats is a set of figures on how long agents wait for people (F16). Durations are in seconds. Settled asks
// are counted over the last 24 hours.
type Stats struct {
	Pending       int            `json:"pending"`
	OldestPending float64        `json:"oldest_pending_s"` // age of the oldest pending ask
	Settled       map[Status]int `json:"settled"`
	ByPolicy      int            `json:"by_policy"`     // answered by a grant
	MedianWait    float64        `json:"median_wait_s"` // the median time from the request to the answer of a person
	Answers       []PersonStats  `json:"people"`
	Agents        []AgentStats   `json:"agents"`
	Partial       bool           `json:"partial"` // set if there are too many asks, so that only the newest are counted
}

// PersonStats counts the answers of one person. Many approvals with a short wait
// suggest that the person approves without reading.
type PersonStats struct {
	Name       string  `json:"name"`
	Answered   int     `json:"answered"`
	Approved   int     `json:"approved"`
	Denied     int     `json:"denied"`
	MedianWait float64 `json:"median_wait_s"`
}
