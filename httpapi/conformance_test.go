package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fixture is a server with an engine and a handler. Each principal gets a token and a [httpapi.Client].
type fixture struct {
	t       *testing.T
	store   *memstore.Store
	engine  *engine.Engine
	handler *httpapi.Handler
	server  *httptest.Server
	client  *http.Client

	mu     sync.Mutex
	tokens map[askback.Principal]string
	seen   chan struct{} // closed when the secret that watch has set is first accepted
}

// watchedAuthenticator closes a channel when it accepts a secret for the first time.
type watchedAuthenticator struct {
	*engine.Engine
	secret string
	once   sync.Once
	seen   chan struct{}
}

// Authenticate implements [httpapi.Authenticator].
func (g *watchedAuthenticator) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	who, err := g.Engine.Authenticate(ctx, secret)
	if err == nil && secret == g.secret {
		g.once.Do(func() { close(g.seen) })
	}
	return who, err
}

// watch makes the server close w.seen when the server first accepts this secret.
func (w *fixture) watch(secret string) {
	w.seen = make(chan struct{})
	w.server.Config.Handler = checkTraffic(w.t,
		httpapi.NewHandler(&watchedAuthenticator{Engine: w.engine, secret: secret, seen: w.seen}, nil))
}

// root is the admin that creates the tokens of a test.
var root = askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal}

func newFixture(t *testing.T, o *httpapi.Options) *fixture {
	t.Helper()
	if o == nil {
		o = &httpapi.Options{}
	}
	db := memstore.New()
	return newFixtureOn(t,
		engine.New(db,
			&engine.Options{MaxOpen: 1000, MaxWaiters: 200, Settings: engine.Settings{Undo: limits.MaxUndo}}),
		db, o)
}

func newFixtureOn(t *testing.T, e *engine.Engine, db *memstore.Store, o *httpapi.Options) *fixture {
	t.Helper()
	w := &fixture{t: t, store: db, engine: e, handler: httpapi.NewHandler(e, o), tokens: map[askback.Principal]string{}}
	w.server = httptest.NewServer(checkTraffic(t, w.handler))
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	t.Cleanup(func() {
		w.handler.Stop()
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	return w
}

// token returns the secret of a principal. The first call creates the token.
func (w *fixture) token(p askback.Principal) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Channel == "" {
		p.Channel = askback.ChannelAPI
	}
	if secret, ok := w.tokens[p]; ok {
		return secret
	}
	secret, err := w.engine.NewSecret()
	if err == nil {
		err = w.engine.Adopt(context.Background(), p, secret)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.tokens[p] = secret
	return secret
}

// As implements [conformance.Subject].
func (w *fixture) As(p askback.Principal) askback.Client {
	return httpapi.NewClient(w.server.URL, w.token(p), w.client)
}

// A Client behaves like a client of the engine, including errors.Is and the ask that is
// returned with ErrSettled (B3, D2, D3, E10, F4, F6).
func TestClientConformsToEngine(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject { return newFixture(t, nil) })
}

// The error is ErrUnreachable if a server cannot be reached or its reply breaks off.
func TestMissingServerIsUnreachable(t *testing.T) {
	w := newFixture(t, nil)
	secret := w.token(askback.Principal{Kind: askback.Agent, Name: "bot"})
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"id": "ask_`))
	}))
	defer cut.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{"no server": gone.URL, "an incomplete reply": cut.URL} {
		_, err := httpapi.NewClient(url, secret, w.client).Get(context.Background(), "ask_x")
		if !isUnreachable(err) {
			t.Errorf("%s: got %v, want %v", name, err, askback.ErrUnreachable)
		}
	}
}

// Stop ends a waiting call of a Client, and rejects later calls, with ErrStopping.
func TestStopEndsWaitingCalls(t *testing.T) {
	w := newFixture(t, nil)
	agent := w.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ask, err := agent.Ask(ctx, question("Go on?"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Wait(ctx, ask.ID)
		ended <- err
	}()
	w.handler.Stop()
	if err := <-ended; !isStopping(err) {
		t.Errorf("the waiting call got %v, want %v", err, askback.ErrStopping)
	}
	if _, err := agent.Get(ctx, ask.ID); !isStopping(err) {
		t.Errorf("a later call got %v, want %v", err, askback.ErrStopping)
	}
}

func question(text string, labels ...string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text, Options: askback.Options(labels...)}}}
}

func statusHandler(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}
