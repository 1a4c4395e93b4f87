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

// A cachingTransport caches the public documents of an issuer. Without it, each forged token that names an
// unknown key would make the server read the keys again.
type cachingTransport struct {
	next http.RoundTripper
	now  func() time.Time

	mu      sync.Mutex
	entries map[string]*cacheEntry // keyed by URL
}

// A cacheEntry is a document that is being fetched or was fetched. Its other fields are set before fetched is
// closed.
type cacheEntry struct {
	fetched     chan struct{}
	body        []byte
	contentType string
	err         error
	until       time.Time // zero until the document is fetched
}

// The times for which a document is cached, and for which a failed fetch is not repeated.
// New keys of an issuer are found after successTTL.
const (
	successTTL = 10 * time.Second
	failureTTL = 2 * time.Second
)

// maxDocument is the maximum size of a document in bytes, far more than keys and metadata
// need.
const maxDocument = 1 << 20

// errFetch is returned if a document of the issuer cannot be fetched.
var errFetch = errors.New("the issuer's document cannot be fetched")

// RoundTrip returns the document of a URL from the cache, or fetches it. It implements
// [http.RoundTripper].
func (t *cachingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	e, err := t.get(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {e.contentType}}, Body: io.NopCloser(bytes.NewReader(e.body)),
		ContentLength: int64(len(e.body)), Request: r,
	}, nil
}

// get returns the cached document of a URL, or fetches it. Concurrent calls share one
// fetch, which continues when the first caller gives up.
func (t *cachingTransport) get(r *http.Request) (*cacheEntry, error) {
	t.mu.Lock()
	e := t.entries[r.URL.String()]
	if e == nil || !e.until.IsZero() && !t.now().Before(e.until) {
		e = &cacheEntry{fetched: make(chan struct{})}
		t.entries[r.URL.String()] = e
		go t.fill(e, r.Clone(context.WithoutCancel(r.Context())))
	}
	t.mu.Unlock()
	select {
	case <-e.fetched:
		return e, e.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// fill fetches a URL and stores the document or the error in e. It ends within
// [issuerTimeout].
func (t *cachingTransport) fill(e *cacheEntry, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), issuerTimeout)
	defer cancel()
	ttl := successTTL
	if e.body, e.contentType, e.err = t.fetch(r.WithContext(ctx)); e.err != nil {
		e.err, ttl = fmt.Errorf("%w: %w", errFetch, e.err), failureTTL
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e.until = t.now().Add(ttl)
	close(e.fetched)
}

func (t *cachingTransport) fetch(r *http.Request) (body []byte, contentType string, err error) {
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s replied %s", r.URL.Redacted(), res.Status)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err == nil && len(body) > maxDocument {
		err = fmt.Errorf("%s replied with more than %d bytes", r.URL.Redacted(), maxDocument)
	}
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("%s replied with something that is not JSON", r.URL.Redacted())
	}
	return body, res.Header.Get("Content-Type"), err
}
