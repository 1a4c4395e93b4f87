package fakes_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/test/kit/fakes"
)

// TestMain runs the fakes if the test binary is started as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-bound" {
		if err := fakes.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func startProgram(t *testing.T, args ...string) *fakes.Program {
	t.Helper()
	p, err := fakes.StartProgram(exec.CommandContext(t.Context(), os.Args[0], append([]string{"-bound"}, args...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.End(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return p
}

func send(t *testing.T, method, address, contentType, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

const form = "application/x-www-form-urlencoded"

// A person at a fake in another process reads a message and presses its button. Requests to the fake fail as
// configured.
func TestProgramIsControlledOverHTTP(t *testing.T) {
	p := startProgram(t, "-open", "ntfy")
	phone := p.Service("ntfy")
	address := phone.Describe().Addresses["ana"]
	publish := func() int {
		status, _ := send(t, http.MethodPost,
			address, "application/json", `{"topic": "questions", "title": "T", "message": "Step 7?", "actions": [
			{"action": "http", "label": "Yes", "url": "`+address+`/replies", "method": "POST", "body": "token-of-yes"},
			{"action": "view", "label": "Open", "url": "https://ask.example.com/a/1"}]}`)
		return status
	}
	if err := phone.Fail(channeltest.Broken, 1, 1); err != nil {
		t.Fatal(err)
	}
	if first, second := publish(), publish(); first != http.StatusOK || second != http.StatusServiceUnavailable {
		t.Errorf("got %d, %d, want the second request to fail", first, second)
	}
	if s, err := phone.State(); err != nil || s.Failed != 1 {
		t.Errorf("got %+v, %v, want one failed request", s, err)
	}
	if none, err := phone.Messages("ana", "Step 8"); err != nil || len(none) != 0 {
		t.Errorf("with another text: got %+v, %v", none, err)
	}
	all, err := phone.Messages("ana", "Step 7")
	if err != nil || len(all) != 1 || !all[0].Live ||
		!slices.Equal(all[0].Links, []string{"https://ask.example.com/a/1"}) || len(all[0].Buttons) != 1 {
		t.Fatalf("got %+v, %v, want the message with one button that answers and a link", all, err)
	}
	if _, err := all[0].Button("No"); err == nil {
		t.Error("there is a button that the message does not have")
	}
	yes, err := all[0].Button("Yes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := phone.Press(t.Context(), "ana", all[0].ID, yes); err != nil {
		t.Fatal(err)
	}
	if _, got := send(t, http.MethodGet, address+"/replies/json?poll=1&since=all", "",
		""); strings.Count(got, "token-of-yes") != 1 {
		t.Errorf("the reply topic has %q, want what the button sends", got)
	}
	if _, err := phone.Write(t.Context(), "ana", "", "text"); err == nil {
		t.Error("a person wrote to ntfy, which has no replies")
	}
	if _, err := phone.Messages("eve"); err == nil {
		t.Error("a stranger has messages")
	}
}

// A person can press a button by its label alone. Pages in a browser cannot control the fakes.
func TestControlRejectsPagesInABrowser(t *testing.T) {
	all, err := fakes.Start(t, fakes.Options{}, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fakes.Control(all))
	defer server.Close()
	client := server.URL
	if status, got := send(t, http.MethodPost, client+"/telegram/ana/press", form,
		"message=1&button=Yes"); status != http.StatusBadRequest || !strings.Contains(got, "no message") {
		t.Errorf("got %d %q, want an error for a message that is not there", status, got)
	}
	if status, got := send(t, http.MethodPost, client+"/telegram/ana/write", form,
		url.Values{"text": {"hello"}}.Encode()); status != http.StatusOK {
		t.Errorf("got %d %q", status, got)
	}
	if _, got := send(t, http.MethodGet, client+"/telegram/ana", "", ""); !strings.Contains(got, `"hello"`) {
		t.Errorf("got %s, want what the person wrote", got)
	}
	for _, bad := range []string{"how=unknown", "how=slow&count=-1"} {
		if status, got := send(t, http.MethodPost, client+"/telegram/fail", form,
			bad); status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s", bad, status, got)
		}
	}
	if status, _ := send(t, http.MethodGet, client+"/slack/ana", "", ""); status != http.StatusNotFound {
		t.Errorf("a service that does not run: got %d", status)
	}
	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if status, _ := send(t, http.MethodGet, client+"/", "", "", header...); status != http.StatusForbidden {
			t.Errorf("%q: got %d, want 403", header, status)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, client+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = reply.Body.Close(); reply.StatusCode != http.StatusForbidden {
		t.Error("a name that was rebound to loopback may control the fakes")
	}
}

// The settings that the program writes are valid, for all services together.
func TestSettingsAreValid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.yaml")
	p := startProgram(t, "-settings", path, "all")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(path, bytes.NewReader(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds.All {
		if got.Channels[k.Name] == nil {
			t.Errorf("the settings have no channel %s", k.Name)
		}
	}
	if len(got.People) != 2 {
		t.Errorf("got %+v", got.People)
	}
	var names []string
	for _, s := range p.Services {
		names = append(names, s.Describe().Name)
	}
	if !reflect.DeepEqual(names, fakes.Names()) {
		t.Errorf("got %q, want %q", names, fakes.Names())
	}
}

// The error for an unknown service lists all services.
func TestUnknownServiceIsAnError(t *testing.T) {
	err := fakes.Run(t.Context(), []string{"pigeon"}, strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "telegram") {
		t.Errorf("got %v, want the names of the services", err)
	}
}
