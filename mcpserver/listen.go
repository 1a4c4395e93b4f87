package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// The method by which a client subscribes to notifications, and the methods of these notifications. The SDK
// serves a subscription without taskIds, which are part of the tasks extension.
const (
	listenMethod = "subscriptions/listen"
	ackMethod    = "notifications/subscriptions/acknowledged"
	taskMethod   = "notifications/tasks"
)

const (
	// maxListened is the maximum number of tasks in a subscription. Further tasks are left out.
	maxListened = 100
	// heartbeat is the interval between comments in a stream. They keep proxies from closing an idle stream.
	heartbeat = 15 * time.Second
)

// A subscription is a request for notifications about tasks.
type subscription struct {
	id       json.RawMessage // the id of the request; it identifies the subscription
	tasks    []string
	declares bool // whether the request declares the tasks extension
}

// newSubscription returns the subscription in the parameters of a request. It returns nil if the request has
// no tasks, because the SDK serves such a request.
func newSubscription(id, params json.RawMessage) *subscription {
	var p struct {
		Meta          map[string]any `json:"_meta"`
		Notifications struct {
			Tasks []string `json:"taskIds"`
		} `json:"notifications"`
	}
	if len(id) == 0 || json.Unmarshal(params, &p) != nil || len(p.Notifications.Tasks) == 0 {
		return nil
	}
	return &subscription{id, p.Notifications.Tasks, hasTasks(p.Meta)}
}

// A sender writes a message of a subscription. It returns an error if the client is gone.
type sender func(method string, params any) error

// listen serves a subscription until all its tasks have ended, the client is gone or the server stops. It
// returns the result of the request. Each notification has its own caller from newCaller. Like a reply to
// tasks/get, a notification delivers the outcome and consumes an approval.
func (s *Server) listen(ctx context.Context, sub *subscription, newCaller func() *caller, send sender) (any, error) {
	if !sub.declares {
		return nil, missingTasks()
	}
	meta := mcp.Meta{mcp.MetaKeySubscriptionID: sub.id}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	agreed := []string{}
	asks := []askback.Ask{}
	for _, id := range sub.tasks {
		if slices.Contains(agreed, id) || len(agreed) == maxListened {
			continue
		}
		ask, err := newCaller().client.Get(ctx, id)
		if errors.Is(err, askback.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, s.taskError(err)
		}
		agreed, asks = append(agreed, id), append(asks, ask)
	}
	err := send(ackMethod, map[string]any{"_meta": meta, "notifications": map[string]any{"taskIds": agreed}})
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, ask := range asks {
		all.Go(func() {
			s.follow(ctx, ask, newCaller(), func(task *taskResult) error {
				mu.Lock()
				defer mu.Unlock()
				task.ResultType, task.Meta = "", meta
				err := send(taskMethod, task)
				if err != nil {
					cancel() // the client is gone
				}
				return err
			})
		})
	}
	if err != nil {
		cancel()
	}
	all.Wait()
	return map[string]any{"resultType": "complete", "_meta": meta}, nil
}

// follow waits until ask is settled, sends its task, and acknowledges the outcome. If the ask cannot be
// waited for, the client must poll.
func (s *Server) follow(ctx context.Context, ask askback.Ask, caller *caller, send func(*taskResult) error) {
	c := &call{Server: s, caller: caller, req: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}}
	for !ask.Settled() && !c.isGone(ctx) {
		var err error
		if ask, err = c.wait(ctx, ask, time.Now(), time.Hour); err != nil {
			s.log.Warn("the task of a subscription cannot be followed", "error", err)
			return // the client polls
		}
	}
	if !ask.Settled() {
		return
	}
	task, err := s.getTask(ctx, caller, ask.ID)
	arrived := false
	if err == nil {
		s.startReply(caller, c.isGone(ctx))
		arrived = send(task.(*taskResult)) == nil
	}
	s.finishReply(caller, arrived)
}

// notification returns a message with a method and parameters.
func notification(method string, params any) (jsonrpc.Message, error) {
	raw, err := json.Marshal(params)
	return &jsonrpc.Request{Method: method, Params: raw}, err
}

// reply returns the reply to the request with the given id: result or, if failed is not nil, the error.
func reply(id json.RawMessage, result any, failed error) (*jsonrpc.Response, error) {
	var raw any
	if err := json.Unmarshal(id, &raw); err != nil {
		return nil, err
	}
	key, err := jsonrpc.MakeID(raw)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(result)
	if failed != nil {
		encoded = nil
	}
	return &jsonrpc.Response{ID: key, Result: encoded, Error: failed}, err
}

// isListen reports whether a request over HTTP is a subscription whose headers match its body, in a revision
// with such headers. The SDK rejects other subscriptions.
func isListen(h http.Header, raw []byte) bool {
	return usualHeaders(h) && h.Get(versionHeader) >= statelessVersion && h.Get(methodHeader) == listenMethod &&
		bytes.Contains(raw, []byte(`"taskIds"`))
}

// subscriptionOf returns the subscription in the body of a request over HTTP, or nil.
func subscriptionOf(h http.Header, raw []byte) *subscription {
	var m struct {
		Version string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		ID      json.RawMessage `json:"id"`
		Params  json.RawMessage `json:"params"`
	}
	if !isListen(h, raw) || json.Unmarshal(raw, &m) != nil || m.Version != "2.0" || m.Method != listenMethod {
		return nil
	}
	return newSubscription(m.ID, m.Params)
}

// serveListen serves a subscription over HTTP as an event stream.
func (s *Server) serveListen(sub *subscription, from *caller, w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Type", "text/event-stream")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no") // else nginx buffers messages
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var mu sync.Mutex
	write := func(b []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := w.Write(b)
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil {
			cancel()
		}
		return err
	}
	event := func(m jsonrpc.Message, err error) error {
		if err != nil {
			return err
		}
		b, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		return write([]byte(eventStart + string(b) + eventEnd))
	}
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = write([]byte(": waiting\n\n")) // an error ends ctx
			}
		}
	})
	newCaller := func() *caller { return from.forNotification(ctx) }
	result, failed := s.listen(ctx, sub, newCaller,
		func(method string, params any) error { return event(notification(method, params)) })
	m, err := reply(sub.id, result, failed)
	_ = event(m, err) // the client may be gone
	cancel()
	beating.Wait()
}

// forNotification returns a caller for one notification to the client of a request.
func (c *caller) forNotification(connected context.Context) *caller {
	return &caller{
		client: c.client, name: c.name, session: c.session, clientName: c.clientName, label: c.label, stdio: c.stdio,
		connected: connected, acks: c.acks,
	}
}
