package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/sqlite"
)

// askback doctor compares the clock with the latest time in the database, even if a later record has an
// earlier time (T27).
func TestDoctorComparesTheClockWithAllTimes(t *testing.T) {
	env, database := sandbox(t)
	addAnsweredAsk(t, env, "Which?")
	for _, ahead := range []time.Duration{48 * time.Hour, 0} {
		db, err := sqlite.Open(database, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := engine.New(db, &engine.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		_, err = e.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(),
			askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := runDoctor(t, env, 1); !strings.Contains(got, "FAIL  clock") ||
			!strings.Contains(got, "h59m") && !strings.Contains(got, "48h0m") {
			t.Errorf("after something was stored %v ahead: got\n%s", ahead, got)
		}
	}
}

// A server ends when its database is replaced or deleted, because everything it stores after that would be
// lost.
func TestServerEndsWhenItsDatabaseIsReplaced(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"replaced": func(path string) error { return instance.WriteFile(path, nil) },
		"deleted":  os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			env, database := sandbox(t)
			p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
			p.waitForStderr(t, "msg=serving")
			if err := change(database); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.ended:
			case <-time.After(testTimeout):
				t.Fatalf("it still serves:\n%s", p.err.String())
			}
			if text := p.err.String(); p.result == nil ||
				!strings.Contains(text, "was moved, replaced or deleted while it was open") {
				t.Errorf("got %v and\n%s", p.result, text)
			}
		})
	}
}

// A second server is rejected while the first server runs, even with a hard link to the database or after the
// lock file was deleted (T26).
func TestSecondServerIsRejected(t *testing.T) {
	env, database := sandbox(t)
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	link := filepath.Join(t.TempDir(), "askback.db")
	if err := os.Link(database, link); err != nil {
		t.Fatal(err)
	}
	refused := func(want, path string) {
		t.Helper()
		other := launch(t, env, "serve", "--listen", "127.0.0.1:0", "--db", path)
		select {
		case <-other.ended:
		case <-time.After(testTimeout):
			t.Fatalf("a second server runs:\n%s", other.err.String())
		}
		if text := other.err.String(); other.result == nil || !strings.Contains(text, want) {
			t.Errorf("%s: got %v and\n%s", path, other.result, text)
		}
	}
	refused("has 2 names (hard links)", link)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(database + ".lock"); err != nil {
		t.Fatal(err)
	}
	refused("use it, or stop it first with Ctrl+C in its terminal or kill ", database)
}

// A new server removes the temporary file of a server that was killed while it wrote.
func TestServerRemovesTemporaryFiles(t *testing.T) {
	env, database := sandbox(t)
	left := filepath.Join(filepath.Dir(database), ".askback-1704485796.tmp")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("{\n  \"instance\": \"1\",\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the file of a killed process is still there: %v", err)
	}
}

// The server does not wait for a slow request body unless the request is authenticated, whatever its path and
// secret (T25).
func TestSlowBodyWithoutATokenIsCutOff(t *testing.T) {
	s := newServer(t)
	server, _ := s.place.Last()
	address := strings.TrimPrefix(server.URL, "http://")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	send := func(request, header string) (status chan string) {
		status = make(chan string, 1)
		go func() { status <- slowStatus(ctx, address, request, header) }()
		return status
	}
	authenticated := send("POST /api/v1/asks", "Authorization: Bearer "+s.agent)
	slow := map[string]chan string{}
	for _, header := range []string{"X: y", "Authorization: Bearer askback_wrong", "Cookie: askback=askback_wrong"} {
		for _, request := range []string{
			"POST /api/v1/asks", "PUT /api/v1/people/x", "POST /mcp", "POST /login", "POST /logout", "POST /a/x",
			"POST /", "POST /asks/x", "POST /nothing", "POST /hooks/x", "POST /conversations/x/cancel", "GET /login",
			"GET /healthz", "GET /assets/x",
		} {
			slow[request+" "+header] = send(request, header)
		}
	}
	for request, status := range slow {
		if got := <-status; got == "" || got[0] == '5' {
			t.Errorf("%s: got status %q", request, got)
		}
	}
	select {
	case got := <-authenticated:
		t.Errorf("the body of a request with a token ended as well, with status %q", got)
	default:
	}
}

// slowStatus sends a request whose body grows by a byte every half second. It returns the status of the
// reply, or "" if there is no reply before ctx ends.
func slowStatus(ctx context.Context, address, request, header string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Content-Length: 100000\r\n\r\n", request, address, header)
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ""
	}
	_ = res.Body.Close()
	return fmt.Sprint(res.StatusCode)
}

// A page of the database that cannot be read hides only its own records, and /readyz reports it.
func TestServerWithADamagedPageServesTheRest(t *testing.T) {
	s := newServer(t)
	var ids []string
	for i := range 60 {
		ids = append(ids, s.call(s.agent, "POST", "/asks", fmt.Sprintf(`{"question": "Which one, %d?", "context": %q}`,
			i, strings.Repeat("x", 300)), 201)["id"].(string))
	}
	s.call("", "GET", "//readyz", "", 200)
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.process.ended
	file, err := os.ReadFile(s.place.Database)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := strings.Index(string(file), `"text":"Which one, 30?"`) / page * page
	if at <= 0 {
		t.Fatal("the text of the question is not in the file")
	}
	copy(file[at:], strings.Repeat("\xff", page))
	if err := os.WriteFile(s.place.Database, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	listed := s.call(s.user, "GET", "/asks?status=pending&limit=100", "", 200)["items"].([]any)
	if n := len(listed); n < 50 || n >= len(ids) {
		t.Errorf("got %d of %d asks, want the asks of the other pages", n, len(ids))
	}
	detail, _ := s.call("", "GET", "//readyz", "", 503)["detail"].(string)
	if !strings.Contains(detail, "page of the database file") || !strings.Contains(detail, "ask "+ids[30]) {
		t.Errorf("/readyz says %q, want the page and the ask %s", detail, ids[30])
	}
}
