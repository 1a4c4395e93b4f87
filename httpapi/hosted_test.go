package httpapi_test

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
)

// hosts knows two hosted agents, one of which has a schedule. It runs none.
type hosts struct{ engine.Runner }

func (hosts) Agents() []askback.HostedAgent {
	return []askback.HostedAgent{
		{Name: "poem", Description: "Writes poems."},
		{Name: "triage", Schedule: "0 7 * * *", TimeZone: "Europe/Berlin"},
	}
}

func (hosts) Limits(agent string) (conversation.Limits, error) {
	if agent != "poem" && agent != "triage" {
		return conversation.Limits{}, askback.ErrNotFound
	}
	return conversation.Limits{}, nil
}

func (hosts) NextRun(_ string, after time.Time) time.Time {
	return after.UTC().Truncate(24 * time.Hour).Add(30 * time.Hour)
}
