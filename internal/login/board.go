package login

import (
	"bytes"
	"context"
	"encoding/json"
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

	mu    sync.Mutex
	read  map[string]notice
	looks map[string]chan struct{} // closed when somebody who looks there is back
}

// A notice is what was read, and how long it holds.
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
var errNoAnswer = errors.New("no good answer")

// RoundTrip implements [http.RoundTripper].
func (b *board) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := b.get(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {n.kind}}, Body: io.NopCloser(bytes.NewReader(n.body)),
		ContentLength: int64(len(n.body)), Request: r,
	}, nil
}

// get returns what stands at an address. One looks at a time, and not for itself
// alone: it goes on when its own caller went away, and whoever waits takes what it
// found.
func (b *board) get(r *http.Request) (notice, error) {
	address := r.URL.String()
	for {
		b.mu.Lock()
		n, ok := b.read[address]
		if ok && b.now().Before(n.until) {
			b.mu.Unlock()
			return n, n.err
		}
		back, away := b.looks[address]
		if !away {
			back = make(chan struct{})
			if b.looks == nil {
				b.looks, b.read = map[string]chan struct{}{}, map[string]notice{}
			}
			b.looks[address] = back
			go b.look(r.Clone(context.WithoutCancel(r.Context())), address, back)
		}
		b.mu.Unlock()
		select {
		case <-back:
		case <-r.Context().Done():
			return notice{}, r.Context().Err()
		}
	}
}

// look reads an address for everybody.
func (b *board) look(r *http.Request, address string, back chan struct{}) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var n notice
	lasts := goodTime
	if n.body, n.kind, n.err = b.fetch(r.WithContext(ctx)); n.err != nil {
		n.err, lasts = fmt.Errorf("%w: %w", errNoAnswer, n.err), badTime
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n.until = b.now().Add(lasts)
	b.read[address] = n
	delete(b.looks, address)
	close(back)
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
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("what %s says is no JSON", r.URL.Redacted())
	}
	return body, res.Header.Get("Content-Type"), err
}
