package serverlog

import (
	"context"
	"errors"
	"log/slog"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
)

// An Authenticator authenticates callers and returns their clients.
type Authenticator interface {
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	As(p askback.Principal) askback.Client
	May(p askback.Principal, a access.Action) error
}

// BrowserLogins log browsers in and out.
type BrowserLogins interface {
	Login(ctx context.Context, secret string, from askback.Browser) (browserSecret string, err error)
	SignIn(ctx context.Context, issuer, email string, from askback.Browser) (browserSecret string, err error)
	Logout(ctx context.Context, secret string) error
	Logins(ctx context.Context, p askback.Principal) ([]askback.Token, error)
	EndLogin(ctx context.Context, p askback.Principal, id string) (askback.Token, error)
}

// Audit returns an authenticator that calls a and writes the audit log: rejected secrets, and the actions of
// each [auditedClient] after their commit. [Log.Committed] logs how asks end.
func (l *Log) Audit(a Authenticator) Authenticator { return auditedAuthenticator{a, l} }

type auditedAuthenticator struct {
	Authenticator
	log *Log
}

// Authenticate implements [Authenticator].
func (a auditedAuthenticator) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	p, err := a.Authenticator.Authenticate(ctx, secret)
	switch {
	case err == nil:
		SetPrincipal(ctx, p)
	case errors.Is(err, askback.ErrUnauthorized) && secret != "":
		a.log.reject(ctx, "token_refused")
	}
	return p, err
}

// As implements [Authenticator].
func (a auditedAuthenticator) As(p askback.Principal) askback.Client {
	return auditedClient{a.Authenticator.As(p), p, a.log}
}

// AuditLogins returns a BrowserLogins that calls logins and writes the audit log. a authenticates the secrets
// of browsers.
func (l *Log) AuditLogins(a Authenticator, logins BrowserLogins) BrowserLogins {
	return auditedLogins{logins, a, l}
}

type auditedLogins struct {
	BrowserLogins
	auth Authenticator
	log  *Log
}

// Login implements [BrowserLogins].
func (l auditedLogins) Login(ctx context.Context, secret string, from askback.Browser) (string, error) {
	own, err := l.BrowserLogins.Login(ctx, secret, from)
	l.recordLogin(ctx, own, err, append(browserAttrs(from), slog.String("through", "link"))...)
	return own, err
}

// SignIn implements [BrowserLogins].
func (l auditedLogins) SignIn(ctx context.Context, issuer, email string, from askback.Browser) (string, error) {
	own, err := l.BrowserLogins.SignIn(ctx, issuer, email, from)
	l.recordLogin(ctx, own, err, append(browserAttrs(from), slog.String("through", "issuer"),
		slog.String("issuer", issuer), slog.String("email", email))...)
	return own, err
}

// Logout implements [BrowserLogins].
func (l auditedLogins) Logout(ctx context.Context, secret string) error {
	p, unknown := l.auth.Authenticate(ctx, secret)
	err := l.BrowserLogins.Logout(ctx, secret)
	if err == nil && unknown == nil {
		SetPrincipal(ctx, p)
		l.log.record(ctx, "logout", principalAttrs(p)...)
	}
	return err
}

// EndLogin implements [BrowserLogins].
func (l auditedLogins) EndLogin(ctx context.Context, p askback.Principal, id string) (askback.Token, error) {
	t, err := l.BrowserLogins.EndLogin(ctx, p, id)
	if err == nil {
		l.log.record(ctx, "token_revoked", append(principalAttrs(p), tokenAttrs(t)...)...)
	}
	return t, err
}

// recordLogin logs that a browser was logged in, or that its log-in was rejected with err. It
// does not log other errors. The secret of the browser is own.
func (l auditedLogins) recordLogin(ctx context.Context, own string, err error, attrs ...slog.Attr) {
	switch {
	case errors.Is(err, askback.ErrUnauthorized), errors.Is(err, askback.ErrForbidden):
		l.log.reject(ctx, "login_refused", attrs...)
	case err == nil:
		// if the browser is not authenticated, the log-in has already ended
		if p, err := l.auth.Authenticate(ctx, own); err == nil {
			SetPrincipal(ctx, p)
			attrs = append(principalAttrs(p), attrs...)
		}
		l.log.record(ctx, "login", attrs...)
	}
}

// An auditedClient is a client that logs actions of its principal. It logs when the principal revokes a
// grant, creates or revokes a token, or creates a log-in link. It also logs changes of endpoints, contacts,
// people, groups and routes, and what people do to sessions.
type auditedClient struct {
	askback.Client
	principal askback.Principal
	log       *Log
}

// Unwrap returns the client without the audit log. [Log.Committed] logs the answers that are given through
// its revision.Source.
func (c auditedClient) Unwrap() askback.Client { return c.Client }

func (c auditedClient) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	g, err := c.Client.Revoke(ctx, id)
	c.record(ctx, err, "grant_revoked", slog.String("grant", g.ID), slog.String("agent", g.Agent),
		slog.String("tool", g.ToolName))
	return g, err
}

// Send logs what a person does to a session. What its agent does is in the history of the session.
func (c auditedClient) Send(ctx context.Context, id string, cmd askback.Command) (askback.Session, error) {
	one, err := c.Client.Send(ctx, id, cmd)
	if c.principal.Kind == askback.Agent {
		return one, err
	}
	event := "message_sent"
	switch cmd.(type) {
	case askback.ResumeSession:
		event = "session_resumed"
	case askback.EndTurn:
		event = "turn_cancelled"
	case askback.EndSession:
		event = "session_cancelled"
	}
	c.record(ctx, err, event, slog.String("session", id), slog.String("agent", one.Agent))
	return one, err
}

func (c auditedClient) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	t, secret, err := c.Client.CreateToken(ctx, r)
	c.record(ctx, err, "token_created", tokenAttrs(t)...)
	return t, secret, err
}

func (c auditedClient) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	t, err := c.Client.RevokeToken(ctx, id)
	c.record(ctx, err, "token_revoked", tokenAttrs(t)...)
	return t, err
}

func (c auditedClient) LoginSecret(ctx context.Context) (string, error) {
	secret, err := c.Client.LoginSecret(ctx)
	c.record(ctx, err, "login_link_created")
	return secret, err
}

func (c auditedClient) CreateEndpoint(
	ctx context.Context, r askback.EndpointRequest,
) (askback.Endpoint, string, error) {
	e, secret, err := c.Client.CreateEndpoint(ctx, r)
	c.recordEndpoint(ctx, "endpoint_created", e, err)
	return e, secret, err
}

func (c auditedClient) RotateEndpoint(ctx context.Context, id string) (askback.Endpoint, string, error) {
	e, secret, err := c.Client.RotateEndpoint(ctx, id)
	c.recordEndpoint(ctx, "endpoint_rotated", e, err)
	return e, secret, err
}

func (c auditedClient) DeleteEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	e, err := c.Client.DeleteEndpoint(ctx, id)
	c.recordEndpoint(ctx, "endpoint_deleted", e, err)
	return e, err
}

func (c auditedClient) PauseEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	e, err := c.Client.PauseEndpoint(ctx, id)
	c.recordEndpoint(ctx, "endpoint_paused", e, err)
	return e, err
}

func (c auditedClient) ResumeEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	e, err := c.Client.ResumeEndpoint(ctx, id)
	c.recordEndpoint(ctx, "endpoint_resumed", e, err)
	return e, err
}

func (c auditedClient) recordEndpoint(ctx context.Context, event string, e askback.Endpoint, err error) {
	c.record(ctx, err, event, slog.String("endpoint", e.ID), slog.String("owner", e.Owner),
		slog.String("origin", e.Origin))
}

func (c auditedClient) AddContact(ctx context.Context, r askback.ContactRequest) (askback.Contact, error) {
	made, err := c.Client.AddContact(ctx, r)
	c.recordContact(ctx, "contact_added", made, err)
	return made, err
}

func (c auditedClient) DeleteContact(ctx context.Context, id string) (askback.Contact, error) {
	removed, err := c.Client.DeleteContact(ctx, id)
	c.recordContact(ctx, "contact_removed", removed, err)
	return removed, err
}

func (c auditedClient) ContactCode(ctx context.Context, channel string) (askback.ContactCode, error) {
	code, err := c.Client.ContactCode(ctx, channel)
	c.record(ctx, err, "contact_code_created", slog.String("channel", channel))
	return code, err
}

func (c auditedClient) recordContact(ctx context.Context, event string, of askback.Contact, err error) {
	c.record(ctx, err, event, slog.String("contact", of.ID), slog.String("person", of.Person),
		slog.String("channel", of.Channel))
}

func (c auditedClient) PutPerson(ctx context.Context, r askback.PersonRequest) (askback.Person, error) {
	p, err := c.Client.PutPerson(ctx, r)
	c.recordName(ctx, "person_put", "person", p.Name, err)
	return p, err
}

func (c auditedClient) DeletePerson(ctx context.Context, name string) (askback.Person, error) {
	p, err := c.Client.DeletePerson(ctx, name)
	c.recordName(ctx, "person_deleted", "person", p.Name, err)
	return p, err
}

func (c auditedClient) PutGroup(ctx context.Context, name string, people []string) (askback.Group, error) {
	g, err := c.Client.PutGroup(ctx, name, people)
	c.record(ctx, err, "group_put", slog.String("group", g.Name), slog.Any("people", g.People))
	return g, err
}

func (c auditedClient) DeleteGroup(ctx context.Context, name string) (askback.Group, error) {
	g, err := c.Client.DeleteGroup(ctx, name)
	c.recordName(ctx, "group_deleted", "group", g.Name, err)
	return g, err
}

func (c auditedClient) PutRoutes(
	ctx context.Context, routes []askback.Route, revision int64,
) (askback.RouteList, error) {
	all, err := c.Client.PutRoutes(ctx, routes, revision)
	c.record(ctx, err, "routes_put", slog.Int64("revision", all.Revision), slog.Int("routes", len(routes)))
	return all, err
}

// recordName logs a change of an object whose id is name.
func (c auditedClient) recordName(ctx context.Context, event, what, name string, err error) {
	c.record(ctx, err, event, slog.String(what, name))
}

// record logs an action of the principal, unless err is not nil.
func (c auditedClient) record(ctx context.Context, err error, event string, attrs ...slog.Attr) {
	if err == nil {
		c.log.record(ctx, event, append(principalAttrs(c.principal), attrs...)...)
	}
}

// Committed logs how an ask was settled, or that an answer created a grant. It ignores other events. The
// engine calls Committed after the commit.
func (l *Log) Committed(event askback.EventType, a askback.Ask) {
	name := auditEvent(event, a.Outcome)
	if name == "" {
		return
	}
	o := a.Outcome
	attrs := []slog.Attr{
		slog.String("by_kind", string(o.Actor.Kind)), slog.String("by", o.Actor.Name),
		slog.String("via", string(o.Channel)), slog.String("ask", a.ID), slog.String("session", a.SessionID),
		slog.String("agent", a.Agent), slog.String("token", a.Owner),
	}
	if c := a.Confirmation; c != nil {
		attrs = append(attrs, slog.String("tool", c.ToolName), slog.String("server", c.Server),
			slog.String("digest", c.Digest))
		if o.Digest != "" && o.Digest != c.Digest {
			attrs = append(attrs, slog.String("approved_digest", o.Digest))
		}
	}
	if o.GrantID != "" {
		attrs = append(attrs, slog.String("grant", o.GrantID))
	}
	l.record(context.Background(), name, attrs...)
}

// auditEvent returns the name in the audit log for an event of an ask with outcome o, or "" if
// the event is not logged.
func auditEvent(event askback.EventType, o *askback.Outcome) string {
	switch {
	case o == nil:
		return ""
	case event == askback.EventGrantMade:
		return string(event)
	case !event.Settles():
		return ""
	case o.Status == askback.Answered && o.Decision == askback.ApproveAll:
		return string(askback.Approve)
	case o.Status == askback.Answered && o.Decision != "":
		return string(o.Decision)
	}
	return string(o.Status)
}

func principalAttrs(p askback.Principal) []slog.Attr {
	return []slog.Attr{
		slog.String("by_kind", string(p.Kind)), slog.String("by", p.Name), slog.String("via", string(p.Channel)),
	}
}

func browserAttrs(b askback.Browser) []slog.Attr {
	return []slog.Attr{slog.String("browser", b.Name), slog.String("address", b.Address)}
}

func tokenAttrs(t askback.Token) []slog.Attr {
	return []slog.Attr{slog.String("token", t.ID), slog.String("kind", string(t.Kind)), slog.String("name", t.Name)}
}

// record writes a line of the audit log.
func (l *Log) record(ctx context.Context, event string, attrs ...slog.Attr) {
	l.audit.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "audit",
		append([]slog.Attr{slog.String("event", event)}, attrs...)...)
}

// reject logs a rejected secret or log-in. Clients without a valid token can cause any number of rejections,
// so the number of lines is limited.
func (l *Log) reject(ctx context.Context, event string, attrs ...slog.Attr) {
	info, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	if remote, ok := l.rejected.attrs(info); ok {
		l.record(ctx, event, append(attrs, remote...)...)
	}
}
