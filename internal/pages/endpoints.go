package pages

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// EndpointsPath is the address of the list of webhook endpoints.
const EndpointsPath = "/endpoints"

// Actions of the forms for an endpoint.
const (
	PauseEndpoint  = "pause"
	ResumeEndpoint = "resume"
	TestEndpoint   = "test"
	ResendEndpoint = "resend"
	RotateEndpoint = "rotate"
	RemoveEndpoint = "remove"
)

// An EndpointList is one page of the endpoints list.
type EndpointList struct {
	Endpoints    []view.Endpoint
	Status       string               // filter of the address; "" for all
	Cursor, Next string               // cursors of this page and of the next page
	Secrets      bool                 // whether the connection may carry new secrets
	Result       *view.EndpointResult // result of a form; nil if there was no form
}

// resultOf returns the result of the form for an endpoint, or nil.
func (l EndpointList) resultOf(e view.Endpoint) *view.EndpointResult {
	if l.Result == nil || l.Result.ID != e.ID.String() {
		return nil
	}
	return l.Result
}

// above returns the result of a form that is shown above the list, because the endpoint of the form is not on
// the page. Otherwise it returns nil.
func (l EndpointList) above() *view.EndpointResult {
	for _, e := range l.Endpoints {
		if l.resultOf(e) != nil {
			return nil
		}
	}
	return l.Result
}

// endpointStatuses are the choices of the filter.
var endpointStatuses = []outcomeOption{
	{"", "All"},
	{"active", "Active"},
	{"paused", "Paused"},
	{"disabled", "Disabled"},
}

// endpointsPath returns the address of a page of the list.
func endpointsPath(status, cursor string) templ.SafeURL {
	v := url.Values{}
	for name, value := range map[string]string{"status": status, "cursor": cursor} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return withQuery(EndpointsPath, v)
}

// endpointClass returns the class for the color of a status.
func endpointClass(e view.Endpoint) string {
	switch {
	case e.Disabled():
		return "state-no"
	case e.Paused():
		return "state-warn"
	}
	return "state-yes"
}

// rotateWarning explains the effect of a new secret on the old secrets.
func (f Frame) rotateWarning(e view.Endpoint) string {
	text := "The receiver needs the new secret within 24 hours: until then, messages are signed with both."
	if e.SecretAt.IsZero() {
		text = "The receiver gets a secret of its own. For 24 hours, messages are signed with the secret of the " +
			"settings as well."
	}
	if f.Now.Before(e.OldSecretUntil) {
		text += " The previous secret, which would sign until " + f.when(e.OldSecretUntil) + ", stops immediately."
	}
	return text
}

// addCommand is a command that makes an endpoint before its first message.
const addCommand = "askback webhook add https://agents.example.com/answers --owner deploy-bot"
