package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// A board is a transport for what an issuer publishes for everybody. Each address is
// read once in a while at most, whoever wants it: a forged token that names an
// unknown key is enough to want the keys again.
type board struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	read map[string]notice
}

// A notice is what was read, and when.
type notice struct {
	body  []byte
	kind  string
	err   error
	until time.Time
}

// The times for which a notice holds. New keys of an issuer are seen after the first
// of them; one that is back after the second.
const (
	goodTime = 10 * time.Second
	badTime  = 2 * time.Second
)

// maxNotice is far more than keys and addresses take.
const maxNotice = 1 << 20

// errNoAnswer says that what an issuer publishes could not be had.
var errNoAnswer = errors.New("no answer from the issuer")

// RoundTrip implements [http.RoundTripper].
func (b *board) RoundTrip(r *http.Request) (*http.Response, error) {
	n := b.get(r)
	if n.err != nil {
		return nil, n.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {n.kind}}, Body: io.NopCloser(bytes.NewReader(n.body)),
		ContentLength: int64(len(n.body)), Request: r,
	}, nil
}

// get reads an address, or remembers it. One reads at a time, and not for itself
// alone: whoever else waits takes what it found, and it goes on when its own caller
// went away.
func (b *board) get(r *http.Request) notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	address := r.URL.String()
	if n, ok := b.read[address]; ok && b.now().Before(n.until) {
		return n
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	var n notice
	lasts := goodTime
	n.body, n.kind, n.err = b.fetch(r.WithContext(ctx))
	if n.err != nil {
		n.err, lasts = fmt.Errorf("%w: %w", errNoAnswer, n.err), badTime
	}
	n.until = b.now().Add(lasts)
	if b.read == nil {
		b.read = map[string]notice{}
	}
	b.read[address] = n
	return n
}

func (b *board) fetch(r *http.Request) (body []byte, kind string, err error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s says %s", r.URL.Redacted(), res.Status)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxNotice+1))
	if err == nil && len(body) > maxNotice {
		err = fmt.Errorf("%s says more than %d bytes", r.URL.Redacted(), maxNotice)
	}
	return body, res.Header.Get("Content-Type"), err
}
