package slacktest

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A socket is a connection of Socket Mode.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
}

func (c *socket) send(v any) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.conn.WriteJSON(v)
}

// link serves the URL that apps.connections.open returns. Each URL works once.
func (s *Server) link(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	ok := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !ok {
		http.Error(w, "used", http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{conn: conn}
	s.mu.Lock()
	s.sockets = append(s.sockets, c)
	s.opened++
	n := len(s.sockets)
	s.mu.Unlock()
	c.send(map[string]any{
		"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": AppID},
		"debug_info": map[string]any{"host": "applink-test", "build_number": 1, "approximate_connection_time": 18060},
	})
	s.mu.Lock()
	s.notify()
	s.mu.Unlock()
	done := make(chan struct{})
	defer close(done)
	go s.ping(c, done)
	s.read(c)
}

// ping sends pings, as Slack does.
func (s *Server) ping(c *socket, done chan struct{}) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			c.conn.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second))
		}
	}
}

// read receives acknowledgements until the socket ends. Slack drops acknowledgements of 20 kB or more.
func (s *Server) read(c *socket) {
	for {
		_, raw, err := c.conn.ReadMessage()
		if err != nil {
			s.forget(c)
			return
		}
		var ack struct {
			Envelope string          `json:"envelope_id"`
			Payload  json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(raw, &ack) != nil || len(raw) > 20*1024 {
			continue
		}
		s.mu.Lock()
		waiting := s.pending[ack.Envelope]
		delete(s.pending, ack.Envelope)
		s.mu.Unlock()
		if waiting != nil {
			waiting <- ack.Payload
		}
	}
}

func (s *Server) forget(c *socket) {
	c.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	for i := range s.sockets {
		if s.sockets[i] == c {
			s.sockets = append(s.sockets[:i:i], s.sockets[i+1:]...)
			return
		}
	}
}

// Sockets returns the number of open connections.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Connections returns the number of connections so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Disconnect sends the frame disconnect with a reason over all connections, so that the app connects again.
// For the reason "warning" the connections stay open. For other reasons they are closed.
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	open := append([]*socket(nil), s.sockets...)
	s.mu.Unlock()
	for _, c := range open {
		c.send(map[string]any{
			"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "applink-test"},
		})
		if reason != "warning" {
			s.forget(c)
		}
	}
}

// Cut closes all connections without a close frame.
func (s *Server) Cut() {
	s.mu.Lock()
	open := append([]*socket(nil), s.sockets...)
	s.mu.Unlock()
	for _, c := range open {
		s.forget(c)
	}
}

// overSocket sends a payload over a connection and returns the acknowledgement. It reports false if there was
// no acknowledgement in time.
func (s *Server) overSocket(kind string, payload []byte, retry int) (reply []byte, ok bool) {
	s.mu.Lock()
	if len(s.sockets) == 0 {
		s.mu.Unlock()
		return nil, false
	}
	c := s.sockets[s.next%len(s.sockets)]
	envelope := s.id("envelope")
	waiting := make(chan []byte, 1)
	s.pending[envelope] = waiting
	s.mu.Unlock()
	frame := map[string]any{
		"type": kind, "envelope_id": envelope, "payload": json.RawMessage(payload),
		"accepts_response_payload": kind == "interactive",
	}
	if retry > 0 {
		frame["retry_attempt"], frame["retry_reason"] = retry, "timeout"
	}
	if c.send(frame) != nil {
		return nil, false
	}
	select {
	case reply = <-waiting:
		return reply, true
	case <-time.After(s.AckTime):
		return nil, false
	}
}
