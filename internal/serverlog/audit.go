package serverlog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/askback/askback"
)

// An Engine is what requests are given to.
type Engine interface {
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	As(p askback.Principal) askback.Client
	May(p askback.Principal, a askback.Action) error
	Login(ctx context.Context, secret string) (browserSecret string, err error)
	SignIn(ctx context.Context, issuer, email string) (browserSecret string, err error)
	Logout(ctx context.Context, secret string) error
}

// A Gate is an [Engine] that writes the audit log: log-ins, tokens and grants, each after
// it was committed, and what was refused. How asks end is written by [Log.Committed].
type Gate struct {
	Engine
	log *Log
}

// Gate returns an engine with an audit log.
func (l *Log) Gate(e Engine) Gate { return Gate{e, l} }

// Authenticate implements [Engine].
func (g Gate) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	p, err := g.Engine.Authenticate(ctx, secret)
	switch {
	case err == nil:
		Note(ctx, p)
	case errors.Is(err, askback.ErrUnauthorized) && secret != "":
		g.log.refuse(ctx, "token_refused")
	}
	return p, err
}

// As implements [Engine].
func (g Gate) As(p askback.Principal) askback.Client { return seat{g.Engine.As(p), p, g.log} }

// Login implements [Engine].
func (g Gate) Login(ctx context.Context, secret string) (string, error) {
	browser, err := g.Engine.Login(ctx, secret)
	switch {
	case err == nil:
		g.entered(ctx, browser, slog.String("through", "link"))
	case errors.Is(err, askback.ErrUnauthorized):
		g.log.refuse(ctx, "login_refused", slog.String("through", "link"))
	}
	return browser, err
}

// SignIn implements [Engine].
func (g Gate) SignIn(ctx context.Context, issuer, email string) (string, error) {
	browser, err := g.Engine.SignIn(ctx, issuer, email)
	from := []slog.Attr{slog.String("through", "issuer"), slog.String("issuer", issuer), slog.String("email", email)}
	switch {
	case err == nil:
		g.entered(ctx, browser, from...)
	case errors.Is(err, askback.ErrUnauthorized), errors.Is(err, askback.ErrForbidden):
		g.log.refuse(ctx, "login_refused", from...)
	}
	return browser, err
}

// Logout implements [Engine].
func (g Gate) Logout(ctx context.Context, secret string) error {
	who, unknown := g.Engine.Authenticate(ctx, secret)
	err := g.Engine.Logout(ctx, secret)
	if err == nil && unknown == nil {
		Note(ctx, who)
		g.log.record(ctx, "logout", principal(who)...)
	}
	return err
}

// entered writes that a browser was logged in.
func (g Gate) entered(ctx context.Context, browser string, more ...slog.Attr) {
	who, err := g.Engine.Authenticate(ctx, browser)
	if err != nil { // it ended already
		g.log.record(ctx, "login", more...)
		return
	}
	Note(ctx, who)
	g.log.record(ctx, "login", append(principal(who), more...)...)
}

// A seat writes what its principal did to tokens and grants.
type seat struct {
	askback.Client
	who askback.Principal
	log *Log
}

// Unwrap returns the seat that does what is recorded here.
func (s seat) Unwrap() askback.Client { return s.Client }

func (s seat) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	g, err := s.Client.Revoke(ctx, id)
	if err == nil {
		s.log.record(ctx, string(askback.EventGrantRevoked), append(principal(s.who), slog.String("grant", g.ID), slog.String("agent", g.Agent), slog.String("tool", g.ToolName))...)
	}
	return g, err
}

func (s seat) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	t, secret, err := s.Client.CreateToken(ctx, r)
	if err == nil {
		s.log.record(ctx, "token_created", append(principal(s.who), token(t)...)...)
	}
	return t, secret, err
}

func (s seat) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	t, err := s.Client.RevokeToken(ctx, id)
	if err == nil {
		s.log.record(ctx, "token_revoked", append(principal(s.who), token(t)...)...)
	}
	return t, err
}

func (s seat) LoginSecret(ctx context.Context) (string, error) {
	secret, err := s.Client.LoginSecret(ctx)
	if err == nil {
		s.log.record(ctx, "login_link_created", principal(s.who)...)
	}
	return secret, err
}

// Committed writes how an ask ended, after that was committed. It is an observer of the
// engine.
func (l *Log) Committed(event askback.EventType, a askback.Ask) {
	name := ending(event, a.Outcome)
	if name == "" {
		return
	}
	o := a.Outcome
	attrs := []slog.Attr{
		slog.String("by_kind", string(o.Actor.Kind)), slog.String("by", o.Actor.Name), slog.String("via", string(o.Channel)),
		slog.String("ask", a.ID), slog.String("session", a.SessionID), slog.String("agent", a.Agent), slog.String("token", a.Owner),
	}
	if c := a.Confirmation; c != nil {
		attrs = append(attrs, slog.String("tool", c.ToolName), slog.String("server", c.Server), slog.String("digest", c.Digest))
		if o.Digest != "" && o.Digest != c.Digest {
			attrs = append(attrs, slog.String("approved_digest", o.Digest))
		}
	}
	if o.GrantID != "" {
		attrs = append(attrs, slog.String("grant", o.GrantID))
	}
	l.record(context.Background(), name, attrs...)
}

// ending names how an ask ended, or the grant that this made; "" is no line.
func ending(event askback.EventType, o *askback.Outcome) string {
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

func principal(p askback.Principal) []slog.Attr {
	return []slog.Attr{slog.String("by_kind", string(p.Kind)), slog.String("by", p.Name), slog.String("via", string(p.Channel))}
}

func token(t askback.Token) []slog.Attr {
	return []slog.Attr{slog.String("token", t.ID), slog.String("kind", string(t.Kind)), slog.String("name", t.Name)}
}

// record writes a line of the audit log.
func (l *Log) record(ctx context.Context, event string, attrs ...slog.Attr) {
	l.audit.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "audit", append([]slog.Attr{slog.String("event", event)}, attrs...)...)
}

// refuse writes that someone was not let in. Strangers can cause as many refusals as they
// like, so only some of them have a line.
func (l *Log) refuse(ctx context.Context, event string, attrs ...slog.Attr) {
	left, ok := l.refused.next(time.Now())
	if !ok {
		return
	}
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		attrs = append(attrs, slog.String("remote", v.remote))
	}
	if left > 0 {
		attrs = append(attrs, slog.Int("left_out", left))
	}
	l.record(ctx, event, attrs...)
}
