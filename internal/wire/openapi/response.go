package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// errorTexts describes each error status. docs/problems.md describes each type of problem.
var errorTexts = map[int]string{
	400: "The body is not strict JSON, is incomplete, or is not expected.",
	401: "The token is missing, unknown, expired or revoked.",
	403: "This kind of token may not do this, or the request is from another origin.",
	404: "The id is unknown, or belongs to others: the reply is the same.",
	409: "The state does not allow this: settled, spent, ended or still open. The type names the case.",
	413: "The body is too large.",
	415: "Send Content-Type: application/json.",
	422: "The JSON does not match the schema; errors lists every problem.",
	429: "Too many requests, or too many that wait. Try again later.",
	500: "The server failed; its log has the details.",
	503: "The server is busy or stopping. Try again.",
	507: "The server's disk is full, and nothing was changed.",
}

// implied returns the error statuses that every route of this form can have. The statuses depend on the
// method, the body, the token and the ids in the path.
func (r Route) implied() []int {
	out := []int{422} // an unknown query key
	if strings.Contains(r.Path, "{") {
		out = append(out, 404)
	}
	if len(r.Who) > 0 {
		out = append(out, 400, 401, 403, 500, 503)
	}
	if len(r.Who) > 0 && r.Method != http.MethodGet {
		out = append(out, 507)
	}
	if r.In != "" {
		out = append(out, 413, 415)
	}
	return out
}

// errorResponses returns the error responses that routes share, keyed by name.
func errorResponses() map[string]response {
	out := map[string]response{}
	for status, meaning := range errorTexts {
		r := response{Description: meaning, Content: map[string]media{problemJSON: {ref("Problem")}}}
		switch status {
		case 429, 503:
			r.Headers = map[string]header{
				"Retry-After": {"How many seconds to wait before the next try.", &schema{Type: "integer"}},
			}
		case 401:
			r.Headers = map[string]header{"WWW-Authenticate": {"How to authenticate.", &schema{Type: "string"}}}
		}
		out[nameOf(status)] = r
	}
	return out
}

// nameOf returns the name of a status as one word, such as NotFound.
func nameOf(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

func (r Route) responses() map[string]response {
	out := map[string]response{}
	statuses := r.Statuses
	if len(statuses) == 0 {
		statuses = []int{http.StatusOK}
	}
	for _, status := range slices.Concat(r.implied(), statuses) {
		out[strconv.Itoa(status)] = r.response(status)
	}
	return out
}

func (r Route) response(status int) response {
	switch {
	case r.ErrorSchemas[status] != "":
		return response{
			Description: "Rejected, in the format of this route.",
			Content:     map[string]media{JSON: {ref(r.ErrorSchemas[status])}},
		}
	case !isSuccess(status):
		return response{Ref: "#/components/responses/" + nameOf(status)}
	case status == http.StatusNoContent:
		return response{Description: "Done."}
	}
	return response{Description: successText(status), Content: map[string]media{cmp.Or(r.OutType, JSON): {r.out()}}}
}

func successText(status int) string {
	switch status {
	case http.StatusCreated:
		return "Created."
	case http.StatusAccepted:
		return "Accepted; the result follows later."
	}
	return "The current state."
}

func (r Route) out() *schema {
	switch {
	case r.OutType == Events:
		return &schema{
			Type: "string",
			Description: "Frames with id (a cursor), event (the type) and data (a " + r.Out +
				"), and a comment every 15 seconds.",
			EventData: schemaPath + r.Out,
		}
	case r.Out == "" && cmp.Or(r.OutType, JSON) == JSON:
		return &schema{Type: "object"}
	case r.Out == "":
		return &schema{Type: "string"}
	}
	return ref(r.Out)
}
