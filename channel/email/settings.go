package email

import (
	"net/mail"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/settings"
)

// Settings configure the mails with asks, and the mailbox with replies.
type Settings struct {
	SMTP       Server
	From       string
	Reply      string // contains {token}; if "", people cannot answer by mail
	Inbound    Server // the zero value means that people cannot answer by mail
	AuthservID string
}

// Examples of the settings of the channel.
const (
	smtpExample  = `the server that sends, as in "smtps://user:${SMTP_PASSWORD}@mail.example.com:465"`
	imapExample  = `the mailbox with replies, as in "imaps://user:${IMAP_PASSWORD}@mail.example.com"`
	replyExample = "an address with {token}, as in ask+{token}@example.com"
)

// readSettings reads the settings of the channel. Its problems do not repeat the URLs of servers, which
// contain passwords.
func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	var s Settings
	before := r.Problems()
	r.Group([]settings.Setting{
		{Key: "smtp", Read: func(v settings.Value) { readServer(r, v, "smtp", smtpExample, &s.SMTP) }},
		{Key: "from", Read: r.TextTo(&s.From, "the sender, as in Askback <ask@example.com>", senderProblem)},
		{Key: "reply", Read: r.TextTo(&s.Reply, replyExample, CheckReply)},
		{Key: "inbound", Read: func(v settings.Value) { readServer(r, v, "imap", imapExample, &s.Inbound) }},
		{Key: "authserv_id", Read: r.TextTo(&s.AuthservID,
			"the name in the field Authentication-Results, as in mx.example.com", authservProblem)},
	})(v)
	if r.Problems() > before { // the next checks could report the same problems again
		return s
	}
	missing := func(key, example string) {
		r.AddProblem(v.At, "write "+example, "%s has no %s", v.Key, key)
	}
	switch {
	case s.SMTP.Host == "":
		missing("smtp", smtpExample)
	case s.From == "":
		missing("from", "from: Askback <ask@example.com>")
	case s.Reply == "" && s.Inbound.Host != "":
		missing("reply", replyExample)
	case s.Reply != "" && s.Inbound.Host == "":
		missing("inbound", imapExample)
	case s.AuthservID != "" && s.Inbound.Host == "":
		missing("inbound", imapExample)
	}
	return s
}

// readServer reads the URL of a server into dst. Its problems do not repeat the URL.
func readServer(r *settings.Reader, v settings.Value, protocol, example string, dst *Server) {
	r.Text(example, func(text string) string {
		server, problem := ParseServer(protocol, text)
		if problem != "" {
			r.AddProblem(v.At, "write "+example, "%s %s", v.Key, problem)
			return ""
		}
		*dst = server
		return ""
	})(v)
}

func senderProblem(s string) (problem string) {
	a, err := mail.ParseAddress(s)
	if err != nil || CheckAddress(a.Address) != "" {
		return "is not an e-mail address"
	}
	return ""
}

// authservProblem returns the problem with a value that cannot be an authserv-id (RFC 8601), or "".
func authservProblem(s string) (problem string) {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f || r == ';' || r == '"' {
			return "is not the name of a server"
		}
	}
	return ""
}
