package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/askback/askback/internal/pause"
)

const (
	// maxRetry limits the attempts to send one batch of spans. OTEL_BSP_EXPORT_TIMEOUT, by default 30 s, is an
	// earlier limit.
	maxRetry = time.Minute
	// maxReply is the number of bytes that are read of a reply.
	maxReply = 64 << 10
	// maxReason is the number of bytes of a reply that an error has.
	maxReason = 500
)

// A sender sends spans to a collector by OTLP over HTTP, in protobuf. It implements [otlptrace.Client]. The
// client of OpenTelemetry, otlptracehttp, imports 66 packages of gRPC, 2 MB of the program.
type sender struct {
	collector
	client  *http.Client
	log     *slog.Logger
	closing chan struct{} // closed when failed attempts are not repeated any more
	close   func()        // closes closing
}

func newSender(c collector, version string, log *slog.Logger) *sender {
	c.header.Set("Content-Type", "application/x-protobuf")
	c.header.Set("User-Agent", "askback/"+version)
	if c.gzip {
		c.header.Set("Content-Encoding", "gzip")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: c.tls, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConns: 2,
	}
	// A redirect would send the headers, which may be secret, to another address.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &sender{collector: c, client: &http.Client{Transport: transport, CheckRedirect: stay}, log: log}
	s.closing = make(chan struct{})
	s.close = sync.OnceFunc(func() { close(s.closing) })
	return s
}

// Start implements [otlptrace.Client].
func (*sender) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (s *sender) Stop(context.Context) error {
	s.close()
	s.client.CloseIdleConnections()
	return nil
}

// A retryableError is the error of an attempt that can be repeated.
type retryableError struct {
	error
	after time.Duration // that the collector wants to pass before
}

// UploadTraces implements [otlptrace.Client]. It repeats attempts that fail for a reason that may pass, until
// maxRetry, the end of ctx, or Close of the traces.
func (s *sender) UploadTraces(ctx context.Context, list []*spans.ResourceSpans) error {
	// The bytes of TracesData are the bytes of ExportTraceServiceRequest, whose package imports gRPC.
	body, err := proto.Marshal(&spans.TracesData{ResourceSpans: list})
	if err == nil && s.gzip {
		body, err = compressed(body)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxRetry)
	defer cancel()
	end, _ := ctx.Deadline()
	backoff := pause.Backoff{First: time.Second, Max: 16 * time.Second}
	for {
		var again *retryableError
		if err := s.post(ctx, body); !errors.As(err, &again) {
			return err
		}
		wait := backoff.Next()
		wait = max(again.after, wait/2+rand.N(wait/2))
		if time.Now().Add(wait).After(end) {
			return fmt.Errorf("no more attempts: %w", again.error)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
		case <-s.closing:
		}
		timer.Stop()
		return again.error
	}
}

// post sends a request to the collector.
func (s *sender) post(ctx context.Context, body []byte) error {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return unwrapURL(err)
	}
	// The user and the query of the address may be secret.
	address := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path}
	r.Header = s.header.Clone()
	reply, err := s.client.Do(r)
	if err != nil {
		return &retryableError{error: fmt.Errorf("%s: %w", address.String(), unwrapURL(err))}
	}
	defer reply.Body.Close()
	// If reading fails, the status is still valid. The reply only explains it.
	text, _ := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if reply.StatusCode/100 == 2 {
		s.logPartialSuccess(text)
		return nil
	}
	if reply.Header.Get("Content-Type") == "application/x-protobuf" {
		text, _ = field(text, 2) // the message of google.rpc.Status
	}
	err = fmt.Errorf("%s replied %s %q", address.String(), reply.Status, text[:min(len(text), maxReason)])
	switch reply.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &retryableError{err, retryAfter(reply.Header.Get("Retry-After"))}
	}
	return err
}

// unwrapURL returns an error of an HTTP client without the address that it has.
func unwrapURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// logPartialSuccess logs what the collector did not store of a request that it accepted. The reply is an
// ExportTraceServiceResponse.
func (s *sender) logPartialSuccess(reply []byte) {
	partial, _ := field(reply, 1)
	_, rejected := field(partial, 1)
	message, _ := field(partial, 2)
	if rejected > 0 || len(message) > 0 {
		s.log.Warn("the collector did not store all spans", "rejected", rejected,
			"reason", string(message[:min(len(message), maxReason)]))
	}
}

// field returns the value of a field of a message of protobuf: the bytes, or the number. A field that is
// missing is empty.
func field(message []byte, number protowire.Number) (value []byte, n uint64) {
	for len(message) > 0 {
		got, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return value, n
		}
		message = message[size:]
		switch {
		case got == number && kind == protowire.BytesType:
			value, _ = protowire.ConsumeBytes(message)
		case got == number && kind == protowire.VarintType:
			n, _ = protowire.ConsumeVarint(message)
		}
		if size = protowire.ConsumeFieldValue(got, kind, message); size < 0 {
			return value, n
		}
		message = message[size:]
	}
	return value, n
}

// retryAfter returns the pause that the header Retry-After requests, in seconds or until a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, time.Until(at))
}

func compressed(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
