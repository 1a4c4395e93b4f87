package pages

import (
	"net/url"

	"github.com/askback/askback/internal/text/view"
)

// A GrantList is a page of standing approvals.
type GrantList struct {
	Groups    []view.GrantGroup
	Ended     bool         // whether the list has the ended approvals
	Agent     string       // agent of the list; "" for all
	Next      string       // cursor of the next page; "" after the last page
	Past      []view.Grant // the newest ended approvals, to fold below the valid ones
	MorePast  bool         // whether there are more ended approvals
	Revoked   *view.Grant  // approval that the person revoked before this page was shown, or nil
	MayRevoke bool
}

// AgentText returns the agent for display. It is text of the agent.
func (l GrantList) AgentText() view.Text { return view.RawText(l.Agent).Text() }

// path returns the address of a page of standing approvals. If ended is true, the page has the ended
// approvals instead of the valid approvals. The argument agent selects the approvals of one agent, and cursor
// selects the page.
func (l GrantList) path(ended bool, agent, cursor string) string {
	q := url.Values{}
	if ended {
		q.Set("ended", "1")
	}
	if agent != "" {
		q.Set("agent", agent)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	if len(q) == 0 {
		return "/grants"
	}
	return "/grants?" + q.Encode()
}

// agentPath returns the address of the standing approvals for the agent of a group.
func (l GrantList) agentPath(g view.GrantGroup) string {
	if l.Ended {
		return "/grants?ended=1&agent=" + g.Grants[0].Filter
	}
	return "/grants?agent=" + g.Grants[0].Filter
}

// breadthClass returns the CSS class of the row for a standing approval.
func breadthClass(g view.Grant) string {
	switch g.Breadth() {
	case view.Widest:
		return "is-widest"
	case view.Wide:
		return "is-wide"
	}
	return "is-narrow"
}

// argumentsSummary returns the label above the folded arguments of a standing approval.
func argumentsSummary(g view.Grant) string {
	if g.Exact {
		return "All arguments"
	}
	return "Approved arguments"
}
