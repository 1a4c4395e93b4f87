package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The client keeps the requests of a server, such as pings, until it has sent their results. A server that
// does not read the results would fill the memory, so the connection ends at these limits.
const (
	maxWaiting      = 256        // the number of requests of a command whose results are not sent yet
	maxWaitingBytes = maxMessage // the size of these requests
	maxWaitingHTTP  = 16         // the number of results that are being sent over HTTP
)

var errWaiting = errors.New("it sends requests, and does not read their results")

// budgeted is the transport to a server that is a command. It calls end if the server leaves the results of
// too many requests unread, or if a request of the server reuses the identifier of another request.
type budgeted struct {
	mcp.Transport
	end func(error)
}

// Connect implements [mcp.Transport].
func (t *budgeted) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &budgetedConnection{Connection: c, end: t.end, waiting: map[jsonrpc.ID]int{}}, nil
}

type budgetedConnection struct {
	mcp.Connection
	end func(error)

	mu      sync.Mutex
	waiting map[jsonrpc.ID]int // the size of requests whose results are not being sent
	count   int                // the number of these requests, and of the requests whose results are being sent
	size    int
}

// Read implements [mcp.Connection]. If a request exceeds the limits, it ends the connection and returns
// errWaiting.
func (c *budgetedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() && !c.add(r) {
		c.end(errWaiting)
		return nil, errWaiting
	}
	return m, err
}

// add counts a request. It returns false if there are too many requests, or if another request has the same
// identifier.
func (c *budgetedConnection) add(r *jsonrpc.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.waiting[r.ID]; used {
		return false
	}
	id, _ := r.ID.Raw().(string)
	size := len(r.Params) + len(r.Method) + len(id)
	c.waiting[r.ID] = size
	c.count++
	c.size += size
	return c.count <= maxWaiting && c.size <= maxWaitingBytes
}

// Write implements [mcp.Connection]. When it has sent a result, the request of the result no longer counts.
func (c *budgetedConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		size, found := c.waiting[r.ID]
		delete(c.waiting, r.ID) // the server may reuse the identifier when it has the result
		c.mu.Unlock()
		if found {
			defer func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.count--
				c.size -= size
			}()
		}
	}
	return c.Connection.Write(ctx, m)
}

// isResult reports whether req sends the result of a request of the server.
func isResult(req *http.Request) bool {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil || !bytes.Contains(data, []byte(`"jsonrpc"`)) {
		return false
	}
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(data, &m) == nil && m.Method == ""
}
