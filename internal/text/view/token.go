package view

import (
	"cmp"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Token is an [askback.Token] for display. It has no secret.
type Token struct {
	ID        safetext.Text
	Kind      safetext.Text
	Name      safetext.Text
	Browser   bool          // whether the token is the log-in of a browser
	Here      bool          // whether it is the log-in of the browser that shows the page; the page sets it
	Device    safetext.Text // for a log-in: the browser and its system, or "unknown browser"
	Address   safetext.Text // for a log-in: the IP address from which the browser logged in; empty if not known
	Created   time.Time
	Expires   time.Time // zero if the token never expires
	RevokedAt time.Time // zero if the token is not revoked
	LastUsed  time.Time // zero if no use is known
}

// OfToken returns the view of a token.
func OfToken(t askback.Token) Token {
	v := Token{
		ID: safetext.Line(t.ID), Kind: safetext.Line(string(t.Kind)), Name: safetext.Name(t.Name),
		Browser: t.Channel == askback.ChannelWeb, Created: t.CreatedAt, Expires: t.ExpiresAt, RevokedAt: t.RevokedAt,
		LastUsed: t.LastUsedAt,
	}
	if v.Browser {
		v.Device = safetext.Line(cmp.Or(t.Browser.Name, "unknown browser"))
		v.Address = safetext.Line(t.Browser.Address)
	}
	return v
}

// Ended reports whether the token is revoked or expired.
func (t Token) Ended(now time.Time) bool {
	return !t.RevokedAt.IsZero() || !t.Expires.IsZero() && !now.Before(t.Expires)
}
