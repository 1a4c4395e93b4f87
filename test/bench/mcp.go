package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/mcpserver"
)

// An mcpProduct is Askback with an MCP client as its agent: one call asks and waits. The person uses HTTP, as
// in the remote place.
type mcpProduct struct {
	*product
	address        string
	secret         string
	client         *http.Client
	observedEngine *observedEngine
	n              atomic.Int64

	mu      sync.Mutex
	waiting map[string]chan error // keyed by the id of the ask
}

// openMCPProduct opens a server with an MCP client over HTTP as its agent.
func openMCPProduct(ctx context.Context, path string) (subject, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	agent, err := p.createToken(ctx, asker)
	person, personErr := p.createToken(ctx, answerer)
	ln, at, portErr := listenLoopback()
	if err := errors.Join(err, personErr, portErr); err != nil {
		return nil, errors.Join(err, p.close())
	}
	c := &mcpProduct{product: p, observedEngine: &observedEngine{Engine: p.engine}, waiting: map[string]chan error{}}
	server := mcpserver.New(&mcpserver.Options{PublicURL: address, Log: slog.New(slog.DiscardHandler)})
	stop, shut := serve(ln, server.Handler(c.observedEngine), nil), p.shut
	p.shut = func() error {
		server.Stop()
		err := stop()
		server.Finish()
		return errors.Join(err, shut())
	}
	c.address, c.secret, c.client = at, agent, newHTTPClient()
	p.person = httpapi.NewClient(address, person, c.client)
	return c, nil
}

// An observedEngine is an engine that reports the id of an ask when the ask is durable. An MCP client gets
// the id only together with the answer.
type observedEngine struct {
	*engine.Engine
	asked sync.Map // maps the text of the first question to a chan string
}

func (n *observedEngine) As(p askback.Principal) askback.Client {
	return observedClient{n.Engine.As(p), n}
}

type observedClient struct {
	askback.Client
	observedEngine *observedEngine
}

func (s observedClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	a, err := s.Client.Ask(ctx, r)
	if id, ok := s.observedEngine.asked.LoadAndDelete(r.Questions[0].Text); ok && err == nil {
		id.(chan string) <- a.ID
	}
	return a, err
}

// ask starts a call and returns when its ask is durable. Each call has a different
// question, because an equal call would be the same ask.
func (c *mcpProduct) ask(ctx context.Context) (string, error) {
	q := request().Questions[0]
	text := q.Text + " " + strconv.FormatInt(c.n.Add(1), 10)
	args := toolArguments{[]toolQuestion{{text, make([]toolOption, len(q.Options))}}}
	for i, o := range q.Options {
		args.Questions[0].Options[i].Label = o.Label
	}
	args.Questions[0].Options[0].Description = strings.Repeat("x", contextLength) // the tool has no context
	asked, ended := make(chan string, 1), make(chan error, 1)
	c.observedEngine.asked.Store(text, asked)
	go func() { ended <- c.call(ctx, asktool.AskUserQuestion, args) }()
	select {
	case id := <-asked:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting[id] = ended
		return id, nil
	case err := <-ended:
		return "", errors.Join(errors.New("the call ended without an answer"), err)
	}
}

// A toolMessage is a call of a tool.
type toolMessage struct {
	Version string     `json:"jsonrpc"`
	ID      int        `json:"id"`
	Method  string     `json:"method"`
	Params  toolParams `json:"params"`
}

type toolParams struct {
	Name      string          `json:"name"`
	Arguments toolArguments   `json:"arguments"`
	Meta      json.RawMessage `json:"_meta"`
}

type toolArguments struct {
	Questions []toolQuestion `json:"questions"`
}

type toolQuestion struct {
	Text    string       `json:"question"`
	Options []toolOption `json:"options"`
}

type toolOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// version is the revision of MCP. toolMeta is the declaration of each call for that revision.
const (
	version  = "2026-07-28"
	toolMeta = `{"io.modelcontextprotocol/protocolVersion": "` + version +
		`", "io.modelcontextprotocol/clientCapabilities": {},
		"io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}`
)

// call calls a tool. It reads the result from an event stream, and checks the answer.
func (c *mcpProduct) call(ctx context.Context, tool string, args toolArguments) error {
	body, err := json.Marshal(toolMessage{"2.0", 1, "tools/call", toolParams{tool, args, json.RawMessage(toolMeta)}})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + c.secret, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": version, "Mcp-Method": "tools/call",
		"Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	res, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	_, data, _ := bytes.Cut(raw, []byte("data: "))
	var reply struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Structured struct {
				Outcome askback.Outcome `json:"outcome"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return fmt.Errorf("read %s %q: %w", res.Status, raw, err)
	}
	if got := reply.Result.Structured.Outcome.Answers; len(reply.Result.Content) == 0 || len(got) == 0 ||
		got[0].String() != "yes" {
		return fmt.Errorf("the result differs from the answer: %s", raw)
	}
	return nil
}

func (c *mcpProduct) wait(_ context.Context, id string) error {
	c.mu.Lock()
	ended := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	return <-ended
}
