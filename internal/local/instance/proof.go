package instance

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

// ErrNotProved is returned if the program at the address of a server does not prove that it is the server.
var ErrNotProved = errors.New("the program at this address is not the server of this database")

// Proof returns the proof that a server knows secret: the HMAC-SHA256 of nonce with secret
// as its key, in hexadecimal.
func Proof(secret, nonce string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

// proofTime is how long a server may take to prove itself.
const proofTime = 2 * time.Second

// Proves returns an error unless the server can be reached and proves its identity.
func (s Server) Proves(ctx context.Context) error {
	conn, err := s.Dial(ctx, "tcp", "")
	if err != nil {
		return err
	}
	return conn.Close()
}

// Dial connects to the server and ignores the given address. It returns a connection on which the server
// proved its identity. Another program can take over a port, but not an open connection. So a token that is
// sent on this connection reaches only the server.
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
		err = errors.Join(context.Cause(ctx), err) // the connection is closed or past its deadline
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// maxReply is the maximum number of bytes of a reply that are read before the server is
// verified.
const maxReply = 8 << 10

// challenge sends a nonce and checks the proof in the reply. It returns [ErrNotProved] also
// if more bytes follow the reply, or if the server is about to close the connection.
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
	if res.StatusCode != http.StatusOK || !hmac.Equal([]byte(reply.Proof), []byte(Proof(s.Secret, nonce))) ||
		in.Buffered() > 0 || res.Close {
		return ErrNotProved
	}
	return nil
}

// Client returns an HTTP client that connects only to this server, regardless of the URL. The client verifies
// the server on each connection.
func (s Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: s.Dial, Proxy: nil, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}}
}
