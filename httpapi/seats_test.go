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
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is an engine behind a handler behind clients: each principal gets a
// token and a client of its own.
type wire struct {
	t       *testing.T
	store   *memstore.Store
	engine  *engine.Engine
	handler *httpapi.Handler
	server  *httptest.Server
	client  *http.Client

	mu     sync.Mutex
	tokens map[askback.Principal]string
	letIn  chan struct{} // closed once the watched secret was let in
}

// watchful tells when a secret is let in for the first time.
type watchful struct {
	*engine.Engine
	secret string
	once   sync.Once
	letIn  chan struct{}
}

// Authenticate implements [httpapi.Gate].
func (g *watchful) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	who, err := g.Engine.Authenticate(ctx, secret)
	if err == nil && secret == g.secret {
		g.once.Do(func() { close(g.letIn) })
	}
	return who, err
}

// watch makes letIn close when a secret is let in.
func (w *wire) watch(secret string) {
	w.letIn = make(chan struct{})
	w.server.Config.Handler = witnessed(w.t, httpapi.NewHandler(&watchful{Engine: w.engine, secret: secret, letIn: w.letIn}, nil))
}

// root is whoever makes the tokens of a test.
var root = askback.Principal{Kind: askback.Admin, Name: "root", Via: askback.ViaTerminal}

func newWire(t *testing.T, o *httpapi.Options) *wire {
	t.Helper()
	if o == nil {
		o = &httpapi.Options{}
	}
	db := memstore.New()
	return newWireOn(t, engine.New(db, &engine.Options{MaxOpen: 1000, MaxWaiters: 200}), db, o)
}

func newWireOn(t *testing.T, e *engine.Engine, db *memstore.Store, o *httpapi.Options) *wire {
	t.Helper()
	w := &wire{t: t, store: db, engine: e, handler: httpapi.NewHandler(e, o), tokens: map[askback.Principal]string{}}
	w.server = httptest.NewServer(witnessed(t, w.handler))
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	t.Cleanup(func() {
		w.handler.Stop()
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	return w
}

// token returns the secret of a principal, made when first asked for.
func (w *wire) token(p askback.Principal) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Via == "" {
		p.Via = askback.ViaAPI
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

// As implements [askbacktest.Subject].
func (w *wire) As(p askback.Principal) askback.Seat {
	return httpapi.NewClient(w.server.URL, w.token(p), w.client)
}

// What seats promise holds over the wire, errors.Is and the outcome beside
// ErrSettled included (B3, D2, D3, E10, F4, F6).
func TestSeatsOverTheWire(t *testing.T) {
	askbacktest.Seats(t, func(t *testing.T) askbacktest.Subject { return newWire(t, nil) })
}

// A server that is not there, breaks off, or answers something else is out of
// reach, and errors.Is says so.
func TestWhatIsNotThereIsOutOfReach(t *testing.T) {
	w := newWire(t, nil)
	secret := w.token(askback.Principal{Kind: askback.Agent, Name: "bot"})
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"id": "ask_`))
	}))
	defer cut.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{"nobody listens": gone.URL, "the reply is cut": cut.URL} {
		_, err := httpapi.NewClient(url, secret, w.client).Get(context.Background(), "ask_x")
		if !isUnreachable(err) {
			t.Errorf("%s: got %v, want %v", name, err, askback.ErrUnreachable)
		}
	}
}

// Stop lets those who wait go with their ask as it is, and refuses the rest.
func TestStopLetsWaitersGo(t *testing.T) {
	w := newWire(t, nil)
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
		t.Errorf("the waiter got %v, want %v", err, askback.ErrStopping)
	}
	if _, err := agent.Get(ctx, ask.ID); !isStopping(err) {
		t.Errorf("who came later got %v, want %v", err, askback.ErrStopping)
	}
}

func question(text string, labels ...string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text, Options: askback.Options(labels...)}}}
}

func statusHandler(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}
