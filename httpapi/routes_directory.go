package httpapi

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/openapi"
)

// directoryRoutes are the routes for standing approvals, people and statistics.
var directoryRoutes = []route{
	{
		method: "GET", path: base + "/grants", action: askback.ActGrants, serve: (*call).grants,
		doc: openapi.Route{
			Tag: "directory", Summary: "List standing approvals.",
			Detail: "For an operator, the input is left out.",
			Who:    forScreens, Out: "GrantPage", Query: params{
				{Name: "ended", Description: "List the expired and revoked ones instead.", Values: []string{"true", "false"}},
				queryAgent, queryCursor, queryLimit,
			},
		},
	},
	{
		method: "DELETE", path: base + "/grants/{id}", action: askback.ActRevoke, serve: (*call).revokeGrant,
		doc: openapi.Route{
			Tag: "directory", Summary: "Revoke a standing approval.",
			Detail: "After the reply it approves no further ask.",
			Who:    forPeople, Out: "Grant",
		},
	},
	{
		method: "GET", path: base + "/people", action: askback.ActPeople, serve: (*call).people,
		doc: openapi.Route{
			Tag: "directory", Summary: "List people who may answer.",
			Who: forScreens, Out: "PersonPage",
		},
	},
	{
		method: "GET", path: base + "/groups", action: askback.ActPeople, serve: (*call).groups,
		doc: openapi.Route{
			Tag: "directory", Summary: "List groups of people.",
			Who: forScreens, Out: "GroupPage",
		},
	},
	{
		method: "GET", path: base + "/agents", action: askback.ActPeople, serve: (*call).agents,
		doc: openapi.Route{
			Tag: "directory", Summary: "List agents that ask.",
			Who: forScreens, Out: "AgentPage",
		},
	},
	{
		method: "GET", path: base + "/stats", action: askback.ActPeople, serve: (*call).stats,
		doc: openapi.Route{
			Tag: "directory", Summary: "Get statistics: how long agents wait, and for whom.",
			Who: forScreens, Out: "Stats",
		},
	},
}

// tokenRoutes are the routes for tokens and log-in links.
var tokenRoutes = []route{
	{
		method: "GET", path: base + "/tokens", action: askback.ActTokenList, serve: (*call).tokens,
		doc: openapi.Route{
			Tag: "tokens", Summary: "List tokens.",
			Who: forOperators, Out: "TokenPage",
		},
	},
	{
		method: "POST", path: base + "/tokens", action: askback.ActTokens, limit: maxBody, serve: (*call).createToken,
		doc: openapi.Route{
			Tag: "tokens", Summary: "Create a token.",
			Detail: "The secret is only in this reply.",
			Who:    forAdmins, In: "TokenRequest", Out: "CreatedToken", Statuses: []int{201},
		},
	},
	{
		method: "DELETE", path: base + "/tokens/{id}", action: askback.ActTokens, serve: (*call).revokeToken,
		doc: openapi.Route{
			Tag: "tokens", Summary: "Revoke a token immediately.",
			Who: forAdmins, Out: "Token",
		},
	},
	{
		method: "POST", path: base + "/logins", action: askback.ActLogin, limit: maxBody, serve: (*call).login,
		doc: openapi.Route{
			Tag: "tokens", Summary: "Create a link that logs one browser in as yourself.",
			Who: forScreens, In: "EmptyRequest", Optional: true, Out: "LoginLink", Statuses: []int{201},
		},
	},
	{
		method: "POST", path: base + "/yield", action: askback.ActYield, limit: maxBody, serve: (*call).yield,
		doc: openapi.Route{
			Tag: "server", Summary: "Make the server release its local database.",
			Who: forAdmins, In: "EmptyRequest", Optional: true, Out: "HandOver", Statuses: []int{202, 409},
		},
	},
}

// serverRoutes are the routes for the state of the server.
var serverRoutes = []route{
	{
		method: "GET", path: "/healthz", open: true, serve: (*call).healthz,
		doc: openapi.Route{
			Tag: "server", Summary: "Check that the process is running.",
			Out: "Health", Query: params{
				{Name: "nonce", Description: "16 to 128 characters, for the proof of which server this is."},
			},
		},
	},
	{
		method: "GET", path: "/readyz", open: true, serve: (*call).readyz,
		doc: openapi.Route{
			Tag: "server", Summary: "Check that the server accepts requests.",
			Out: "Health", Statuses: []int{200, 503, 507},
		},
	},
	{
		method: "GET", path: "/api/openapi.json", open: true, serve: (*call).openapi,
		doc: openapi.Route{
			Tag: "server", Summary: "Get this description as OpenAPI 3.1.",
		},
	},
	{
		method: "GET", path: "/api/docs", open: true, serve: (*call).docs,
		doc: openapi.Route{
			Tag: "server", Summary: "Read this description as a page.", OutType: "text/html",
		},
	},
	{
		method: "GET", path: "/api/docs.css", open: true, serve: (*call).stylesheet,
		doc: openapi.Route{
			Tag: "server", Summary: "Get the style sheet of that page.", OutType: "text/css",
		},
	},
}
