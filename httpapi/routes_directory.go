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
			Tag: "desk", Summary: "List standing approvals.",
			Detail: "An operator sees them without their input.",
			Who:    forScreens, Out: "GrantPage", Query: params{
				{Name: "ended", Description: "Those that are over or revoked instead.", Values: []string{"true", "false"}},
				queryAgent, queryCursor, queryLimit,
			},
		},
	},
	{
		method: "DELETE", path: base + "/grants/{id}", action: askback.ActRevoke, serve: (*call).revokeGrant,
		doc: openapi.Route{
			Tag: "desk", Summary: "End a standing approval.",
			Detail: "When it replies, no ask is approved by it any more.",
			Who:    forPeople, Out: "Grant",
		},
	},
	{
		method: "GET", path: base + "/people", action: askback.ActPeople, serve: (*call).people,
		doc: openapi.Route{
			Tag: "desk", Summary: "List who may answer.",
			Who: forScreens, Out: "PersonPage",
		},
	},
	{
		method: "GET", path: base + "/groups", action: askback.ActPeople, serve: (*call).groups,
		doc: openapi.Route{
			Tag: "desk", Summary: "List groups of people.",
			Who: forScreens, Out: "GroupPage",
		},
	},
	{
		method: "GET", path: base + "/agents", action: askback.ActPeople, serve: (*call).agents,
		doc: openapi.Route{
			Tag: "desk", Summary: "List who asks.",
			Who: forScreens, Out: "AgentPage",
		},
	},
	{
		method: "GET", path: base + "/stats", action: askback.ActPeople, serve: (*call).stats,
		doc: openapi.Route{
			Tag: "desk", Summary: "See how long agents wait, and for whom.",
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
			Tag: "tokens", Summary: "Make a token.",
			Detail: "This is the one time that its secret is seen.",
			Who:    forAdmins, In: "TokenRequest", Out: "CreatedToken", Statuses: []int{201},
		},
	},
	{
		method: "DELETE", path: base + "/tokens/{id}", action: askback.ActTokens, serve: (*call).revokeToken,
		doc: openapi.Route{
			Tag: "tokens", Summary: "End a token at once.",
			Who: forAdmins, Out: "Token",
		},
	},
	{
		method: "POST", path: base + "/logins", action: askback.ActLogin, limit: maxBody, serve: (*call).login,
		doc: openapi.Route{
			Tag: "tokens", Summary: "Make a link that logs in one browser as oneself.",
			Who: forScreens, In: "Nothing", Optional: true, Out: "LoginLink", Statuses: []int{201},
		},
	},
	{
		method: "POST", path: base + "/yield", action: askback.ActYield, limit: maxBody, serve: (*call).yield,
		doc: openapi.Route{
			Tag: "server", Summary: "Make the server hand over its database.",
			Who: forAdmins, In: "Nothing", Optional: true, Out: "Yielding", Statuses: []int{202, 409},
		},
	},
}

// serverRoutes are the routes for the state of the server.
var serverRoutes = []route{
	{
		method: "GET", path: "/healthz", open: true, serve: (*call).healthz,
		doc: openapi.Route{
			Tag: "server", Summary: "See whether this process lives.",
			Out: "Health", Query: params{
				{Name: "nonce", Description: "16 to 128 characters, to be proven with."},
			},
		},
	},
	{
		method: "GET", path: "/readyz", open: true, serve: (*call).readyz,
		doc: openapi.Route{
			Tag: "server", Summary: "See whether it serves.",
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
			Tag: "server", Summary: "Read this description.", OutType: "text/html",
		},
	},
	{
		method: "GET", path: "/api/docs.css", open: true, serve: (*call).stylesheet,
		doc: openapi.Route{
			Tag: "server", Summary: "Get the style sheet of that page.", OutType: "text/css",
		},
	},
}
