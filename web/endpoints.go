package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/view"
)

// endpoints lists the receivers of webhooks, newest first.
func (s *site) endpoints(w http.ResponseWriter, r request) error {
	return s.renderEndpoints(w, r, http.StatusOK, r.URL.Query(), nil)
}

// renderEndpoints sends the list that values select, with the result of a form.
func (s *site) renderEndpoints(
	w http.ResponseWriter, r request, status int, values url.Values, result *view.EndpointResult,
) error {
	if s.auth.May(r.principal, access.ActEndpoints) != nil {
		return errAdminOnly
	}
	q := askback.EndpointQuery{Status: askback.EndpointStatus(values.Get("status")), Cursor: values.Get("cursor")}
	page, err := r.client.Endpoints(r.Context(), q)
	if err != nil {
		return err
	}
	list := pages.EndpointList{
		Status: string(q.Status), Cursor: q.Cursor, Next: page.NextCursor, Secrets: login.Secure(r.Request),
		Result: result,
	}
	for _, e := range page.Items {
		list.Endpoints = append(list.Endpoints, view.OfEndpoint(e))
	}
	return s.render(w, r.Request, status, pages.Endpoints(r.frame, list))
}

// maxEndpointForm is the limit in bytes for a form of an endpoint.
const maxEndpointForm = 4 << 10

// changeEndpoint performs the action of a form for an endpoint. The reply is the list with the result, or the
// page with the new secret.
func (s *site) changeEndpoint(w http.ResponseWriter, r request) error {
	w.Header().Set("Cache-Control", "no-store")
	if s.auth.May(r.principal, access.ActEndpoints) != nil {
		return errAdminOnly
	}
	values, err := readValues(w, r.Request, maxEndpointForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	if values.Get("action") == pages.RotateEndpoint {
		return s.rotateEndpoint(w, r, values)
	}
	result, err := r.changeEndpoint(values.Get("id"), values.Get("action"))
	if err != nil {
		return s.endpointFailed(w, r, values, err)
	}
	return s.renderEndpoints(w, r, http.StatusOK, values, result)
}

// changeEndpoint performs an action other than a new secret, and returns the result for the list.
func (r request) changeEndpoint(id, action string) (*view.EndpointResult, error) {
	done := &view.EndpointResult{ID: id, Good: true}
	var e askback.Endpoint
	var err error
	switch action {
	case pages.PauseEndpoint:
		e, err = r.client.PauseEndpoint(r.Context(), id)
		done.Word, done.Detail = "Paused", "Messages to this receiver wait."
		if err == nil && e.Status != askback.EndpointPaused {
			done.Good, done.Word, done.Detail = false, "Not paused",
				"The receiver is disabled, so no message is sent to it."
		}
	case pages.ResumeEndpoint:
		_, err = r.client.ResumeEndpoint(r.Context(), id)
		done.Word, done.Detail = "Resumed",
			"Waiting messages are sent now. Failed messages are not: send them again below."
	case pages.RemoveEndpoint:
		e, err = r.client.DeleteEndpoint(r.Context(), id)
		done.Word, done.Detail = "Removed", view.OfEndpoint(e).Origin.String()
	case pages.TestEndpoint:
		var t askback.EndpointTest
		t, err = r.client.TestEndpoint(r.Context(), id)
		done = view.OfTest(id, t)
	case pages.ResendEndpoint:
		var n int
		n, err = r.client.ResendToEndpoint(r.Context(), id, time.Time{})
		done.Word, done.Detail = "Sent again", view.Count(n, "message")+" that had failed."
		if n == 0 {
			done.Word, done.Detail = "Nothing to send again", "No message to this receiver has failed."
		}
	default:
		err = errForm
	}
	return done, err
}

// endpointFailed sends the list with the reason why a form had no effect. It returns all other errors.
func (s *site) endpointFailed(w http.ResponseWriter, r request, values url.Values, err error) error {
	result := &view.EndpointResult{ID: values.Get("id"), Word: "Nothing has changed"}
	status := http.StatusConflict
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrNotFound):
		status, result.Detail = http.StatusNotFound, "This endpoint was removed."
	case errors.Is(err, askback.ErrNotActive):
		result.Detail = "This endpoint is not active: messages that wait would be sent. Resume the endpoint first."
	case errors.Is(err, askback.ErrTooFast):
		status, result.Word, result.Detail = http.StatusTooManyRequests, "Not sent",
			"This endpoint was tested less than a second ago. Wait a moment."
	case errors.As(err, &invalid):
		status, result.Detail = http.StatusUnprocessableEntity,
			"This server sends no webhooks: channels.webhook is not in its settings."
	default:
		return err
	}
	return s.renderEndpoints(w, r, status, values, result)
}

// rotateEndpoint replaces the secret of an endpoint. Only this reply has the new secret, and no cache keeps
// the secret. A form that is sent twice, for example by a reload of the reply, replaces the secret once.
// Otherwise the receiver would lose the secret that it has.
//
// Without https, a browser sends the cookie to every port of the host, so another program may have the
// cookie. The secret is valid for longer than a log-in, and signs outcomes that an agent trusts. Without
// https, the secret is therefore made in a terminal (T28).
func (s *site) rotateEndpoint(w http.ResponseWriter, r request, values url.Values) error {
	result := &view.EndpointResult{ID: values.Get("id"), Word: "Nothing has changed"}
	if !login.Secure(r.Request) {
		result.Detail = "Without https, create new secrets in a terminal, with the command below."
		return s.renderEndpoints(w, r, http.StatusUnprocessableEntity, values, result)
	}
	now, err := r.endpoint(values.Get("id"), values.Get("cursor"))
	if err != nil {
		return s.endpointFailed(w, r, values, err)
	}
	if values.Get("version") != view.OfEndpoint(now).SecretVersion() {
		result.Detail = "The secret was replaced after this page was loaded. The new secret was shown once."
		return s.renderEndpoints(w, r, http.StatusConflict, values, result)
	}
	e, secret, err := r.client.RotateEndpoint(r.Context(), values.Get("id"))
	if err != nil {
		return s.endpointFailed(w, r, values, err)
	}
	list := pages.EndpointList{Status: values.Get("status"), Cursor: values.Get("cursor")}
	return s.render(w, r.Request, http.StatusCreated,
		pages.NewEndpointSecret(r.frame, list, view.OfEndpoint(e), secret))
}

// endpoint returns the endpoint id. It searches the page of the list at cursor, and the later pages.
func (r request) endpoint(id, cursor string) (askback.Endpoint, error) {
	for q := (askback.EndpointQuery{Cursor: cursor, Limit: askback.MaxLimit}); ; {
		page, err := r.client.Endpoints(r.Context(), q)
		if err != nil {
			return askback.Endpoint{}, err
		}
		for _, e := range page.Items {
			if e.ID == id {
				return e, nil
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return askback.Endpoint{}, askback.ErrNotFound
		}
	}
}
