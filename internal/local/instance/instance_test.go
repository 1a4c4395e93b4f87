package instance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func place(t *testing.T) instance.Place {
	t.Helper()
	p, err := instance.At(filepath.Join(t.TempDir(), "state", "askback.db"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hold(t *testing.T, p instance.Place) *instance.Lock {
	t.Helper()
	lock, err := instance.Hold(p.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	return lock
}

// server returns a server that proves its identity at /healthz.
func server(t *testing.T, secret string) (instance.Server, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"status":"ok","proof":%q}`, instance.Proof(secret, r.URL.Query().Get("nonce")))
	}))
	t.Cleanup(s.Close)
	return instance.Server{Instance: secret, URL: s.URL, PID: os.Getpid(), Kind: instance.KindAsk, Secret: secret}, s
}

// A database has one lock, which is exclusive until it is released (T26).
func TestLockIsExclusive(t *testing.T) {
	p := place(t)
	first := hold(t, p)
	if _, err := instance.Hold(p.Database); !errors.Is(err, instance.ErrHeld) {
		t.Errorf("a second one: %v, want %v", err, instance.ErrHeld)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	hold(t, p)
	if info, err := os.Stat(p.Database + ".lock"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock file: %v, %v, want mode 0600: it is never deleted", info, err)
	}
}

func TestJoinTakesFreeLock(t *testing.T) {
	p := place(t)
	lock, _, err := p.Join(t.Context())
	if err != nil || lock == nil {
		t.Fatalf("got %v, %v, want the lock", lock, err)
	}
	lock.Release()
}

func TestJoinFindsServerWithProof(t *testing.T) {
	p := place(t)
	hold(t, p)
	want, _ := server(t, "secret")
	if err := p.Announce(want); err != nil {
		t.Fatal(err)
	}
	lock, got, err := p.Join(t.Context())
	if err != nil || lock != nil || got != want {
		t.Errorf("got %v, %v, %v, want the server", lock, got, err)
	}
	if info, err := os.Stat(filepath.Join(filepath.Dir(p.Database), "server.json")); err != nil ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("server.json: %v, %v, want mode 0600", info, err)
	}
	if err := errors.Join(p.Retract(), p.Retract()); err != nil {
		t.Errorf("retract twice: %v", err)
	}
	if _, ok := p.Last(); ok {
		t.Error("it is still announced")
	}
}

// Join takes a lock that is released while a port does not reply.
func TestSilentPortDoesNotDelayLock(t *testing.T) {
	// Waiting for the port would delay each attempt by two seconds. A busy machine delays
	// only some attempts.
	took := joinWithSilentPort(t)
	for tries := 1; took > time.Second; tries++ {
		if tries == 5 {
			t.Fatalf("it took %v after the lock was free: it waited for the port", took)
		}
		took = joinWithSilentPort(t)
	}
}

// joinWithSilentPort takes a lock that is released while a port does not reply, and returns the time that it
// took.
func joinWithSilentPort(t *testing.T) (took time.Duration) {
	t.Helper()
	p := place(t)
	lock := hold(t, p)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan net.Conn, 1)
	go func() {
		defer close(asked)
		if conn, err := ln.Accept(); err == nil {
			asked <- conn
		}
	}()
	defer ln.Close()
	if err := p.Announce(instance.Server{Instance: "1", URL: "http://" + ln.Addr().String(), Secret: "s"}); err != nil {
		t.Fatal(err)
	}
	free := make(chan time.Time, 1)
	go func() {
		conn := <-asked
		defer conn.Close()
		free <- time.Now()
		lock.Release()
		_, _ = conn.Read(make([]byte, 1024))
	}()
	got, _, err := p.Join(t.Context())
	if err != nil || got == nil {
		t.Fatalf("got %v, %v, want the lock", got, err)
	}
	took = time.Since(<-free)
	got.Release()
	return took
}

func TestJoinEndsWithContext(t *testing.T) {
	p := place(t)
	hold(t, p)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no longer wanted")
	cancel(why)
	if _, _, err := p.Join(ctx); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	if _, err := p.Find(t.Context(), 50*time.Millisecond); !errors.Is(err, instance.ErrNoReply) {
		t.Errorf("got %v, want %v", err, instance.ErrNoReply)
	}
}

// A server is rejected if its reply is not HTTP, is too long, has no valid proof, is
// followed by more bytes, or closes the connection.
func TestServerWithoutProofIsRejected(t *testing.T) {
	for name, reply := range map[string]string{
		"wrong proof":      "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"proof\":\"yes\"}",
		"no proof":         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		"not found":        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
		"no HTTP":          "SSH-2.0-OpenSSH_9.9\r\n",
		"endless":          "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<16),
		"more than asked":  "HTTP/1.1 200 OK\r\nContent-Length: PROOF\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"about to hang up": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: PROOF",
	} {
		t.Run(name, func(t *testing.T) {
			s := instance.Server{Secret: "secret"}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			s.URL = "http://" + ln.Addr().String()
			go func() {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				buf := make([]byte, 1024)
				n, _ := conn.Read(buf)
				_, nonce, _ := strings.Cut(string(buf[:n]), "nonce=")
				nonce, _, _ = strings.Cut(nonce, " ")
				proof := fmt.Sprintf(`{"proof":%q}`, instance.Proof("secret", nonce))
				said := strings.Replace(reply, "PROOF\r\n\r\n", fmt.Sprintf("%d\r\n\r\n%s", len(proof), proof), 1)
				said = strings.Replace(said, "PROOF", fmt.Sprintf("%d\r\n\r\n%s", len(proof), proof), 1)
				_, _ = conn.Write([]byte(said))
			}()
			if err := s.Proves(t.Context()); err == nil {
				t.Error("it passed for the server")
			}
		})
	}
}

// The proof is for one connection, not for an address. A program that takes over the port
// after the proof receives only the challenge.
func TestProofIsBoundToConnection(t *testing.T) {
	s, real := server(t, "secret")
	client := s.Client()
	ask := func() error {
		r, err := http.NewRequest("GET", s.URL+"/api/v1/asks", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer askback_secret")
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	at := real.Listener.Addr().String()
	real.CloseClientConnections()
	real.Close()
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var received bytes.Buffer
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.Write(&received)
		fmt.Fprint(w, `{"status":"ok","proof":"00"}`)
	})}
	served := make(chan error)
	go func() { served <- other.Serve(ln) }()
	for range 3 {
		if err := ask(); err == nil {
			t.Error("a request reached the other program")
		}
	}
	other.Close()
	<-served
	if !strings.Contains(received.String(), "/healthz?nonce=") ||
		strings.Contains(received.String(), "askback_secret") {
		t.Errorf("the other program read %s, want only the challenge", received.String())
	}
}

func TestClientConnectsOnlyToServer(t *testing.T) {
	s, _ := server(t, "secret")
	client := s.Client()
	defer client.CloseIdleConnections()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	res, err := client.Get("http://elsewhere.example/")
	if err != nil {
		t.Fatalf("it went elsewhere: %v", err)
	}
	res.Body.Close()
}

// A database has one lock, even if symbolic links lead to it. A link whose target does not exist is an error.
func TestLinksResolveToOneDatabase(t *testing.T) {
	dir := t.TempDir()
	want, err := instance.At(filepath.Join(dir, "real", "askback.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want.Database, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(want.Database, filepath.Join(dir, "file.db")),
		os.Symlink("real", filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file.db", "folder/askback.db", "folder/../real/./askback.db"} {
		if got, err := instance.At(filepath.Join(dir, name)); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	if err := os.Symlink("nowhere.db", filepath.Join(dir, "dangling.db")); err != nil {
		t.Fatal(err)
	}
	if got, err := instance.At(filepath.Join(dir, "dangling.db")); err == nil {
		t.Errorf("a link to nothing: got %v, want an error", got)
	}
}

func TestTwoDatabasesCanShareAFolder(t *testing.T) {
	p := place(t)
	q := instance.Place{Database: filepath.Join(filepath.Dir(p.Database), "other.db")}
	hold(t, p)
	hold(t, q)
	for _, x := range []instance.Place{p, q} {
		if err := x.Announce(instance.Server{Instance: x.Database, Secret: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []instance.Place{p, q} {
		if got, ok := x.Last(); !ok || got.Instance != x.Database {
			t.Errorf("%s is served by %s", x.Database, got.Instance)
		}
	}
}

// Of several concurrent calls that create the same file, one succeeds.
func TestCreateFileSucceedsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "user.token")
	var group sync.WaitGroup
	made := make(chan string, 20)
	for i := range 20 {
		group.Go(func() {
			text := fmt.Sprintf("secret %d", i)
			switch err := instance.CreateFile(path, []byte(text)); {
			case err == nil:
				made <- text
			case !errors.Is(err, os.ErrExist):
				t.Error(err)
			}
		})
	}
	group.Wait()
	close(made)
	raw, err := os.ReadFile(path)
	if want := <-made; err != nil || string(raw) != want {
		t.Errorf("the file has %q, %v, want %q, as the first process wrote it", raw, err, want)
	}
	if second, ok := <-made; ok {
		t.Errorf("a second file %q was created", second)
	}
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(all) != 1 {
		t.Errorf("got the files %v, %v; want one", all, err)
	}
}
