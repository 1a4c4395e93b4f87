package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
)

// A sitePage is an entry of the navigation, with the action that its page requires.
type sitePage struct {
	pages.PageLink
	action access.Action // "" for a page that every person may open
}

// sitePages are the pages in the navigation, in order. The bar of a phone has room for three links and the
// link More.
var sitePages = []sitePage{
	{pages.PageLink{Name: "Inbox", Path: "/", Place: pages.InBar}, access.ActList},
	{pages.PageLink{Name: "History", Path: "/history", Place: pages.InBar}, access.ActList},
	{pages.PageLink{Name: "Sessions", Path: pages.SessionsPath, Place: pages.InBar}, access.ActFollow},
	{pages.PageLink{
		Name: "Standing approvals", Path: "/grants", Place: pages.InHeader,
		About: "Calls that run without asking you. Revoke them here.",
	}, access.ActGrants},
	{pages.PageLink{Name: "Run an agent", Path: pages.RunPath, About: "Start an agent of this server, and follow " +
		"what it does."}, access.ActRun},
	{
		pages.PageLink{Name: "Agents", Path: "/agents", About: "Who asks, how often, and how long they wait."},
		access.ActPeople,
	},
	{pages.PageLink{Name: "People", Path: "/people", About: "Who may answer, what is open for them, and the groups " +
		"they are in."}, access.ActPeople},
	{pages.PageLink{Name: "Routes", Path: pages.RoutesPath, About: "Who gets which asks, and what follows if no " +
		"one answers."}, access.ActPeople},
	{pages.PageLink{Name: "Numbers", Path: "/numbers", About: "Times to answer, outcomes, and how many " +
		"asks waited."}, access.ActPeople},
	{pages.PageLink{Name: "Tokens", Path: "/tokens", About: "Secrets of agents and people. Add and " +
		"revoke them here."}, access.ActTokenList},
	{pages.PageLink{Name: "Deliveries", Path: pages.DeliveriesPath, About: "Messages to people and programs, and " +
		"which of them did not arrive."}, access.ActDeliveries},
	{pages.PageLink{Name: "Endpoints", Path: pages.EndpointsPath, About: "The programs that get webhooks. Pause, " +
		"test and resume them here."}, access.ActEndpoints},
	{pages.PageLink{Name: "Contacts", Path: pages.ContactsPath, About: "The chats and browsers where questions " +
		"reach you. Link and remove them here."}, access.ActContacts},
	{
		pages.PageLink{Name: "Log-ins", Path: "/logins", About: "Browsers where you are logged in. End log-ins here."},
		"",
	},
}

const morePath = "/more"

// linksFor returns the navigation links for a person. It omits the pages that the person may not open.
func (s *site) linksFor(ctx context.Context, who askback.Principal) []pages.PageLink {
	var links []pages.PageLink
	for _, p := range sitePages {
		if p.action != "" && s.auth.May(who, p.action) != nil {
			continue
		}
		if p.Path == pages.RunPath {
			if agents, err := s.auth.As(who).HostedAgents(ctx); err != nil || len(agents) == 0 {
				continue
			}
		}
		links = append(links, p.PageLink)
	}
	return links
}

// isPage reports whether path is a page of the navigation.
func isPage(path string) bool {
	return path == morePath || slices.ContainsFunc(sitePages, func(p sitePage) bool { return p.Path == path })
}

// more shows the links to the pages that are not in the bar of a phone.
func (s *site) more(w http.ResponseWriter, r request) error {
	return s.render(w, r.Request, http.StatusOK, pages.More(r.frame))
}
