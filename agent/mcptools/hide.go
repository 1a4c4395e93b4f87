package mcptools

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the minimum length in bytes of a value that is hidden. Shorter values occur in texts by
// chance.
const minSecret = 6

// secrets returns the values of the settings that are hidden, the longest first, because a value may be part
// of another value.
func secrets(o Options) (all []string) {
	add := func(values ...string) {
		for _, value := range values {
			if len(value) >= minSecret {
				all = append(all, value)
			}
		}
	}
	for _, value := range o.Headers {
		_, credential, _ := strings.Cut(value, " ") // the credential follows the scheme
		add(value, credential)
	}
	for _, value := range o.Env {
		add(value)
		for line := range strings.Lines(value) { // the log consists of lines
			add(strings.TrimSpace(line))
		}
	}
	if len(o.Command) > 0 {
		for _, argument := range o.Command[1:] {
			_, value, _ := strings.Cut(argument, "=")
			add(argument, value)
		}
	}
	if u, err := url.Parse(o.URL); err == nil && o.URL != "" {
		password, _ := u.User.Password()
		add(u.RawQuery, password, u.User.Username(), u.EscapedPath(), u.Path)
		add(strings.Split(u.EscapedPath(), "/")...)
		add(strings.Split(u.Path, "/")...)
		for _, values := range u.Query() {
			for _, value := range values {
				add(value, url.QueryEscape(value))
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	return slices.Compact(all)
}

// hide replaces the secrets of the settings in text with "…". These are the values of headers and of the
// environment, the arguments of the command, and the path, query and credentials of the URL.
func (s *Server) hide(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	return text
}

// longest returns the length of the longest secret in bytes, or 0 if there is no secret.
func (s *Server) longest() int {
	if len(s.secrets) == 0 {
		return 0
	}
	return len(s.secrets[0])
}
