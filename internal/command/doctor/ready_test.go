package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
)

// askback doctor --ready is the health check of a container: it fails if the server cannot work.
func TestReadyReportsWhatTheServerReports(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"status":"ready"}`, "ok|server|the server at URL is ready|"},
		{
			507, `{"title":"Insufficient Storage","detail":"the disk is full"}`,
			"FAIL|server|the server at URL is not ready (507): the disk is full|its log has more",
		},
		{
			503, `{"title":"Service Unavailable"}`,
			"FAIL|server|the server at URL is not ready (503): Service Unavailable|its log has more",
		},
		{502, `<html>`, "FAIL|server|the server at URL is not ready (502): Bad Gateway|its log has more"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/healthz" {
				fmt.Fprintf(w, `{"proof":%q}`, instance.Proof("secret", r.URL.Query().Get("nonce")))
				return
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		got := checkReadyOf(t, instance.Server{URL: server.URL, Secret: "secret"})
		server.Close()
		if got = strings.ReplaceAll(got, server.URL, "URL"); got != c.want {
			t.Errorf("%d %s:\ngot  %s\nwant %s", c.status, c.body, got, c.want)
		}
	}
}

// A program that has taken over the port of a killed server is not the server.
func TestReadyRequiresTheProofOfTheServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"ready"}`)
	}))
	defer server.Close()
	got := checkReadyOf(t, instance.Server{URL: server.URL, Secret: "secret"})
	if !strings.HasPrefix(got, "FAIL|server|no server replies at "+server.URL) {
		t.Errorf("got %s", got)
	}
}

// checkReadyOf returns the finding for a database whose server.json names server. The settings file has errors.
func checkReadyOf(t *testing.T, server instance.Server) string {
	t.Helper()
	dir := t.TempDir()
	database, file := filepath.Join(dir, "a.db"), filepath.Join(dir, "askback.yaml")
	if err := os.WriteFile(file, []byte("database: "+database+"\nlissten: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (instance.Place{Database: database}).Announce(server); err != nil {
		t.Fatal(err)
	}
	d := &doctor{program: Program{
		Config:   file,
		Settings: func() (config.Config, error) { return config.Config{}, fmt.Errorf("unknown setting") },
		Database: func(c config.Config) (string, error) { return c.Database, nil },
	}}
	d.checkReady(t.Context())
	return d.lastFinding()
}
