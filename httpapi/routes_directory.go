package httpapi

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/wire/openapi"
)

// directoryRoutes are the routes for standing approvals, people and statistics.
var directoryRoutes = []route{
	{
		method: "GET", path: base + "/grants", action: access.ActGrants, serve: (*call).grants,
		tag: "directory", summary: "List standing approvals.",
		detail: "For an operator, the input is left out.",
		who:    forScreens, out: "GrantPage", query: params{
			{Name: "ended", Description: "List expired and revoked approvals instead.", Values: []string{
				"true", "false",
			}},
			queryAgent, queryCursor, queryLimit,
		},
	},
	{
		method: "DELETE", path: base + "/grants/{id}", action: access.ActRevoke, serve: (*call).revokeGrant,
		tag: "directory", summary: "Revoke a standing approval.",
		detail: "From then on, it approves no more asks.",
		who:    forPeople, out: "Grant",
	},
	{
		method: "GET", path: base + "/people", action: access.ActPeople, serve: (*call).people,
		tag: "directory", summary: "List people who may answer.",
		who: forScreens, out: "PersonPage",
	},
	{
		method: "GET", path: base + "/groups", action: access.ActPeople, serve: (*call).groups,
		tag: "directory", summary: "List groups of people.",
		who: forScreens, out: "GroupPage",
	},
	{
		method: "GET", path: base + "/routes", action: access.ActPeople, serve: (*call).routes,
		tag: "directory", summary: "List the routes, which select the people for an ask.",
		detail: "Routes of the settings come first. The revision is for PUT /routes.",
		who:    forScreens, out: "RoutePage",
	},
	{
		method: "PUT", path: base + "/people/{name}", action: access.ActDirectory, limit: maxBody,
		serve: (*call).putPerson, tag: "directory",
		summary: "Add a person, or replace a person who was added over the API.",
		detail:  "A field that is left out becomes empty. A person of the settings cannot be changed.",
		who:     forAdmins, in: "PersonRequest", out: "Person",
	},
	{
		method: "DELETE", path: base + "/people/{name}", action: access.ActDirectory, serve: (*call).deletePerson,
		tag: "directory", summary: "Remove a person who was added over the API.",
		detail: "From then on, the person can answer only with a token. Groups and routes skip the name, and the " +
			"reply warns if any of them has it.",
		who: forAdmins, out: "Person",
	},
	{
		method: "PUT", path: base + "/groups/{name}", action: access.ActDirectory, limit: maxBody,
		serve: (*call).putGroup, tag: "directory",
		summary: "Add a group, or replace a group that was added over the API.",
		detail:  "A group of the settings cannot be changed.",
		who:     forAdmins, in: "GroupRequest", out: "Group",
	},
	{
		method: "DELETE", path: base + "/groups/{name}", action: access.ActDirectory, serve: (*call).deleteGroup,
		tag: "directory", summary: "Remove a group that was added over the API.",
		detail: "If a route of the API names it, the reply is 422.",
		who:    forAdmins, out: "Group",
	},
	{
		method: "PUT", path: base + "/routes", action: access.ActDirectory, limit: maxBody, serve: (*call).putRoutes,
		tag: "directory", summary: "Replace the routes of the API.",
		detail: "They are matched after the routes of the settings, which cannot be changed. If their revision is " +
			"not the given revision, the reply is 409.",
		who: forAdmins, in: "RoutesRequest", out: "RoutePage", statuses: []int{200, 409},
	},
	{
		method: "GET", path: base + "/agents", action: access.ActPeople, serve: (*call).agents,
		tag: "directory", summary: "List agents that ask.",
		who: forScreens, out: "AgentPage",
	},
	{
		method: "GET", path: base + "/deliveries", action: access.ActDeliveries, serve: (*call).deliveries,
		tag: "directory", summary: "List deliveries, newest first.",
		detail: "Without a filter, only deliveries that have not arrived. An agent must name an ask or a session " +
			"of its own.",
		who: []string{"agent", "operator"}, out: "DeliveryPage", query: params{
			{
				Name: "status", Description: "Only deliveries with this status. failed: no longer retried. waiting: " +
					"for a queued delivery of the same ask. skipped: no longer needed.",
				Values: []string{"failed", "queued", "waiting", "sent", "skipped"},
			},
			{Name: "question_id", Description: "Only deliveries about this ask, in every status if none is given."},
			{Name: "session_id", Description: "Only deliveries about this session itself, not about its asks, in " +
				"every status if none is given."},
			queryCursor, queryLimit,
		},
	},
	{
		method: "POST", path: base + "/deliveries/{id}/retry", action: access.ActRetry, limit: maxBody,
		serve: (*call).retryDelivery, tag: "directory", summary: "Resend a failed delivery.",
		detail: "Its attempts begin again. It waits for a queued delivery of the same ask.",
		who:    forOperators, in: "EmptyRequest", optional: true, out: "Delivery",
	},
	{
		method: "GET", path: base + "/stats", action: access.ActPeople, serve: (*call).stats,
		tag: "directory", summary: "Get statistics: how long agents wait, and for whom.",
		who: forScreens, out: "Stats",
	},
}

// endpointRoutes are the routes for the receivers of webhooks.
var endpointRoutes = []route{
	{
		method: "GET", path: base + "/endpoints", action: access.ActEndpoints, serve: (*call).endpoints,
		tag: "endpoints", summary: "List receivers of webhooks, newest first.",
		detail: "An agent gets its own.",
		who:    forSenders, out: "EndpointPage", query: params{
			{Name: "owner", Description: "Of this owner."},
			{Name: "status", Description: "With this status.", Values: []string{
				string(askback.EndpointActive), string(askback.EndpointPaused), string(askback.EndpointDisabled),
			}},
			queryCursor, queryLimit,
		},
	},
	{
		method: "POST", path: base + "/endpoints", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).createEndpoint, tag: "endpoints", summary: "Add an endpoint with its own secret.",
		detail: "The secret is only in this reply. If the receiver has an endpoint, the reply is 409.",
		who:    forSenders, in: "EndpointRequest", out: "CreatedEndpoint", statuses: []int{201, 409},
	},
	{
		method: "POST", path: base + "/endpoints/{id}/rotate", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).rotateEndpoint, tag: "endpoints", summary: "Replace the secret of an endpoint.",
		detail: "The new secret is only in this reply. The old secret also signs for 24 hours.",
		who:    forSenders, in: "EmptyRequest", optional: true, out: "CreatedEndpoint",
	},
	{
		method: "POST", path: base + "/endpoints/{id}/pause", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).pauseEndpoint, tag: "endpoints", summary: "Keep deliveries to an endpoint until it is resumed.",
		detail: "An endpoint that is not active stays as it is.",
		who:    forSenders, in: "EmptyRequest", optional: true, out: "Endpoint",
	},
	{
		method: "POST", path: base + "/endpoints/{id}/resume", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).resumeEndpoint, tag: "endpoints", summary: "Activate a paused or disabled endpoint.",
		detail: "Kept deliveries are sent. Failed deliveries are not: resend them.",
		who:    forSenders, in: "EmptyRequest", optional: true, out: "Endpoint",
	},
	{
		method: "POST", path: base + "/endpoints/{id}/test", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).testEndpoint, tag: "endpoints", summary: "Send a test message to an endpoint immediately.",
		detail: "It is signed, and sent to the address with which the endpoint was added, whatever the status of " +
			"the endpoint.",
		who: forSenders, in: "EmptyRequest", optional: true, out: "EndpointTest",
	},
	{
		method: "POST", path: base + "/endpoints/{id}/resend", action: access.ActEndpoints, limit: maxBody,
		serve: (*call).resend, tag: "endpoints", summary: "Resend the failed deliveries to an endpoint.",
		detail: "Without since, all of them. Deliveries of one ask are sent in order.",
		who:    forSenders, in: "ResendRequest", optional: true, out: "Resent",
	},
	{
		method: "DELETE", path: base + "/endpoints/{id}", action: access.ActEndpoints, serve: (*call).deleteEndpoint,
		tag: "endpoints", summary: "Delete an endpoint with its secret.",
		detail: "The next message to its origin creates a new endpoint. If the endpoint is paused or disabled, the " +
			"reply is 409.",
		who: forSenders, out: "Endpoint", statuses: []int{200, 409},
	},
}

// contactRoutes are the routes for the places where people get asks.
var contactRoutes = []route{
	{
		method: "GET", path: base + "/contacts", action: access.ActContacts, serve: (*call).contacts,
		tag: "contacts", summary: "List the chats and browsers that get your asks, oldest first.",
		detail: "An admin gets the contacts of all people.",
		who:    forPeople, out: "ContactPage",
	},
	{
		method: "POST", path: base + "/contacts", action: access.ActContacts, limit: maxBody, serve: (*call).addContact,
		tag: "contacts", summary: "Add a contact, such as a browser that shows notifications.",
		detail: "If its address is known, that contact becomes yours, bound to the token of this request.",
		who:    forPeople, in: "ContactRequest", out: "Contact", statuses: []int{201},
	},
	{
		method: "POST", path: base + "/contact-codes", action: access.ActContacts, limit: maxBody,
		serve: (*call).contactCode, tag: "contacts", summary: "Create a code that links a chat to you.",
		detail: "It can be used once, within 10 minutes. At most three are valid; a further code replaces the oldest.",
		who:    forPeople, in: "ContactCodeRequest", out: "ContactCode", statuses: []int{201},
	},
	{
		method: "DELETE", path: base + "/contacts/{id}", action: access.ActContacts, serve: (*call).deleteContact,
		tag: "contacts", summary: "Remove a contact.",
		detail: "Messages that wait for it are not sent.",
		who:    forPeople, out: "Contact",
	},
}

// tokenRoutes are the routes for tokens and log-in links.
var tokenRoutes = []route{
	{
		method: "GET", path: base + "/tokens", action: access.ActTokenList, serve: (*call).tokens,
		tag: "tokens", summary: "List tokens.",
		who: forOperators, out: "TokenPage",
	},
	{
		method: "POST", path: base + "/tokens", action: access.ActTokens, limit: maxBody, serve: (*call).createToken,
		tag: "tokens", summary: "Create a token.",
		detail: "The secret is only in this reply.",
		who:    forAdmins, in: "TokenRequest", out: "CreatedToken", statuses: []int{201},
	},
	{
		method: "DELETE", path: base + "/tokens/{id}", action: access.ActTokens, serve: (*call).revokeToken,
		tag: "tokens", summary: "Revoke a token immediately.",
		who: forAdmins, out: "Token",
	},
	{
		method: "POST", path: base + "/logins", action: access.ActLogin, limit: maxBody, serve: (*call).login,
		tag: "tokens", summary: "Create a link that logs one browser in as yourself.",
		who: forScreens, in: "EmptyRequest", optional: true, out: "LoginLink", statuses: []int{201},
	},
	{
		method: "POST", path: base + "/yield", action: access.ActYield, limit: maxBody, serve: (*call).yield,
		tag: "server", summary: "Make the server release its local database.",
		who: forAdmins, in: "EmptyRequest", optional: true, out: "HandOver", statuses: []int{202, 409},
	},
}

// serverRoutes are the routes for the state of the server.
var serverRoutes = []route{
	{
		method: "GET", path: "/healthz", open: true, serve: (*call).healthz,
		tag: "server", summary: "Check that the process is running.",
		out: "Health", query: params{
			{Name: "nonce", Description: "16 to 128 characters. The reply then proves the identity of the server."},
		},
	},
	{
		method: "GET", path: "/readyz", open: true, serve: (*call).readyz,
		tag: "server", summary: "Check that the server accepts requests.",
		out: "Health", statuses: []int{200, 503, 507},
	},
	{
		method: "GET", path: "/metrics", action: access.ActMetrics, serve: (*call).metrics,
		tag: "server", summary: "Get metrics in the format of Prometheus.",
		detail: "Numbers only: no label has a question, an answer, or the name of an agent or a person.",
		who:    forOperators, outType: openapi.Text, statuses: []int{200, 404},
	},
	{
		method: "GET", path: "/api/openapi.json", open: true, serve: (*call).openapi,
		tag: "server", summary: "Get this description as OpenAPI 3.1.",
	},
	{
		method: "GET", path: "/api/docs", open: true, serve: (*call).docs,
		tag: "server", summary: "Read this description as a page.", outType: "text/html",
	},
	{
		method: "GET", path: "/api/docs.css", open: true, serve: (*call).stylesheet,
		tag: "server", summary: "Get the style sheet of that page.", outType: "text/css",
	},
}
