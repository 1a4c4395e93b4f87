package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/askback/askback/internal/server/telemetry"
)

// sendSpan sends the span of a request to the collector that env describes.
func sendSpan(t *testing.T, env map[string]string) {
	t.Helper()
	var log strings.Builder
	traces, err := telemetry.NewTraces(t.Context(), "1.2.3", slog.New(slog.NewTextHandler(&log, nil)),
		func(key string) string { return env[key] })
	if err != nil {
		t.Fatal(err)
	}
	traces.Served(httptest.NewRequest("GET", "/", nil), http.StatusOK, time.Second)
	if err := traces.Close(t.Context()); err != nil || log.Len() > 0 {
		t.Errorf("got %v, log:\n%s", err, log.String())
	}
}

// recordRequest returns a collector that records its last request in r, and what the official types
// decode of it in spans.
func recordRequest(t *testing.T, r *http.Request, spans *int) http.HandlerFunc {
	return func(_ http.ResponseWriter, got *http.Request) {
		*r = *got
		body := io.Reader(got.Body)
		if got.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Error(err)
				return
			}
		}
		text, err := io.ReadAll(body)
		var in collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(text, &in) != nil || len(in.ResourceSpans) != 1 {
			t.Errorf("got %v, %v", &in, err)
			return
		}
		*spans = len(in.ResourceSpans[0].ScopeSpans[0].Spans)
	}
}

// The variables of OTLP exporters decide where spans are sent, and how.
func TestEnvironmentDescribesTheCollector(t *testing.T) {
	var got http.Request
	var spans int
	server := httptest.NewServer(recordRequest(t, &got, &spans))
	t.Cleanup(server.Close)
	const general, traces = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"
	for name, c := range map[string]struct {
		env    map[string]string
		path   string
		header http.Header
	}{
		"general address": {
			map[string]string{general + "ENDPOINT": server.URL},
			"/v1/traces",
			http.Header{
				"Content-Type": {"application/x-protobuf"}, "User-Agent": {"askback/1.2.3"}, "Content-Encoding": nil,
			},
		},
		"general address with a path": {
			map[string]string{general + "ENDPOINT": server.URL + "/otlp/"}, "/otlp/v1/traces", nil,
		},
		"address of traces": {
			map[string]string{general + "ENDPOINT": "http://127.0.0.1:1", traces + "ENDPOINT": server.URL + "/mine"},
			"/mine", nil,
		},
		"address of traces without a path": {map[string]string{traces + "ENDPOINT": server.URL}, "/", nil},
		"insecure is for gRPC": {
			map[string]string{general + "ENDPOINT": server.URL, general + "INSECURE": "false"}, "/v1/traces", nil,
		},
		"headers": {
			map[string]string{
				general + "ENDPOINT": server.URL, general + "HEADERS": "api-key=a%2Cb%20c, x-scope = team ",
			},
			"/v1/traces",
			http.Header{"Api-Key": {"a,b c"}, "X-Scope": {"team"}},
		},
		"headers of traces": {
			map[string]string{
				general + "ENDPOINT": server.URL, general + "HEADERS": "api-key=general",
				traces + "HEADERS": "x-scope=team",
			},
			"/v1/traces",
			http.Header{"Api-Key": nil, "X-Scope": {"team"}},
		},
		"compression": {
			map[string]string{general + "ENDPOINT": server.URL, general + "COMPRESSION": "gzip"},
			"/v1/traces",
			http.Header{"Content-Encoding": {"gzip"}},
		},
		"compression of traces": {
			map[string]string{
				general + "ENDPOINT": server.URL, general + "COMPRESSION": "gzip", traces + "COMPRESSION": "none",
			},
			"/v1/traces",
			http.Header{"Content-Encoding": nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, spans = http.Request{}, 0
			sendSpan(t, c.env)
			if got.Method != http.MethodPost || got.URL.Path != c.path || spans != 1 {
				t.Errorf("got %s %v with %d spans, want POST %s with 1", got.Method, got.URL, spans, c.path)
			}
			for key, want := range c.header {
				if v := got.Header.Values(key); strings.Join(v, "|") != strings.Join(want, "|") {
					t.Errorf("header %s: got %q, want %q", key, v, want)
				}
			}
		})
	}
}

// An attempt ends after OTEL_EXPORTER_OTLP_TIMEOUT.
func TestTimeoutEndsAnAttempt(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_TIMEOUT": "20"}
	var log strings.Builder
	traces, err := telemetry.NewTraces(t.Context(), "", slog.New(slog.NewTextHandler(&log, nil)),
		func(key string) string { return env[key] })
	if err != nil {
		t.Fatal(err)
	}
	traces.Served(httptest.NewRequest("GET", "/", nil), http.StatusOK, time.Second)
	if err := traces.Close(t.Context()); err != nil || !strings.Contains(log.String(), "deadline exceeded") {
		t.Errorf("got %v, log %q, want a deadline in the log", err, log.String())
	}
}

// A collector with a certificate of its own is trusted by its certificate, and gets the certificate of the
// server.
func TestCertificatesOfACollector(t *testing.T) {
	var got http.Request
	var spans int
	server := httptest.NewUnstartedServer(recordRequest(t, &got, &spans))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := write("certificate.pem", "CERTIFICATE", server.Certificate().Raw)
	sendSpan(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":                  server.URL,
		"OTEL_EXPORTER_OTLP_CERTIFICATE":               certificate,
		"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": certificate,
		"OTEL_EXPORTER_OTLP_CLIENT_KEY":                write("key.pem", "PRIVATE KEY", key),
	})
	if spans != 1 || !bytes.Equal(got.TLS.PeerCertificates[0].Raw, server.Certificate().Raw) {
		t.Errorf("got %d spans, want 1 with the certificate of the client", spans)
	}
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_CERTIFICATE": certificate,
	}
	_, err = telemetry.NewTraces(t.Context(), "", slog.New(slog.DiscardHandler),
		func(key string) string { return env[key] })
	if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT begins with http, not https") {
		t.Errorf("certificates without https: got %v", err)
	}
}

// An invalid variable is an error that names it. Headers may be secret, so their error has no value.
func TestInvalidVariablesOfTracesAreNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const address = "http://127.0.0.1:1"
	for _, c := range []struct {
		variable, value string
		address         string
		want            string
	}{
		{"ENDPOINT", "", "127.0.0.1:4318", "OTEL_EXPORTER_OTLP_ENDPOINT is not the address"},
		{"ENDPOINT", "", "localhost:4318", "OTEL_EXPORTER_OTLP_ENDPOINT is not the address"},
		{"TRACES_ENDPOINT", "unix:///run/collector", address, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not the address"},
		{"COMPRESSION", "zstd", address, `OTEL_EXPORTER_OTLP_COMPRESSION is "zstd"`},
		{"TRACES_TIMEOUT", "10s", address, `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT is "10s"`},
		{"HEADERS", "a=1,secret", address, "OTEL_EXPORTER_OTLP_HEADERS: its part 2"},
		{"HEADERS", "a=%zzsecret", address, "OTEL_EXPORTER_OTLP_HEADERS: its part 1"},
		{"TRACES_HEADERS", "a=secret%0a", address, "OTEL_EXPORTER_OTLP_TRACES_HEADERS: its part 1"},
		{"CERTIFICATE", empty + ".missing", address, "OTEL_EXPORTER_OTLP_CERTIFICATE: open "},
		{"CERTIFICATE", empty, address, "has no certificate in the format PEM"},
		{"CLIENT_KEY", empty, address, "_CLIENT_KEY is set: set OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE too"},
		{"TRACES_CLIENT_CERTIFICATE", empty, address, "set OTEL_EXPORTER_OTLP_CLIENT_KEY too"},
	} {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.address}
		if c.value != "" {
			env["OTEL_EXPORTER_OTLP_"+c.variable] = c.value
		}
		_, err := telemetry.NewTraces(t.Context(), "", slog.New(slog.DiscardHandler),
			func(key string) string { return env[key] })
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%q: got %v, want %q", c.variable, c.value, err, c.want)
		}
	}
}
