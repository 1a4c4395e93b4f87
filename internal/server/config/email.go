package config

import (
	"net/mail"

	"github.com/askback/askback/channel/email"
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
func (l *loader) email(v value, e *Email) {
	before := len(l.problems)
	l.group([]setting{
		{key: "smtp", read: func(v value) { l.mailServer(v, "smtp", smtpExample, &e.SMTP) }},
		{key: "from", read: l.textTo(&e.From, "the sender, as in Askback <ask@example.com>", senderProblem)},
		{key: "reply", read: l.textTo(&e.Reply, replyExample, email.CheckReply)},
		{key: "inbound", read: func(v value) { l.mailServer(v, "imap", imapExample, &e.Inbound) }},
		{key: "authserv_id", read: l.textTo(&e.AuthservID, "the name in the field Authentication-Results, as in mx.example.com", authservProblem)},
	})(v)
	e.Enabled = true
	if len(l.problems) > before { // the next checks could report the same problems again
		return
	}
	missing := func(key, example string) {
		l.addProblem(v.at, "write "+example, "%s has no %s", v.key, key)
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
func (l *loader) mailServer(v value, protocol, example string, dst *email.Server) {
	l.text(example, func(s string) string {
		server, problem := email.ParseServer(protocol, s)
		if problem != "" {
			l.addProblem(v.at, "write "+example, "%s %s", v.key, problem)
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
