package email_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/channel/email"
)

func TestServerAddressesAreParsed(t *testing.T) {
	for _, tt := range []struct {
		protocol, address string
		want              email.Server
	}{
		{"smtp", "smtps://ana:pw@mail.example.com", email.Server{
			Host: "mail.example.com", Port: 465, User: "ana", Password: "pw", TLS: email.ImplicitTLS,
		}},
		{"smtp", "smtp://mail.example.com", email.Server{Host: "mail.example.com", Port: 587, TLS: email.StartTLS}},
		{"smtp", "smtp://mail.example.com:25?tls=none", email.Server{
			Host: "mail.example.com", Port: 25, TLS: email.PlainText,
		}},
		{"smtp", "smtp://127.0.0.1:2525", email.Server{Host: "127.0.0.1", Port: 2525, TLS: email.PlainText}},
		{"smtp", "smtps://[::1]:2525/", email.Server{Host: "::1", Port: 2525, TLS: email.ImplicitTLS}},
		{"smtp", "smtps://ana%40example.com:p%23%2F%3A%40@mail.example.com", email.Server{
			Host: "mail.example.com", Port: 465, User: "ana@example.com", Password: "p#/:@", TLS: email.ImplicitTLS,
		}},
		{"imap", "imaps://ana:pw@mail.example.com/Replies/Askback", email.Server{
			Host: "mail.example.com", Port: 993, User: "ana", Password: "pw", TLS: email.ImplicitTLS,
			Mailbox: "Replies/Askback",
		}},
		{"imap", "imap://ana:pw@mail.example.com", email.Server{
			Host: "mail.example.com", Port: 143, User: "ana", Password: "pw", TLS: email.StartTLS,
		}},
	} {
		if got, problem := email.ParseServer(tt.protocol, tt.address); got != tt.want || problem != "" {
			t.Errorf("%s: got %+v %q, want %+v", tt.address, got, problem, tt.want)
		}
	}
	for _, address := range []string{
		"", "mail.example.com", "imaps://ana:pw@mail.example.com", "smtps://", "smtps://mail.example.com#x",
		"smtps://ana@mail.example.com", "smtps://:pw@mail.example.com",
		"smtps://mail.example.com:0", "smtps://mail.example.com:65536", "smtps://mail.example.com/x",
		"smtps://mail.example.com?tls=none", "smtp://mail.example.com?tls=no",
		"smtp://mail.example.com?x=1", "smtp://mail.example.com?tls=none&tls=none",
		"smtps://ana:hunter2#x@mail.example.com", "smtps://ana:hunter2%zz@mail.example.com",
	} {
		if _, problem := email.ParseServer("smtp", address); problem == "" || strings.Contains(problem, "hunter2") {
			t.Errorf("%s: the problem is %q", address, problem)
		}
	}
	if _, problem := email.ParseServer("imap", "imaps://mail.example.com"); problem == "" {
		t.Error("a mailbox needs a user")
	}
}
