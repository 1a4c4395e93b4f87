// Package emailtest runs a mail server on loopback: SMTP for the messages that Askback sends, and IMAP for a
// mailbox with replies. The server behaves as RFC 5321 and RFC 9051 require, and fails when a test requests
// it.
package emailtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Name and password of the user of both servers.
const (
	User     = "askback"
	Password = "pass word/%#:@"
)

// An Encryption is a way to encrypt connections to a [Server].
type Encryption int

// The encryptions.
const (
	None Encryption = iota
	TLS
	StartTLS
)

// Options configure a [Server].
type Options struct {
	Encryption Encryption
	NoIdle     bool // the IMAP server does not report new messages
	MaxBytes   int64
}

// A Message is a message that the server has accepted.
type Message struct {
	From string
	To   []string
	Raw  []byte
}

// A Failure describes how the server fails once. At most one field is set.
type Failure struct {
	Mail int // code of the reply to the command MAIL
	Rcpt int // code of the reply to the command RCPT
	Data int // code of the reply to the command DATA
	// LostReply accepts a message, and closes the connection before the reply.
	LostReply bool
	// LostEnd accepts a message, and closes the connection after the reply.
	LostEnd bool
	// Slow replies to a message only when the test ends, or the client has gone.
	Slow bool
}

// A Server is a mail server. It is safe for concurrent use.
type Server struct {
	SMTPAddress string // host and port
	IMAPAddress string
	Roots       *x509.CertPool // certificate authorities of the server; nil without encryption

	mailbox *imapmemserver.User
	smtp    *smtp.Server

	mu       sync.Mutex
	accepted []Message
	failures []Failure
	unknown  map[string]int // reply codes for every message to a recipient, keyed by address
	changed  chan struct{}
	ended    chan struct{}
	marked   chan struct{}
	arrived  chan struct{} // closed when a message arrives
	imap     *imapserver.Server
	options  Options
	config   *tls.Config
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{
		options: o, unknown: map[string]int{}, changed: make(chan struct{}), ended: make(chan struct{}),
		marked: make(chan struct{}), arrived: make(chan struct{}), mailbox: imapmemserver.NewUser(User, Password),
	}
	if o.Encryption != None {
		web := httptest.NewUnstartedServer(http.NotFoundHandler())
		web.StartTLS()
		s.config = &tls.Config{Certificates: web.TLS.Certificates}
		s.Roots = x509.NewCertPool()
		s.Roots.AddCert(web.Certificate())
		web.Close()
	}
	if err := s.mailbox.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(s.ended) })
	s.startSMTP(t)
	s.StartIMAP(t, "127.0.0.1:0")
	return s
}

func (s *Server) listen(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if s.options.Encryption == TLS {
		l = tls.NewListener(l, s.config)
	}
	return l
}

func (s *Server) startSMTP(t testing.TB) {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{s: s, conn: c}, nil
	}))
	server.Domain = "mail.example.com"
	server.AllowInsecureAuth = s.options.Encryption != StartTLS
	server.MaxMessageBytes = s.options.MaxBytes
	server.ErrorLog = log.New(io.Discard, "", 0)
	if s.options.Encryption == StartTLS {
		server.TLSConfig = s.config
	}
	s.smtp = server
	l := s.listen(t, "127.0.0.1:0")
	s.SMTPAddress = l.Addr().String()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
}

// StartIMAP starts the IMAP server at an address, at first or after [Server.StopIMAP].
func (s *Server) StartIMAP(t testing.TB, address string) {
	t.Helper()
	memory := imapmemserver.New()
	memory.AddUser(s.mailbox)
	caps := imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapUIDPlus: {}}
	options := &imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return &mailboxSession{memory.NewSession(), s}, nil, nil
		},
		Caps: caps, Logger: log.New(io.Discard, "", 0), InsecureAuth: s.options.Encryption != StartTLS,
	}
	if s.options.Encryption == StartTLS {
		options.TLSConfig = s.config
	}
	server := imapserver.New(options)
	l := s.listen(t, address)
	if s.options.NoIdle {
		l = withoutIdle{l}
	}
	s.mu.Lock()
	s.imap, s.IMAPAddress = server, l.Addr().String()
	s.mu.Unlock()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
}

// A mailboxSession is a connection to the IMAP server.
type mailboxSession struct {
	imapserver.Session
	s *Server
}

// Store implements [imapserver.Session].
func (m *mailboxSession) Store(
	w *imapserver.FetchWriter, which imap.NumSet, flags *imap.StoreFlags, o *imap.StoreOptions,
) error {
	err := m.Session.Store(w, which, flags, o)
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	close(m.s.marked)
	m.s.marked = make(chan struct{})
	return err
}

// Idle implements [imapserver.Session]. It replaces the method of the mailbox in memory, which misses
// messages that arrive before the call.
func (m *mailboxSession) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	for {
		m.s.mu.Lock()
		arrived := m.s.arrived
		m.s.mu.Unlock()
		if err := m.Session.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-arrived:
		case <-stop:
			return nil
		}
	}
}

// A withoutIdle is a listener for an IMAP server that does not offer IDLE.
type withoutIdle struct{ net.Listener }

// Accept implements [net.Listener].
func (l withoutIdle) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return idleHider{c}, err
}

type idleHider struct{ net.Conn }

// Write replaces the name of the capability by a name of the same length.
func (c idleHider) Write(p []byte) (int, error) {
	return c.Conn.Write(bytes.ReplaceAll(p, []byte(" IDLE"), []byte(" XXXX")))
}

// StopIMAP stops the IMAP server and closes all connections to it.
func (s *Server) StopIMAP() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.imap.Close()
}

// Fail adds failures for the next messages, in this order.
func (s *Server) Fail(f ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, f...)
}

// FailAs makes the server accept the next skip messages, and fail count messages after them. It replaces
// earlier failures. The function failed returns the number of failures so far.
func (s *Server) FailAs(f Failure, skip, count int) (failed func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(slices.Repeat([]Failure{{}}, skip), slices.Repeat([]Failure{f}, count)...)
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return count - max(0, min(count, len(s.failures)))
	}
}

// Reject makes the server reply with this code to each message for an address.
func (s *Server) Reject(address string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown[address] = code
}

// Messages returns the accepted messages.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.accepted...)
}

// Changed returns a channel that is closed when the next message is accepted.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Marked returns a channel that is closed when a program marks messages.
func (s *Server) Marked() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marked
}

// Deliver adds a message to the mailbox.
func (s *Server) Deliver(t testing.TB, raw string) {
	t.Helper()
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
	if _, err := s.mailbox.Append("INBOX", literal{strings.NewReader(raw), int64(len(raw))},
		&imap.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.arrived)
	s.arrived = make(chan struct{})
}

type literal struct {
	io.Reader
	size int64
}

func (l literal) Size() int64 { return l.size }

// Unseen returns the number of messages in the mailbox that are not marked as seen.
func (s *Server) Unseen(t testing.TB) int {
	t.Helper()
	data, err := s.mailbox.Status("INBOX", &imap.StatusOptions{NumUnseen: true})
	if err != nil {
		t.Fatal(err)
	}
	return int(*data.NumUnseen)
}

// Unmark removes the marks of all messages, as if the program had crashed before it set the marks.
func (s *Server) Unmark(t testing.TB) {
	t.Helper()
	client, err := imapclient.DialInsecure(s.IMAPAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Login(User, Password).Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Select("INBOX", nil).Wait(); err != nil {
		t.Fatal(err)
	}
	all := imap.SeqSet{}
	all.AddRange(1, 0)
	if err := client.Store(all,
		&imap.StoreFlags{Op: imap.StoreFlagsDel, Silent: true, Flags: []imap.Flag{imap.FlagSeen, imap.FlagAnswered}},
		nil).Close(); err != nil {
		t.Fatal(err)
	}
}

// ReplaceMailbox deletes the mailbox and creates an empty mailbox with another UIDVALIDITY.
func (s *Server) ReplaceMailbox(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.mailbox.Delete("INBOX"), s.mailbox.Create("INBOX", nil)); err != nil {
		t.Fatal(err)
	}
}

// A session is a connection to the SMTP server.
type session struct {
	s      *Server
	conn   *smtp.Conn
	user   bool
	now    Message
	fail   Failure
	resets int // resets since the last message
}

func (c *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != User || password != Password {
			return &smtp.SMTPError{
				Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "Authentication failed for " + password,
			}
		}
		c.user = true
		return nil
	}), nil
}

// reply returns a reply with a code. The text of the reply contains the password, so no error may repeat the
// text.
func reply(code int) error {
	return &smtp.SMTPError{
		Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: "server text " + Password,
	}
}

func (c *session) Mail(from string, _ *smtp.MailOptions) error {
	if !c.user {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.fail = Failure{}
	if len(c.s.failures) > 0 {
		c.fail, c.s.failures = c.s.failures[0], c.s.failures[1:]
	}
	if c.fail.Mail != 0 {
		return reply(c.fail.Mail)
	}
	c.now = Message{From: from}
	return nil
}

func (c *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.fail.Rcpt != 0 {
		return reply(c.fail.Rcpt)
	}
	if code := c.s.unknown[to]; code != 0 {
		return reply(code)
	}
	c.now.To = append(c.now.To, to)
	return nil
}

func (c *session) Data(r io.Reader) error {
	var raw bytes.Buffer
	if _, err := io.Copy(&raw, r); err != nil {
		return err
	}
	if c.fail.Slow {
		<-c.s.ended
		return reply(451)
	}
	if c.fail.Data != 0 {
		return reply(c.fail.Data)
	}
	c.now.Raw, c.resets = raw.Bytes(), 0
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.accepted = append(c.s.accepted, c.now)
	close(c.s.changed)
	c.s.changed = make(chan struct{})
	if c.fail.LostReply {
		c.conn.Conn().Close()
	}
	return nil
}

// Reset is called after each message, and when the client requests it.
func (c *session) Reset() {
	if c.resets++; c.fail.LostEnd && c.now.Raw != nil && c.resets > 1 {
		c.conn.Conn().Close()
	}
}

func (c *session) Logout() error { return nil }
