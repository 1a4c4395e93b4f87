package appserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// listEvery is the time between two requests for the list of threads.
const listEvery = 15 * time.Second

// A session is one connection to an app-server. One goroutine reads from the connection, and each open dialog
// has a goroutine of its own.
type session struct {
	f       *Follower
	asker   *dialog.Asker
	conn    transport
	dialogs dialog.Set[openDialog]

	mu      sync.Mutex // guards the fields below, and writing to conn
	lastID  int
	calls   map[string]func(result, failure json.RawMessage) // keyed by the id of the request
	threads map[string]*thread
}

// A transport is the part of [websocket.Conn] that a session uses.
type transport interface {
	ReadMessage() (kind int, content []byte, err error)
	WriteMessage(kind int, content []byte) error
	SetWriteDeadline(t time.Time) error
	Close() error
}

// A thread is a conversation of Codex.
type thread struct {
	followed bool
	leave    func() // called when the thread is no longer followed; may be nil
	folder   string
	changes  map[edit]json.RawMessage
	started  map[edit]json.RawMessage // the edits with which an item started
	reused   map[edit]bool            // items that share an id, because the model makes the ids
	waiting  []jsonrpc2.Message       // the requests that came before the thread was followed
}

// An edit identifies an item that changes files.
type edit struct{ turn, item string }

func newSession(f *Follower, asker *dialog.Asker, conn transport) *session {
	return &session{
		f: f, asker: asker, conn: conn,
		calls:   map[string]func(result, failure json.RawMessage){},
		threads: map[string]*thread{},
	}
}

// run follows the app-server until the connection is closed or ctx ends. It returns an error if the
// app-server rejects the first call.
func (s *session) run(ctx context.Context) error {
	// The asks must be withdrawn before the connection is closed, so they outlive ctx.
	asking := context.WithoutCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		s.dialogs.EndAll(errDetached)
		_ = s.conn.Close()
	})
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	rejected := make(chan error, 1)
	s.initialize(asking, func(err error) {
		rejected <- err
		_ = s.conn.Close()
	}, ended)
	for {
		_, raw, err := s.conn.ReadMessage()
		if err != nil {
			break
		}
		if m, ok, _ := jsonrpc2.Read(raw); ok {
			s.handle(asking, m)
		}
	}
	s.dialogs.EndAll(hook.ErrDetached)
	s.leaveAll()
	_ = s.conn.Close()
	s.dialogs.Wait()
	select {
	case err := <-rejected:
		return err
	default:
	}
	if ctx.Err() == nil {
		s.asker.Note("The connection to Codex's daemon has ended. Waiting for it …")
	}
	return nil
}

// initialize introduces Askback and then follows the threads until ended is closed. It calls rejected if the
// app-server does not accept the introduction.
func (s *session) initialize(ctx context.Context, rejected func(error), ended <-chan struct{}) {
	s.call("initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "askback", "title": "Askback", "version": s.f.Version},
		"capabilities": map[string]any{"experimentalApi": true},
	}, func(result, failure json.RawMessage) {
		if failure != nil {
			rejected(fmt.Errorf("the app-server of Codex rejected Askback: %s", failure))
			return
		}
		_ = s.send(map[string]any{"method": "initialized"}) // otherwise, the connection is closed
		s.asker.NoteAttached("Codex "+release(jsonrpc2.StringAt(result, "userAgent")),
			"Its requests are in the inbox as well as at its terminal.")
		s.listThreads(ctx, "")
		go s.keepListing(ctx, ended)
	})
}

// keepListing follows all loaded threads every listEvery until ended is closed, because following a thread
// fails while the daemon shuts down.
func (s *session) keepListing(ctx context.Context, ended <-chan struct{}) {
	for {
		select {
		case <-time.After(listEvery):
			s.listThreads(ctx, "")
		case <-ended:
			return
		}
	}
}

// release returns the version in a user agent such as "codex-tui/0.169.0 (…)".
func release(agent string) string {
	_, rest, _ := strings.Cut(agent, "/")
	version, _, _ := strings.Cut(rest, " ")
	return version
}

// listThreads follows all loaded threads, from the page at cursor on.
func (s *session) listThreads(ctx context.Context, cursor string) {
	params := map[string]any{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	s.call("thread/loaded/list", params, func(result, failure json.RawMessage) {
		page, err := jcs.Parse(result)
		if failure != nil || err != nil {
			return // keepListing tries again
		}
		for _, id := range member(page, "data").Elements() {
			s.follow(ctx, id.Text())
		}
		if next := jsonrpc2.StringOf(page, "nextCursor"); next != "" {
			s.listThreads(ctx, next)
		}
	})
}

// call sends a request and calls done with its response, in the goroutine that reads.
func (s *session) call(method string, params any, done func(result, failure json.RawMessage)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.calls[strconv.Itoa(s.lastID)] = done
	_ = s.write(map[string]any{"id": s.lastID, "method": method, "params": params})
}

func (s *session) send(message any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(message)
}

// write sends a message. s.mu must be held. If sending fails, write closes the connection, which ends the
// goroutine that reads.
func (s *session) write(message any) error {
	raw, err := jcs.Marshal(message)
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if err = errors.Join(err, s.conn.WriteMessage(websocket.TextMessage, raw)); err != nil {
		_ = s.conn.Close()
	}
	return err
}
