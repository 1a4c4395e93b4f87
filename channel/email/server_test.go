package email_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
	"github.com/askback/askback/test/kit/freeport"
	"github.com/askback/askback/test/kit/leftout"
	"github.com/askback/askback/test/kit/proctest"
)

// Name and password of the user of the real servers.
const (
	realUser     = "ask"
	realPassword = "secret"
)

// A realServer is Exim and Dovecot. Exim passes all mail to Dovecot, which has one mailbox.
type realServer struct {
	dir   string
	ports map[string]int // ports, keyed by their names in the configurations
	roots *x509.CertPool
}

// startRealServer starts Exim and Dovecot on loopback, or skips the test.
func startRealServer(t *testing.T) *realServer {
	t.Helper()
	for _, program := range []string{"exim4", "dovecot"} {
		if _, err := exec.LookPath(program); err != nil {
			leftout.Skip(t, "mails through Exim and Dovecot (%s is not installed)", program)
		}
	}
	if os.Geteuid() != 0 {
		leftout.Skip(t, "mails through Exim and Dovecot (only root can start them)")
	}
	// The path of a socket must be short. The programs run as users who may not enter the folder for
	// temporary files of make test.
	dir, err := os.MkdirTemp("/tmp", "askback-mail")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &realServer{dir: dir, ports: map[string]int{}, roots: x509.NewCertPool()}
	for _, name := range []string{"PORT_IMAPS", "PORT_SMTPS", "PORT_IMAP", "PORT_LMTP"} {
		s.ports[name] = freeport.Pick(t)
	}
	s.certify(t)
	s.own(t, "mail", "mail")
	s.own(t, "Debian-exim", "spool")
	s.own(t, "Debian-exim", "log")
	for _, f := range []string{"dovecot.conf", "exim.conf"} {
		raw, err := os.ReadFile(filepath.Join("testdata/server", f))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(raw), "DIR", dir)
		for _, name := range []string{"PORT_IMAPS", "PORT_SMTPS", "PORT_IMAP", "PORT_LMTP"} {
			text = strings.ReplaceAll(text, name, strconv.Itoa(s.ports[name]))
		}
		s.write(t, f, text)
	}
	return s
}

// run starts the programs and waits until they accept connections. Their ports must be free.
func (s *realServer) run(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"dovecot", "-F", "-c", s.dir + "/dovecot.conf"}, {"exim4", "-bdf", "-C", s.dir + "/exim.conf"},
	} {
		var out bytes.Buffer
		c := exec.Command(args[0], args[1:]...)
		c.Stdout, c.Stderr = &out, &out
		proctest.Bind(c)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Signal(os.Interrupt)
			ended := time.AfterFunc(30*time.Second, func() { _ = proctest.Kill(c) })
			_ = c.Wait()
			ended.Stop()
			if t.Failed() {
				log, _ := filepath.Glob(s.dir + "/log/*")
				for _, f := range log {
					raw, _ := os.ReadFile(f)
					t.Logf("%s:\n%s", filepath.Base(f), raw)
				}
				t.Logf("%s:\n%s", args[0], out.String())
			}
		})
	}
	for _, port := range s.ports {
		wait(t, "a server accepts connections", func() bool {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	}
}

// wait waits until a condition holds.
func wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited too long: %s", what)
		}
	}
}

func (s *realServer) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// certify writes a certificate for 127.0.0.1 and its key.
func (s *realServer) certify(t *testing.T) {
	t.Helper()
	if err := os.Chmod(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.StartTLS()
	defer web.Close()
	s.roots.AddCert(web.Certificate())
	key, err := x509.MarshalPKCS8PrivateKey(web.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	s.write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}

// own makes a directory that belongs to a user.
func (s *realServer) own(t *testing.T, name, dir string) {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		leftout.Skip(t, "mails through Exim and Dovecot (there is no user %s)", name)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	path := filepath.Join(s.dir, dir)
	if err := errors.Join(os.Mkdir(path, 0o750), os.Chown(path, uid, gid)); err != nil {
		t.Fatal(err)
	}
}

// mails returns the messages of the mailbox whose file names end in a suffix, which contains the flags.
// Messages without flags are in another directory.
func (s *realServer) mails(t *testing.T, dir, suffix string) (all []emailtest.Message) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.dir, "mail", dir, "*"+suffix))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // moved by the server in the meantime
		}
		all = append(all, emailtest.Message{Raw: raw})
	}
	return all
}

// deliver sends a message of ana as her mail program does.
func (s *realServer) deliver(t *testing.T, to, raw string) {
	t.Helper()
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.ports["PORT_SMTPS"]),
		&tls.Config{RootCAs: s.roots, ServerName: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.NewClient(conn, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := errors.Join(c.Auth(smtp.PlainAuth("", realUser, realPassword, "127.0.0.1")), c.Mail(ana),
		c.Rcpt(to)); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte(strings.ReplaceAll(raw, "\n", "\r\n")))
	if err := errors.Join(err, w.Close(), c.Quit()); err != nil {
		t.Fatal(err)
	}
}

// A question and its answer pass through Exim and Dovecot over encrypted connections.
func TestRealMailServerCarriesAnswers(t *testing.T) {
	s := startRealServer(t)
	s.run(t)
	a := question(database)
	o := newOffice(a)
	c := newChannel(t, email.Options{
		SMTP: email.Server{
			Host: "127.0.0.1", Port: s.ports["PORT_SMTPS"], User: realUser, Password: realPassword,
			TLS: email.ImplicitTLS,
		},
		Inbound: email.Server{
			Host: "127.0.0.1", Port: s.ports["PORT_IMAP"], User: realUser, Password: realPassword, TLS: email.StartTLS,
		},
		From: "ask@example.com", Reply: "ask+{token}@example.com",
		People: func() map[string]string { return map[string]string{"ana": ana, "ben": "unknown@example.com"} },
		Roots:  s.roots, Key: func() ([]byte, error) { return bytes.Repeat([]byte("k"), 32), nil },
		Poll: 20 * time.Second,
	})
	if _, err := c.Send(t.Context(), about(a, "ana")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Send(t.Context(), about(a, "ben"))
	var sending *askback.SendError
	if !errors.As(err, &sending) || !sending.Final {
		t.Errorf("an unknown address: %v", err)
	}
	wait(t, "the question arrives", func() bool { return len(s.mails(t, "new", "")) == 1 })
	asked := s.mails(t, "new", "")[0].Decode(t)
	run(t, c, o)
	s.deliver(t, asked.ReplyTo(), reply(asked, quotingStyle, "perhaps"))
	wait(t, "the person is asked again", func() bool { return len(s.mails(t, "cur", ":2,RS")) == 1 })
	s.deliver(t, asked.ReplyTo(), strings.Replace(reply(asked, quotingStyle, "2"), "<reply-", "<second-", 1))
	wait(t, "the answer is marked", func() bool { return len(s.mails(t, "cur", ":2,S")) == 1 })
	if got := o.ask(a.ID); !slices.Equal(labels(got), []string{"SQLite"}) {
		t.Errorf("the answer is %q", labels(got))
	}
	back := 0
	for _, m := range slices.Concat(s.mails(t, "new", ""), s.mails(t, "cur", ":2,")) {
		if l := m.Decode(t); l.Header.Get("Auto-Submitted") == "auto-replied" &&
			strings.Contains(l.Text, "not exactly one") {
			back++
		}
	}
	if back != 1 {
		t.Errorf("%d letters came back, want 1", back)
	}
}
