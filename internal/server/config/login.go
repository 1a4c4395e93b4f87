package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Login configures how people log in, in addition to the link that askback login prints.
type Login struct {
	OIDC OIDC
}

// OIDC configures an OpenID Connect issuer, and this server as its client. The zero value
// means that there is no issuer.
type OIDC struct {
	Issuer       string // exactly as in its discovery document
	ClientID     string
	ClientSecret string // "" for a public client
}

// login returns a function that reads the settings of the log-in into c.
func (l *loader) login(c *Config) func(settings.Value) {
	o := &c.Login.OIDC
	return l.Group([]settings.Setting{
		{Key: "oidc", Read: func(v settings.Value) {
			before := l.Problems()
			l.Group([]settings.Setting{
				{Key: "issuer", Read: l.TextTo(&o.Issuer, "its address, as in https://id.example.com", issuerProblem)},
				{Key: "client_id", Read: l.TextTo(&o.ClientID, "the client id of this server, as in askback")},
				{Key: "client_secret", Read: l.TextTo(&o.ClientSecret,
					`a variable with the secret, as in "${OIDC_SECRET}"`)},
			})(v)
			if l.Problems() > before {
				return
			}
			if o.Issuer == "" {
				l.AddProblem(v.At, "write issuer: https://id.example.com", "%s has no issuer", v.Key)
			}
			if o.ClientID == "" {
				l.AddProblem(v.At, "write client_id: askback", "%s has no client_id", v.Key)
			}
		}},
	})
}

// NoPersonCanLogIn reports whether there is an issuer but no person with an e-mail address.
// Such settings are valid, so that the last person can be removed.
func (c Config) NoPersonCanLogIn() bool {
	return c.Login.OIDC != (OIDC{}) && !slices.ContainsFunc(c.People, func(p Person) bool { return p.Email != "" })
}

// issuerProblem returns the problem of the URL of an issuer, or "". It requires https, except on loopback:
// with http, anyone on the network path could log in as any person.
func issuerProblem(s string) (problem string) {
	u, err := url.Parse(s)
	switch {
	case strings.HasSuffix(s, "/.well-known/openid-configuration"):
		return "is the metadata document of the issuer; remove /.well-known and the rest"
	case err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(s, "?# "):
		return "is not the address of an issuer"
	case u.Scheme == "https" || u.Scheme == "http" && egress.IsLoopback(u.Host):
		return ""
	}
	return "is not https"
}
