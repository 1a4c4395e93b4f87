package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/askback/askback"
)

// sendTimeout is the maximum time for sending a message.
const sendTimeout = time.Minute

// transmit sends a message. If the error is nil, the server has accepted the message.
func (c *Channel) transmit(ctx context.Context, m *mail.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	client, err := c.client(ctx)
	if err != nil {
		return &askback.SendError{
			Err: errors.New("the settings of the mail server are not valid"), Cause: c.withoutPassword(err),
		}
	}
	err = client.DialAndSendWithContext(ctx, m)
	if err == nil || m.IsDelivered() {
		return nil // a later failure cannot undo the delivery
	}
	return c.sendError(err)
}

// client returns an SMTP client. Its connection ends when ctx ends.
func (c *Channel) client(ctx context.Context) (*mail.Client, error) {
	s := c.options.SMTP
	dialer := &net.Dialer{Timeout: sendTimeout / 2}
	options := []mail.Option{
		mail.WithPort(s.Port), mail.WithTimeout(sendTimeout / 2), mail.WithTLSConfig(c.tlsConfig(s.Host)),
		mail.WithHELO(c.domain), mail.WithoutNoop(),
		mail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(dialing, network, address)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { conn.Close() })
			if s.TLS == ImplicitTLS {
				return tls.Client(conn, c.tlsConfig(s.Host)), nil
			}
			return conn, nil
		}),
	}
	switch s.TLS {
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	default: // the connection of ImplicitTLS is encrypted already
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if s.User != "" {
		auth := mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin)
		if s.TLS == PlainText {
			auth = mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlainNoEnc,
				mail.SMTPAuthLoginNoEnc)
		}
		options = append(options, auth, mail.WithUsername(s.User), mail.WithPassword(s.Password))
	}
	return mail.NewClient(s.Host, options...)
}

// sendError returns the error for a message that was not accepted, without text of the server. A permanent
// rejection of the recipient or the message is final, because the server would repeat it. A rejection of the
// sender or the password is not final, because the operator may correct the settings.
func (c *Channel) sendError(err error) error {
	var sending *mail.SendError
	if !errors.As(err, &sending) {
		return &askback.SendError{Err: c.connectionProblem(err), Cause: c.withoutPassword(err)}
	}
	code := sending.ErrorCode()
	out := &askback.SendError{Cause: c.withoutPassword(err)}
	what := "the message"
	switch sending.Reason {
	case mail.ErrSMTPMailFrom:
		what = "the sender; check channels.email.from"
	case mail.ErrSMTPRcptTo:
		what = "the address of the person"
	}
	switch {
	case code >= 500 && code < 600:
		out.Err = fmt.Errorf("the mail server rejects %s (%s)", what, status(sending, code))
		out.Final = sending.Reason != mail.ErrSMTPMailFrom && !notAuthorized(code)
	case code >= 400 && code < 500:
		out.Err = fmt.Errorf("the mail server does not accept %s now (%s)", what, status(sending, code))
	default:
		out.Err = errors.New("the connection to the mail server broke")
	}
	return out
}

// withoutPassword returns err for the log of operators. It keeps the text of the server, but replaces the
// password, which the server could repeat.
func (c *Channel) withoutPassword(err error) error {
	s := c.options.SMTP
	text := err.Error()
	for _, secret := range []string{
		s.Password, base64.StdEncoding.EncodeToString([]byte(s.Password)),
		base64.StdEncoding.EncodeToString([]byte("\x00" + s.User + "\x00" + s.Password)),
	} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[password]")
		}
	}
	return errors.New(text)
}

// notAuthorized reports whether a reply code is about the login and not about the message.
func notAuthorized(code int) bool { return code == 530 || code == 534 || code == 535 || code == 538 }

func status(e *mail.SendError, code int) string {
	if extended := e.EnhancedStatusCode(); extended != "" {
		return fmt.Sprintf("%d %s", code, extended)
	}
	return fmt.Sprint(code)
}

// connectionProblem returns the reason why there is no connection to the server, without text of the server.
func (c *Channel) connectionProblem(err error) error {
	where := c.options.SMTP.Address()
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("the mail server %s is not found", where)
	case isCertificate(err):
		return fmt.Errorf("the certificate of the mail server %s is not valid", where)
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &op) && op.Timeout():
		return fmt.Errorf("the mail server %s does not reply", where)
	case errors.As(err, &op):
		return fmt.Errorf("the mail server %s cannot be reached", where)
	}
	return fmt.Errorf(
		"the mail server %s refuses to send: check its address, its encryption, the user and the password", where,
	)
}

// isCertificate reports whether an error is about the certificate of a server.
func isCertificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &host)
}

// tlsConfig returns the TLS configuration for connections to host.
func (c *Channel) tlsConfig(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12}
}
