package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/askback/askback/internal/loopback"
)

// Login says how people show who they are, beside the link that askback login prints.
type Login struct {
	OIDC OIDC
}

// OIDC is an issuer of OpenID Connect. The zero value is none.
type OIDC struct {
	Issuer       string // as its discovery document writes it
	ClientID     string
	ClientSecret string // "" is a public client
}

// login reads how people log in.
func (f *file) login(c *Config) func(value) {
	o := &c.Login.OIDC
	return f.group([]setting{
		{key: "oidc", read: func(v value) {
			before := len(f.bad)
			f.group([]setting{
				{key: "issuer", read: f.text("its address, as in https://id.example.com", func(s string) string {
					o.Issuer = s
					return badIssuer(s)
				})},
				{key: "client_id", read: f.text("the name this server has there, as in askback", func(s string) string {
					o.ClientID = s
					return ""
				})},
				{key: "client_secret", read: f.text(`a variable with the secret, as in "${OIDC_SECRET}"`, func(s string) string {
					o.ClientSecret = s
					return ""
				})},
			})(v)
			if len(f.bad) > before {
				return
			}
			if o.Issuer == "" {
				f.wrong(v.at, "write issuer: https://id.example.com", "%s has no issuer", v.key)
			}
			if o.ClientID == "" {
				f.wrong(v.at, "write client_id: askback", "%s has no client_id", v.key)
			}
		}},
	})
}

// NoPeople says whether nobody can log in, because no person has an e-mail address.
// That is no mistake where somebody was just taken out.
func (c Config) NoPeople() bool {
	return c.Login.OIDC != (OIDC{}) && !slices.ContainsFunc(c.People, func(p Person) bool { return p.Email != "" })
}

// badIssuer holds an issuer to https: whoever is on the way could log in as anybody.
func badIssuer(s string) (wrong string) {
	u, err := url.Parse(s)
	switch {
	case strings.HasSuffix(s, "/.well-known/openid-configuration"):
		return "is where the issuer describes itself; leave out what begins with /.well-known"
	case err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(s, "?# "):
		return "is no address of an issuer"
	case u.Scheme == "https" || u.Scheme == "http" && loopback.IsHost(u.Host):
		return ""
	}
	return "is not https"
}
