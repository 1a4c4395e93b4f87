package config

import (
	"net/mail"

	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/internal/settings"
)

// Email configures the mails with asks, and the mailbox with replies.
type Email struct {
	Enabled    bool // the settings have the channel; otherwise the server sends no mail
	SMTP       email.Server
	From       string
	Reply      string       // with {token}; "": people cannot answer by mail
	Inbound    email.Server // the zero value: people cannot answer by mail
	AuthservID string
}

// Examples of the settings of mails.
const (
	smtpExample  = `the server that sends, as in "smtps://user:${SMTP_PASSWORD}@mail.example.com:465"`
	imapExample  = `the mailbox with replies, as in "imaps://user:${IMAP_PASSWORD}@mail.example.com"`
	replyExample = "an address with {token}, as in ask+{token}@example.com"
)

// email reads channels.email. Its problems do not repeat the addresses of servers, which
// contain passwords.
func (l *loader) email(v settings.Value, e *Email) {
	before := l.Problems()
	l.Group([]settings.Setting{
		{Key: "smtp", Read: func(v settings.Value) { l.mailServer(v, "smtp", smtpExample, &e.SMTP) }},
		{Key: "from", Read: l.TextTo(&e.From, "the sender, as in Askback <ask@example.com>", senderProblem)},
		{Key: "reply", Read: l.TextTo(&e.Reply, replyExample, email.CheckReply)},
		{Key: "inbound", Read: func(v settings.Value) { l.mailServer(v, "imap", imapExample, &e.Inbound) }},
		{Key: "authserv_id", Read: l.TextTo(&e.AuthservID, "the name in the field Authentication-Results, as in mx.example.com", authservProblem)},
	})(v)
	e.Enabled = true
	if l.Problems() > before { // the next checks could report the same problems again
		return
	}
	missing := func(key, example string) {
		l.AddProblem(v.At, "write "+example, "%s has no %s", v.Key, key)
	}
	switch {
	case e.SMTP.Host == "":
		missing("smtp", smtpExample)
	case e.From == "":
		missing("from", "from: Askback <ask@example.com>")
	case e.Reply == "" && e.Inbound.Host != "":
		missing("reply", replyExample)
	case e.Reply != "" && e.Inbound.Host == "":
		missing("inbound", imapExample)
	case e.AuthservID != "" && e.Inbound.Host == "":
		missing("inbound", imapExample)
	}
}

// mailServer reads the address of a server. Its problems do not repeat it.
func (l *loader) mailServer(v settings.Value, protocol, example string, dst *email.Server) {
	l.Text(example, func(s string) string {
		server, problem := email.ParseServer(protocol, s)
		if problem != "" {
			l.AddProblem(v.At, "write "+example, "%s %s", v.Key, problem)
			return ""
		}
		*dst = server
		return ""
	})(v)
}

func senderProblem(s string) (problem string) {
	a, err := mail.ParseAddress(s)
	if err != nil || email.CheckAddress(a.Address) != "" {
		return "is not an e-mail address"
	}
	return ""
}

// authservProblem rejects what cannot be an authserv-id (RFC 8601).
func authservProblem(s string) (problem string) {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f || r == ';' || r == '"' {
			return "is not the name of a server"
		}
	}
	return ""
}
