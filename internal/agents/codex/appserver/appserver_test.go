package appserver

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
)

// An appServer is a fake of Codex's app-server with one thread. It sends its open requests to a client when
// the client resumes the thread. It takes one answer to each request, and reports when a request was
// answered.
type appServer struct {
	t      testing.TB
	socket string
	server *http.Server

	mu   sync.Mutex
	conn *websocket.Conn
	open []openRequest

	answers chan answer // the answers of the client
	steered chan string // texts
	listed  chan bool   // receives a value each time the client lists the threads
	lose    bool        // close the connection instead of handling the next answer
}

type openRequest struct {
	id  int
	raw string
}

type answer struct {
	id     int
	result string
}

func newAppServer(t testing.TB) *appServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "codex") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	a := &appServer{
		t: t, socket: filepath.Join(dir, "s"), answers: make(chan answer, 9), steered: make(chan string, 9),
		listed: make(chan bool, 99),
	}
	t.Cleanup(func() { a.stop(); _ = os.RemoveAll(dir) })
	return a
}

func (a *appServer) start() {
	a.t.Helper()
	l, err := net.Listen("unix", a.socket)
	if err != nil {
		a.t.Fatal(err)
	}
	a.server = &http.Server{Handler: http.HandlerFunc(a.serve)}
	go func() { _ = a.server.Serve(l) }()
}

// stop closes the socket and the connection.
func (a *appServer) stop() {
	if a.server != nil {
		_ = a.server.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		_ = a.conn.Close()
		a.conn = nil
	}
}

func (a *appServer) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	for {
		var m struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Params struct {
				Input []struct {
					Text string `json:"text"`
				} `json:"input"`
			} `json:"params"`
		}
		if conn.ReadJSON(&m) != nil {
			return
		}
		switch m.Method {
		case "initialize":
			a.send(conn, `{"id":%d,"result":{"userAgent":"codex-tui/0.169.0 (x)"}}`, *m.ID)
		case "thread/loaded/list":
			a.send(conn, `{"id":%d,"result":{"data":["t"],"nextCursor":null}}`, *m.ID)
		case "thread/resume":
			a.resume(conn, *m.ID)
		case "turn/steer":
			a.steered <- m.Params.Input[0].Text
			a.send(conn, `{"id":%d,"result":{"turnId":"u"}}`, *m.ID)
		case "":
			if a.answered(conn, *m.ID, m.Result) {
				return
			}
		}
	}
}

func (a *appServer) resume(conn *websocket.Conn, id int) {
	a.send(conn,
		`{"id":%d,"result":{"thread":{"id":"t","cwd":"/srv/shop"},"initialTurnsPage":{"data":[{"id":"u","items":[
		{"type":"fileChange","id":"i","changes":[{"path":"/srv/a","kind":{"type":"add"},"diff":"x\n"}]}]}]}}}`, id)
	a.mu.Lock()
	a.conn = conn
	open := slices.Clone(a.open)
	a.mu.Unlock()
	for _, r := range open {
		a.send(conn, "%s", r.raw)
	}
	a.listed <- true
}

// answered handles an answer and returns false. If lose is set, it closes the connection instead and returns
// true.
func (a *appServer) answered(conn *websocket.Conn, id int, result json.RawMessage) (lost bool) {
	a.mu.Lock()
	lost, a.lose = a.lose, false
	if lost {
		a.conn = nil
		_ = conn.Close()
	}
	a.mu.Unlock()
	if !lost {
		a.resolve(id)
	}
	a.answers <- answer{id, string(result)}
	return lost
}

func (a *appServer) send(conn *websocket.Conn, format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...))
}

// notify sends a notification to the client.
func (a *appServer) notify(raw string) {
	a.mu.Lock()
	conn := a.conn
	a.mu.Unlock()
	a.send(conn, "%s", raw)
}

// request opens a request.
func (a *appServer) request(raw string) {
	var r struct {
		ID int `json:"id"`
	}
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	a.open = append(a.open, openRequest{r.ID, raw})
	conn := a.conn
	a.mu.Unlock()
	if conn != nil {
		a.send(conn, "%s", raw)
	}
}

// resolve ends a request that a client or the terminal has answered.
func (a *appServer) resolve(id int) {
	a.mu.Lock()
	was := len(a.open)
	a.open = slices.DeleteFunc(a.open, func(r openRequest) bool { return r.id == id })
	ended := len(a.open) < was
	a.mu.Unlock()
	if ended {
		a.notify(fmt.Sprintf(`{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":%d}}`, id))
	}
}
