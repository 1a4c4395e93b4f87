package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// refused says what each status means that is a problem; docs/problems.md has
// the word of each case.
var refused = map[int]string{
	400: "The body is no strict JSON, did not come whole, or there should be none.",
	401: "There is the token is unknown, expired or revoked.",
	403: "This kind of token may not do that, or a page of another origin.",
	404: "There is no such thing, or it is not yours: the same answer.",
	409: "It is settled, spent, over, or still open: the type says which.",
	413: "The body is too large.",
	415: "Send Content-Type: application/json.",
	422: "JSON, but not what was expected; errors names every mistake.",
	429: "Too many wait already, or they come too fast.",
	500: "Something went wrong here; it is in the server's log.",
	503: "Too much at once, or the server is stopping; try again.",
	507: "The disk is full, and nothing was changed.",
}

// implied are the refusals that follow from the shape of a route.
func (r Route) implied() []int {
	out := []int{422} // a query key that it does not know
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

// refusals are the replies that all routes share, by name.
func refusals() map[string]response {
	out := map[string]response{}
	for status, meaning := range refused {
		r := response{Description: meaning, Content: map[string]media{trouble: {ref("Problem")}}}
		switch status {
		case 429, 503:
			r.Headers = map[string]header{"Retry-After": {"When to try again, in seconds.", &schema{Type: "integer"}}}
		case 401:
			r.Headers = map[string]header{"WWW-Authenticate": {"How to say who one is.", &schema{Type: "string"}}}
		}
		out[nameOf(status)] = r
	}
	return out
}

// nameOf is the text of a status as one word: NotFound.
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
	case r.Own[status] != "":
		return response{
			Description: "Refused, in the words of this dialect.",
			Content:     map[string]media{JSON: {ref(r.Own[status])}},
		}
	case !good(status):
		return response{Ref: "#/components/responses/" + nameOf(status)}
	case status == http.StatusNoContent:
		return response{Description: "Done."}
	}
	return response{Description: yes(status), Content: map[string]media{cmp.Or(r.OutType, JSON): {r.out()}}}
}

func yes(status int) string {
	switch status {
	case http.StatusCreated:
		return "Made."
	case http.StatusAccepted:
		return "Taken; what comes of it is seen later."
	}
	return "As it stands now."
}

func (r Route) out() *schema {
	switch {
	case r.OutType == Events:
		return &schema{
			Type:        "string",
			Description: "Frames of id (a cursor), event (the type) and data, which is one " + r.Out + "; a comment every 15 seconds.",
			EventData:   schemaPath + r.Out,
		}
	case r.Out == "" && cmp.Or(r.OutType, JSON) == JSON:
		return &schema{Type: "object"}
	case r.Out == "":
		return &schema{Type: "string"}
	}
	return ref(r.Out)
}
