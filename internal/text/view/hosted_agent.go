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

// OfHostedAgents returns the views of hosted agents, in the same order.
func OfHostedAgents(all []askback.HostedAgent) (out []HostedAgent) {
	for _, a := range all {
		out = append(out, HostedAgent{safetext.Name(a.Name), safetext.Line(a.Description)})
	}
	return out
}
