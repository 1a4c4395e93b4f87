package view

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A HostedAgent is an [askback.HostedAgent] for display.
type HostedAgent struct {
	Name        safetext.Text
	Description safetext.Text
}

// OfHostedAgents returns the view of a list of agents.
func OfHostedAgents(all []askback.HostedAgent) (out []HostedAgent) {
	for _, a := range all {
		out = append(out, HostedAgent{safetext.Name(a.Name), safetext.Line(a.Description)})
	}
	return out
}
