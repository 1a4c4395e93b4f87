package email_test

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
)

const (
	ana     = "ana@example.com"
	ben     = "ben@example.com"
	publicA = "https://ask.example.com/a/"
	askID   = "ask_01kayv3wz8fj2q9d0m7x5c4b3a"
)

var clock = time.Date(2026, 11, 23, 14, 3, 0, 0, time.UTC)

// server returns the settings of a mail server at an address with an encryption.
func server(t testing.TB, protocol, address string, e emailtest.Encryption) email.Server {
	t.Helper()
	host, p, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(p)
	s := email.Server{Host: host, Port: port, User: emailtest.User, Password: emailtest.Password}
	s.TLS = map[emailtest.Encryption]email.TLSMode{
		emailtest.None: email.PlainText, emailtest.TLS: email.ImplicitTLS, emailtest.StartTLS: email.StartTLS,
	}[e]
	return s
}

// options returns the options of a channel that uses the server s and has two people.
func options(t testing.TB, s *emailtest.Server, e emailtest.Encryption) email.Options {
	return email.Options{
		SMTP: server(t, "smtp", s.SMTPAddress, e), Inbound: server(t, "imap", s.IMAPAddress, e), Roots: s.Roots,
		From: "ask@example.com", Reply: "ask+{token}@example.com",
		People: func() map[string]string { return map[string]string{"ana": ana, "ben": ben} },
		Key:    func() ([]byte, error) { return bytes.Repeat([]byte("k"), 32), nil },
		Link:   func(_ askback.Ask, person string) string { return publicA + person },
		Now:    func() time.Time { return clock }, Poll: time.Minute,
	}
}

func newChannel(t testing.TB, o email.Options) *email.Channel {
	t.Helper()
	c, err := email.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// question returns a pending ask with questions.
func question(q ...askback.Question) askback.Ask {
	for i := range q {
		q[i].ID = "q" + strconv.Itoa(i+1)
	}
	return askback.Ask{
		ID: askID, Agent: "deployer", Kind: askback.Questions, Questions: q, Status: askback.Pending, CreatedAt: clock,
		PageURL: "https://ask.example.com/asks/" + askID,
	}
}

// about returns the notification of a person about an ask.
func about(a askback.Ask, person string) askback.Notification {
	n := askback.Notification{Ask: a, Address: person}
	n.ID, n.Person, n.Event = "dlv_1", person, askback.EventQuestionPending
	return n
}

// send sends a notification and returns the message.
func send(t testing.TB, s *emailtest.Server, c *email.Channel, n askback.Notification) emailtest.Letter {
	t.Helper()
	receipt, err := c.Send(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Messages()
	got := all[len(all)-1].Decode(t)
	if id := got.Header.Get("Message-Id"); id != receipt {
		t.Errorf("the receipt is %q, the id of the message %q", receipt, id)
	}
	return got
}

func TestQuestionIsSentEncrypted(t *testing.T) {
	for name, e := range map[string]emailtest.Encryption{
		"none": emailtest.None, "tls": emailtest.TLS, "starttls": emailtest.StartTLS,
	} {
		t.Run(name, func(t *testing.T) {
			s := emailtest.Start(t, emailtest.Options{Encryption: e})
			c := newChannel(t, options(t, s, e))
			got := send(t, s, c, about(
				question(askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")}),
				"ana",
			))
			for _, want := range []string{
				"Which database?", "1. PostgreSQL", "2. SQLite", publicA + "ana",
				"Or reply to this mail with the number",
			} {
				if !strings.Contains(got.Text, want) {
					t.Errorf("the text has no %q:\n%s", want, got.Text)
				}
			}
			if to := s.Messages()[0].To; len(to) != 1 || to[0] != ana {
				t.Errorf("it went to %q", to)
			}
		})
	}
}

func TestServerWithAnotherCertificateGetsNoPassword(t *testing.T) {
	for _, e := range []emailtest.Encryption{emailtest.TLS, emailtest.StartTLS} {
		s := emailtest.Start(t, emailtest.Options{Encryption: e})
		o := options(t, s, e)
		o.Roots = nil
		_, err := newChannel(t, o).Send(t.Context(), about(question(askback.Question{Text: "Ready?"}), "ana"))
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("the error is %v", err)
		}
	}
}

// A server that does not offer STARTTLS receives neither the password nor the question.
func TestStartTLSIsRequired(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	o := options(t, s, emailtest.StartTLS)
	if _, err := newChannel(t,
		o).Send(t.Context(), about(question(askback.Question{Text: "Ready?"}), "ana")); err == nil {
		t.Error("it was sent without encryption")
	}
	if n := len(s.Messages()); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestOnlyPermanentRejectionsAreFinal(t *testing.T) {
	for _, tt := range []struct {
		fail  emailtest.Failure
		final bool
		want  string
	}{
		{emailtest.Failure{Mail: 451}, false, "does not accept the sender"},
		{emailtest.Failure{Mail: 550}, false, "check channels.email.from"},
		{emailtest.Failure{Rcpt: 450}, false, "does not accept the address of the person now (450"},
		{emailtest.Failure{Rcpt: 550}, true, "rejects the address of the person (550"},
		{emailtest.Failure{Data: 421}, false, "does not accept the message now (421"},
		{emailtest.Failure{Data: 452}, false, "does not accept the message now (452"},
		{emailtest.Failure{Data: 554}, true, "rejects the message (554"},
		{emailtest.Failure{LostReply: true}, false, "the connection to the mail server broke"},
	} {
		s := emailtest.Start(t, emailtest.Options{})
		c := newChannel(t, options(t, s, emailtest.None))
		s.Fail(tt.fail)
		n := about(question(askback.Question{Text: "Ready?"}), "ana")
		_, err := c.Send(t.Context(), n)
		var sending *askback.SendError
		if !errors.As(err, &sending) || sending.Final != tt.final || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %#v %v", tt.fail, sending, err)
			continue
		}
		if strings.Contains(err.Error(), "server text") {
			t.Errorf("%+v: the error has text of the server: %v", tt.fail, err)
		}
		n.Person = "ben"
		if _, err := c.Send(t.Context(), n); err != nil {
			t.Errorf("%+v: the next person gets none: %v", tt.fail, err)
		}
	}
}

// If the connection breaks after the server has accepted a message, the message is not sent again.
func TestAcceptedMessageIsNotRepeated(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	s.Fail(emailtest.Failure{LostEnd: true})
	if _, err := c.Send(t.Context(), about(question(askback.Question{Text: "Ready?"}), "ana")); err != nil {
		t.Error(err)
	}
	if n := len(s.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestMailIsSentAfterARejectedAddress(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	s.Reject(ana, 550)
	a := question(askback.Question{Text: "Ready?"})
	if _, err := c.Send(t.Context(), about(a, "ana")); err == nil {
		t.Error("the unknown address was accepted")
	}
	send(t, s, c, about(a, "ben"))
}

func TestErrorsDoNotContainThePassword(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	o := options(t, s, emailtest.None)
	o.SMTP.Password = "the secret"
	_, err := newChannel(t, o).Send(t.Context(), about(question(askback.Question{Text: "Ready?"}), "ana"))
	if err == nil || strings.Contains(err.Error(), "the secret") ||
		!strings.Contains(err.Error(), "the user and the password") {
		t.Errorf("the error is %v", err)
	}
	var sending *askback.SendError
	if errors.As(err, &sending) && (sending.Cause == nil || strings.Contains(sending.Cause.Error(), "the secret") ||
		!strings.Contains(sending.Cause.Error(), "[password]")) {
		t.Errorf("the cause is %v", sending.Cause)
	}
	if sending != nil && sending.Final {
		t.Error("it is final, although the operator can correct the password")
	}
}

// After a crash between sending and storing, the question is sent again with the same Message-Id.
func TestRepeatedMailHasTheSameMessageID(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	n := about(question(askback.Question{Text: "Ready?"}), "ana")
	s.Fail(emailtest.Failure{LostReply: true})
	if _, err := c.Send(t.Context(), n); err == nil {
		t.Fatal("there is no error")
	}
	recorded, err := newChannel(t, options(t, s, emailtest.None)).Send(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Messages()
	first, second := all[0].Decode(t), all[1].Decode(t)
	if a, b := first.Header.Get("Message-Id"), second.Header.Get("Message-Id"); a != b || a != recorded {
		t.Errorf("the ids are %q and %q, and the receipt is %q", a, b, recorded)
	}
	n.Receipt = recorded
	if receipt, err := c.Send(t.Context(), n); err != nil || receipt != recorded || len(s.Messages()) != 2 {
		t.Errorf("after it was recorded: %q %v, %d messages", receipt, err, len(s.Messages()))
	}
	other := send(t, s, c, about(n.Ask, "ben"))
	if other.Header.Get("Message-Id") == recorded || other.ReplyTo() == first.ReplyTo() ||
		!strings.Contains(other.ReplyTo(), "@") {
		t.Errorf("the message of another person has the id %q and the address %q", other.Header.Get("Message-Id"),
			other.ReplyTo())
	}
}

func TestOutcomeIsInTheSameThread(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	a := question(askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")})
	a.Title = "Storage"
	asked := send(t, s, c, about(a, "ana"))
	a.Status = askback.Answered
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ben"},
		Channel: askback.ChannelWeb, At: clock,
		Answers: []askback.QuestionAnswer{{ID: "q1", Question: "Which database?", Selected: []string{"SQLite"}}},
	}
	n := about(a, "ana")
	n.ID, n.Event, n.Earlier = "dlv_2", askback.EventQuestionAnswered, asked.Header.Get("Message-Id")
	got := send(t, s, c, n)
	if got.Header.Get("In-Reply-To") != n.Earlier || got.Header.Get("References") != n.Earlier {
		t.Errorf("it replies to %q, the question is %q", got.Header.Get("In-Reply-To"), n.Earlier)
	}
	if got.Field("Subject") != "Re: "+asked.Field("Subject") ||
		asked.Field("Subject") != "“Which database?”" {
		t.Errorf("the subjects are %q and %q", asked.Field("Subject"), got.Field("Subject"))
	}
	if !strings.Contains(got.Text, "ben") || !strings.Contains(got.Text, "SQLite") ||
		strings.Contains(got.Text, "Reply above") {
		t.Errorf("the text is\n%s", got.Text)
	}
	if got.Header.Get("Message-Id") == n.Earlier {
		t.Error("the outcome has the id of the question")
	}
	if asked.Header.Get("Auto-Submitted") != "auto-generated" {
		t.Error("the mail is not marked as automatic")
	}
}

// A reminder and an escalation contain the whole ask again. The notice of a reassigned ask contains no part
// of the ask, and no reply address.
func TestReminderRepeatsTheWholeAsk(t *testing.T) {
	s := emailtest.Start(t, emailtest.Options{})
	c := newChannel(t, options(t, s, emailtest.None))
	a := question(askback.Question{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")})
	a.To = []string{"ana"}
	asked := send(t, s, c, about(a, "ana"))
	for _, tt := range []struct {
		event  askback.EventType
		person string
		thread bool
		want   string
		whole  bool
	}{
		{askback.EventQuestionReminded, "ana", true, "Reminder: this is still waiting", true},
		{askback.EventQuestionReassigned, "ana", true, "Which database?", true},
		{askback.EventQuestionEscalated, "ana", false, "so you are asked as well", true},
		{askback.EventQuestionReassigned, "ben", true, "No answer needed from you", false},
	} {
		n := about(a, tt.person)
		n.ID, n.Event = "dlv_"+string(tt.event)+tt.person, tt.event
		if tt.thread {
			n.Earlier = asked.Header.Get("Message-Id")
		}
		got := send(t, s, c, n)
		if !strings.Contains(got.Text, tt.want) || strings.Contains(got.Text, "Which database?") != tt.whole ||
			(got.ReplyTo() != "") != tt.whole {
			t.Errorf("%s to %s: replies go to %q:\n%s", tt.event, tt.person, got.ReplyTo(), got.Text)
		}
		if inThread := got.Header.Get("In-Reply-To") == n.Earlier; inThread != tt.thread && tt.thread ||
			got.Header.Get("Message-Id") == asked.Header.Get("Message-Id") == tt.thread {
			t.Errorf("%s to %s: the header is %v", tt.event, tt.person, got.Header)
		}
	}
}
