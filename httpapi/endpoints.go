package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// A createdEndpoint is an endpoint with a new secret, which is never returned again.
type createdEndpoint struct {
	Endpoint askback.Endpoint `json:"endpoint"`
	Secret   string           `json:"secret"`
}

// An endpointTest is the result of a test message.
type endpointTest struct {
	Accepted bool    `json:"accepted"`
	Code     *int    `json:"code"`
	Duration *int64  `json:"duration_ms"`
	Error    *string `json:"error"`
}

type resent struct {
	Queued int `json:"queued"`
}

type wireResend struct {
	Since *time.Time `json:"since,omitempty"`
}

func (c *call) endpoints() error {
	in := c.r.URL.Query()
	return c.result(c.client.Endpoints(c.r.Context(), askback.EndpointQuery{
		Owner: in.Get("owner"), Status: askback.EndpointStatus(in.Get("status")), Cursor: in.Get("cursor"),
		Limit: limit(in.Get("limit")),
	}))
}

func (c *call) createEndpoint() error {
	r, err := decode.EndpointRequest(c.body)
	if err != nil {
		return err
	}
	e, secret, err := c.client.CreateEndpoint(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, createdEndpoint{e, secret})
}

func (c *call) rotateEndpoint() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	e, secret, err := c.client.RotateEndpoint(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, createdEndpoint{e, secret})
}

func (c *call) deleteEndpoint() error {
	return c.result(c.client.DeleteEndpoint(c.r.Context(), c.id()))
}

func (c *call) pauseEndpoint() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.result(c.client.PauseEndpoint(c.r.Context(), c.id()))
}

func (c *call) resumeEndpoint() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.result(c.client.ResumeEndpoint(c.r.Context(), c.id()))
}

func (c *call) testEndpoint() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	t, err := c.client.TestEndpoint(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	out := endpointTest{Accepted: t.Accepted}
	if t.Code != 0 {
		out.Code, out.Duration = &t.Code, new(t.Duration.Milliseconds())
	}
	if t.Error != "" {
		out.Error = &t.Error
	}
	return c.reply(http.StatusOK, out)
}

func (c *call) resend() error {
	since, err := decode.Resend(c.body)
	if err != nil {
		return err
	}
	n, err := c.client.ResendToEndpoint(c.r.Context(), c.id(), since)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, resent{n})
}

// endpointPath returns the path of an endpoint, followed by resource, such as "/pause" or "".
func endpointPath(id, resource string) string {
	return base + "/endpoints/" + url.PathEscape(id) + resource
}

// Endpoints implements [askback.Endpoints].
func (c *Client) Endpoints(ctx context.Context, q askback.EndpointQuery) (askback.EndpointPage, error) {
	if err := q.Check(); err != nil {
		return askback.EndpointPage{}, err
	}
	query := filter(q.Limit, "owner", q.Owner, "status", string(q.Status), "cursor", q.Cursor)
	return fetch[askback.EndpointPage](ctx, c, request{method: "GET", path: base + "/endpoints", query: query.Encode()})
}

// CreateEndpoint implements [askback.Endpoints].
func (c *Client) CreateEndpoint(ctx context.Context, r askback.EndpointRequest) (askback.Endpoint, string, error) {
	out, err := fetch[createdEndpoint](ctx, c, request{
		method: "POST", path: base + "/endpoints", body: body[askback.EndpointRequest]{r, appendEndpointRequest},
	})
	return out.Endpoint, out.Secret, err
}

// RotateEndpoint implements [askback.Endpoints].
func (c *Client) RotateEndpoint(ctx context.Context, id string) (askback.Endpoint, string, error) {
	out, err := fetch[createdEndpoint](ctx, c, request{method: "POST", path: endpointPath(id, "/rotate")})
	return out.Endpoint, out.Secret, err
}

// DeleteEndpoint implements [askback.Endpoints].
func (c *Client) DeleteEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return fetch[askback.Endpoint](ctx, c, request{method: "DELETE", path: endpointPath(id, "")})
}

// PauseEndpoint implements [askback.EndpointControl].
func (c *Client) PauseEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return fetch[askback.Endpoint](ctx, c, request{method: "POST", path: endpointPath(id, "/pause")})
}

// ResumeEndpoint implements [askback.EndpointControl].
func (c *Client) ResumeEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return fetch[askback.Endpoint](ctx, c, request{method: "POST", path: endpointPath(id, "/resume")})
}

// TestEndpoint implements [askback.EndpointControl].
func (c *Client) TestEndpoint(ctx context.Context, id string) (askback.EndpointTest, error) {
	in, err := fetch[endpointTest](ctx, c, request{method: "POST", path: endpointPath(id, "/test")})
	out := askback.EndpointTest{Accepted: in.Accepted}
	if in.Code != nil {
		out.Code = *in.Code
	}
	if in.Duration != nil {
		out.Duration = time.Duration(*in.Duration) * time.Millisecond
	}
	if in.Error != nil {
		out.Error = *in.Error
	}
	return out, err
}

// ResendToEndpoint implements [askback.EndpointControl].
func (c *Client) ResendToEndpoint(ctx context.Context, id string, since time.Time) (int, error) {
	in := wireResend{}
	if !since.IsZero() {
		in.Since = new(since.UTC())
	}
	out, err := fetch[resent](ctx, c, request{method: "POST", path: endpointPath(id, "/resend"), body: in})
	return out.Queued, err
}
