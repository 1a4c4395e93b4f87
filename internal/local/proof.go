package local

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// ErrStranger says that something listens where the server should, and is not it.
var ErrStranger = errors.New("what listens there is not the server of this database")

// Proof is what the server with this secret answers to a nonce.
func Proof(secret, nonce string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

// proofTime is how long a server may take to prove itself.
const proofTime = 2 * time.Second

// Proves says whether the server is there and is who server.json says.
func (s Server) Proves(ctx context.Context) error {
	conn, err := s.Dial(ctx, "tcp", "")
	if err != nil {
		return err
	}
	return conn.Close()
}

// Dial connects to the server, whatever the address asked for, and returns a
// connection on which the server has proved itself. A port can change hands at
// any time, a connection cannot: so a token that is sent on one of these is sent
// to the server and nobody else.
func (s Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = s.challenge(conn, u.Host)
	if !stop() {
		err = errors.Join(context.Cause(ctx), err) // the connection is of no use any more
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// maxReply is how much of a stranger's talk is read.
const maxReply = 8 << 10

// challenge sends a nonce and checks what comes back. It leaves nothing of the
// reply unread and reads nothing beyond it.
func (s Server) challenge(conn net.Conn, host string) error {
	nonce := rand.Text()
	_, err := fmt.Fprintf(conn, "GET /healthz?nonce=%s HTTP/1.1\r\nHost: %s\r\n\r\n", nonce, host)
	if err != nil {
		return err
	}
	in := bufio.NewReader(io.LimitReader(conn, maxReply))
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var reply struct {
		Proof string `json:"proof"`
	}
	_ = json.Unmarshal(raw, &reply)
	if res.StatusCode != http.StatusOK || !hmac.Equal([]byte(reply.Proof), []byte(Proof(s.Secret, nonce))) || in.Buffered() > 0 || res.Close {
		return ErrStranger
	}
	return nil
}

// Client returns an HTTP client that talks to this server and to nobody else.
func (s Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: s.Dial, Proxy: nil, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}}
}
