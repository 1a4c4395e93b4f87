package email

import (
	"net"
	"net/url"
	"strconv"

	"github.com/askback/askback/internal/egress"
)

// A Server is the address of a mail server, with the login. The zero value means that there is no server.
type Server struct {
	Host     string
	Port     int
	User     string // "" to send without logging in
	Password string // never part of an error or a log
	TLS      TLSMode
	Mailbox  string // mailbox of an IMAP server; "" means INBOX
}

// A TLSMode is a way to encrypt a connection.
type TLSMode string

// The ways to encrypt a connection.
const (
	ImplicitTLS TLSMode = "tls"      // encrypted from the first byte
	StartTLS    TLSMode = "starttls" // required before logging in
	PlainText   TLSMode = "none"     // not encrypted
)

// Address returns the host and the port, for messages to people.
func (s Server) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// schemes maps the scheme of a server's URL to its protocol, default port and encryption.
var schemes = map[string]struct {
	protocol string
	port     int
	mode     TLSMode
}{
	"smtps": {"smtp", 465, ImplicitTLS},
	"smtp":  {"smtp", 587, StartTLS},
	"imaps": {"imap", 993, ImplicitTLS},
	"imap":  {"imap", 143, StartTLS},
}

// ParseServer parses the URL of a server for a protocol, which is smtp or imap. With smtps and imaps,
// connections are encrypted from the first byte. With smtp and imap, STARTTLS is required, except on this
// machine or with ?tls=none. The result problem is the reason why the URL is wrong, without the URL itself,
// or "".
func ParseServer(protocol, address string) (s Server, problem string) {
	u, err := url.Parse(address)
	if err != nil {
		return Server{}, "is not an address; write special characters of the password as %XX"
	}
	scheme, ok := schemes[u.Scheme]
	switch {
	case !ok || scheme.protocol != protocol:
		return Server{}, "does not begin with " + protocol + "s:// or " + protocol + "://"
	case u.Hostname() == "":
		return Server{}, "has no host"
	case u.Fragment != "":
		return Server{}, "has a #; write it as %23 in a password"
	}
	s = Server{Host: u.Hostname(), Port: scheme.port, TLS: scheme.mode}
	if p := u.Port(); p != "" {
		if s.Port, err = strconv.Atoi(p); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, "has a port that is not a number from 1 to 65535"
		}
	}
	if u.User != nil {
		s.User = u.User.Username()
		s.Password, _ = u.User.Password()
		if s.User == "" || s.Password == "" {
			return Server{}, "has a user without a password, or a password without a user"
		}
	}
	if s.TLS == StartTLS && egress.IsLoopback(u.Host) {
		s.TLS = PlainText
	}
	return s.options(u, protocol)
}

// options reads the path and the query of the URL of a server. It returns the server with these options, or
// the reason why they are wrong.
func (s Server) options(u *url.URL, protocol string) (_ Server, problem string) {
	if path := u.Path; path != "" && path != "/" {
		if protocol != "imap" {
			return Server{}, "has a path"
		}
		s.Mailbox = path[1:]
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Server{}, "has a query that is not valid"
	}
	for key, values := range query {
		if key != "tls" || len(values) != 1 || values[0] != string(PlainText) || u.Scheme != protocol {
			return Server{}, "has a query; only ?tls=none is possible, with " + protocol + "://"
		}
		s.TLS = PlainText
	}
	if protocol == "imap" && s.User == "" {
		return Server{}, "has no user and no password"
	}
	return s, ""
}
