package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// A collector is the address of a collector of traces, and how traces are sent to it. The environment
// variables of OTLP exporters describe it (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
type collector struct {
	url     string
	header  http.Header
	gzip    bool
	timeout time.Duration // of an attempt; 0 is no limit
	tls     *tls.Config   // nil is the default
}

// An environment returns the values of environment variables. An empty value is a variable that is not set.
type environment func(variable string) string

// option returns the value of an option of OTLP exporters and the variable that has it. The variable of
// traces, such as OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, replaces the general one, OTEL_EXPORTER_OTLP_TIMEOUT.
func (env environment) option(name string) (value, variable string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		if value := strings.TrimSpace(env(prefix + name)); value != "" {
			return value, prefix + name
		}
	}
	return "", "OTEL_EXPORTER_OTLP_" + name
}

// collector returns the collector that the environment describes. Its errors name the variable, and have no
// value that may be a secret.
func (env environment) collector() (collector, error) {
	address, err := env.address()
	if err != nil {
		return collector{}, err
	}
	c := collector{url: address.String(), timeout: 10 * time.Second}
	if c.header, err = env.header(); err != nil {
		return collector{}, err
	}
	switch value, variable := env.option("COMPRESSION"); value {
	case "gzip":
		c.gzip = true
	case "", "none":
	default:
		return collector{}, fmt.Errorf("%s is %q: write gzip or none", variable, value)
	}
	if value, variable := env.option("TIMEOUT"); value != "" {
		ms, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return collector{}, fmt.Errorf("%s is %q: write a number of milliseconds", variable, value)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	if c.tls, err = env.tls(); err != nil {
		return collector{}, err
	}
	if c.tls != nil && address.Scheme == "http" {
		_, variable := env.option("ENDPOINT")
		return collector{}, fmt.Errorf("certificates are set, but %s begins with http, not https", variable)
	}
	return c, nil
}

// address returns the address of traces. The path /v1/traces is appended to the general address only. The
// scheme decides about TLS: the variable OTEL_EXPORTER_OTLP_INSECURE is for gRPC.
func (env environment) address() (*url.URL, error) {
	value, variable := env.option("ENDPOINT")
	u, err := url.Parse(cmp.Or(value, "http://localhost:4318"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not the address of a collector: write it as http://127.0.0.1:4318", variable)
	}
	if variable == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		return u.JoinPath("v1/traces"), nil
	}
	u.Path = cmp.Or(u.Path, "/")
	return u, nil
}

// header returns the header of each request: name=value, separated by commas, with percent-encoded values.
func (env environment) header() (http.Header, error) {
	header := http.Header{}
	value, variable := env.option("HEADERS")
	if value == "" {
		return header, nil
	}
	for i, pair := range strings.Split(value, ",") {
		name, encoded, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if err != nil || !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("%s: its part %d is not name=value with a percent-encoded value", variable, i+1)
		}
		header.Set(name, value)
	}
	return header, nil
}

// tls returns the certificates for a collector, or nil if the environment names none.
func (env environment) tls() (*tls.Config, error) {
	var c tls.Config
	roots, variable := env.option("CERTIFICATE")
	if roots != "" {
		text, err := os.ReadFile(roots)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate in the format PEM", variable, roots)
		}
	}
	certificate, variable := env.option("CLIENT_CERTIFICATE")
	key, keyVariable := env.option("CLIENT_KEY")
	switch {
	case certificate != "" && key != "":
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", variable, keyVariable, err)
		}
		c.Certificates = []tls.Certificate{pair}
	case certificate != "":
		return nil, errors.New(variable + " is set: set " + keyVariable + " too")
	case key != "":
		return nil, errors.New(keyVariable + " is set: set " + variable + " too")
	case roots == "":
		return nil, nil
	}
	return &c, nil
}
