package people

import (
	"fmt"
	"maps"
	"slices"

	"github.com/askback/askback"
)

// excluding returns a problem for each hosted agent whose confirmations are all rejected. These are the
// agents that name people of whom too few may decide the confirmations.
func (c *current) excluding(recipients map[string][]string, known []string) (all []DirectoryProblem) {
	for _, agent := range slices.Sorted(maps.Keys(recipients)) {
		r := c.routeOf(&askback.Ask{
			Kind: askback.Confirm, Agent: agent, Owner: askback.HostedPrefix + agent, To: recipients[agent],
		})
		if len(r.approvers) == 0 {
			continue
		}
		var sets [][]string
		for _, names := range r.approvers {
			sets = append(sets, c.knownOf(names, known))
		}
		approvers := inAll(sets)
		may := inAll([][]string{approvers, c.knownOf(recipients[agent], known)})
		if len(approvers) == 0 || len(may) > 0 && (r.Quorum <= len(may) || len(r.Escalate) > 0) {
			continue // enough people may decide, or the routes are wrong, which is reported separately
		}
		all = append(all, DirectoryProblem{Source: askback.SourceSettings, Refuses: true, Text: fmt.Sprintf(
			"each confirmation of the agent %q is refused: %s must approve it, but its definition names only %d of "+
				"the people who may decide, %s", agent, howMany(r.Quorum), len(may), listed(approvers))})
	}
	return all
}
