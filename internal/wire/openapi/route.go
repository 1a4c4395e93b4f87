package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
)

// A Route describes a route of the API. [Document] adds the error statuses that follow from its method, its
// body, its token and the ids in its path. Statuses has all other statuses.
type Route struct {
	Method  string
	Path    string // in the syntax of http.ServeMux
	Tag     string
	Summary string // one sentence
	Detail  string // further sentences, or ""
	// Who lists the kinds of principals that may use the route. If it is empty, the route needs no token. A
	// browser may use the routes of a responder with its cookie.
	Who      []string
	In       string // the schema of the body, or "" if there is no body
	Optional bool   // the body may be omitted
	// Out is the schema of the reply, or of the data of each event. It is "" for any object, plain text, or
	// no body (204).
	Out      string
	OutType  string // the media type of the reply, or "" for application/json
	Query    []Param
	Header   []Param
	Statuses []int // the success statuses, and error statuses besides the implied statuses; empty for only 200
	// ErrorSchemas maps a status to the schema of an error that is not a Problem. Routes in the format of
	// another program have such errors.
	ErrorSchemas map[int]string
}

// A Param is a parameter in the query or in a header.
type Param struct {
	Name        string
	Description string
	Values      []string // the possible values, or nil for any value
	Type        string   // the JSON type, or "" for string
	Example     string
}

// The media types of replies.
const (
	JSON        = "application/json"
	Events      = "text/event-stream"
	Text        = "text/plain"
	problemJSON = "application/problem+json"
)

type operation struct {
	ID          string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	Body        *body                 `json:"requestBody,omitempty"`
	Responses   map[string]response   `json:"responses"`
	Security    []map[string][]string `json:"security"`
	Who         []string              `json:"x-askback-who"`
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *schema `json:"schema"`
	Example     any     `json:"example,omitempty"`
}

type body struct {
	Required bool             `json:"required,omitempty"`
	Content  map[string]media `json:"content"`
}

type media struct {
	Schema *schema `json:"schema"`
}

// A schema has the members of a schema that are used outside the components.
type schema struct {
	Ref         string   `json:"$ref,omitempty"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Minimum     *int     `json:"minimum,omitempty"`
	Maximum     *int     `json:"maximum,omitempty"`
	EventData   string   `json:"x-askback-event-data,omitempty"`
}

type response struct {
	Ref         string            `json:"$ref,omitempty"`
	Description string            `json:"description,omitempty"`
	Headers     map[string]header `json:"headers,omitempty"`
	Content     map[string]media  `json:"content,omitempty"`
}

type header struct {
	Description string  `json:"description"`
	Schema      *schema `json:"schema"`
}

const schemaPath = "#/components/schemas/"

func ref(name string) *schema { return &schema{Ref: schemaPath + name} }

func (r Route) verb() string { return strings.ToLower(r.Method) }

// template returns the path in the syntax of OpenAPI: {rest...} becomes {rest}.
func (r Route) template() string { return strings.ReplaceAll(r.Path, "...}", "}") }

func (r Route) operation(info Info) (operation, error) {
	if err := r.check(); err != nil {
		return operation{}, err
	}
	op := operation{
		ID: r.id(info.Base), Tags: []string{r.Tag}, Summary: r.Summary, Description: r.Detail,
		Parameters: r.parameters(), Responses: r.responses(), Security: r.security(), Who: append([]string{}, r.Who...),
	}
	if r.In != "" {
		op.Body = &body{Required: !r.Optional, Content: map[string]media{JSON: {ref(r.In)}}}
	}
	return op, nil
}

// check returns an error if a schema or a status of the route is unknown, or if no status is a
// success. A status in ErrorSchemas must be a status of the route.
func (r Route) check() error {
	names := []string{r.In, r.Out}
	for status, name := range r.ErrorSchemas {
		if !slices.Contains(r.Statuses, status) && !slices.Contains(r.implied(), status) {
			return fmt.Errorf("status %d has a schema, but is not a status of the route", status)
		}
		names = append(names, name)
	}
	for _, name := range names {
		if _, ok := schemaFiles()[name]; name != "" && !ok {
			return fmt.Errorf("unknown schema %q", name)
		}
	}
	for _, status := range r.Statuses {
		if _, ok := errorTexts[status]; !ok && !isSuccess(status) {
			return fmt.Errorf("unknown status %d", status)
		}
	}
	if len(r.Statuses) > 0 && !slices.ContainsFunc(r.Statuses, isSuccess) {
		return fmt.Errorf("no status is a success")
	}
	return nil
}

func isSuccess(status int) bool {
	return 200 <= status && status < 300 && http.StatusText(status) != ""
}

// id returns the method and the words of the path, such as getAsksId.
func (r Route) id(base string) string {
	words := strings.FieldsFunc(strings.TrimPrefix(r.template(), base),
		func(c rune) bool { return strings.ContainsRune("/{}-_.", c) })
	var b strings.Builder
	b.WriteString(r.verb())
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func (r Route) parameters() (out []parameter) {
	parts := strings.Split(r.template(), "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		out = append(out, parameter{
			Name: strings.TrimSuffix(name, "}"), In: "path", Required: true,
			Description: pathParam(parts[i-1]), Schema: &schema{Type: "string"},
		})
	}
	for _, p := range r.Query {
		out = append(out, p.parameter("query"))
	}
	for _, p := range r.Header {
		out = append(out, p.parameter("header"))
	}
	return out
}

// pathParam returns the description of a path parameter that follows the given word.
func pathParam(before string) string {
	switch before {
	case "asks":
		return "The id of the ask: ask_…"
	case "sessions", "conversations", "answer", "session":
		return "The id of the session: ses_…"
	case "grants":
		return "The id of the grant: grt_…"
	case "deliveries":
		return "The id of the delivery: dlv_…"
	case "endpoints":
		return "The id of the endpoint: whe_…"
	case "contacts":
		return "The id of the contact: ctc_…"
	case "hooks":
		return "The name of a hosted agent."
	case "tokens":
		return "The id of the token: tok_…"
	}
	return "The name."
}

func (p Param) parameter(in string) parameter {
	out := parameter{
		Name: p.Name, In: in, Description: p.Description,
		Schema: &schema{Type: cmp.Or(p.Type, "string"), Enum: p.Values},
	}
	if p.Name == "limit" {
		out.Schema.Minimum, out.Schema.Maximum = new(1), new(askback.MaxLimit)
	}
	if p.Example == "" {
		return out
	}
	out.Example = p.Example
	if n, err := strconv.Atoi(p.Example); err == nil && p.Type == "integer" {
		out.Example = n
	}
	return out
}

// security returns the security schemes of the route: a token, and for the routes of a
// responder also a cookie.
func (r Route) security() []map[string][]string {
	out := []map[string][]string{}
	if len(r.Who) > 0 {
		out = append(out, map[string][]string{"bearer": {}})
	}
	if slices.Contains(r.Who, "responder") {
		out = append(out, map[string][]string{"cookie": {}})
	}
	return out
}
