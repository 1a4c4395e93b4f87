package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
)

// keys is a gate of one's own: it knows which agent a key is of.
type keys struct {
	engine *engine.Engine
	agents map[string]string
}

func (k keys) Authenticate(_ context.Context, secret string) (askback.Principal, error) {
	name, ok := k.agents[secret]
	if !ok {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	return askback.Principal{Kind: askback.Agent, Name: name}, nil
}

func (k keys) As(p askback.Principal) askback.Client { return k.engine.As(p) }

// Agents over HTTP, with keys that the program knows by itself.
func ExampleServer_Handler() {
	server := mcpserver.New(&mcpserver.Options{PublicURL: "https://ask.example.com"})
	gate := keys{engine.New(memstore.New(), nil), map[string]string{"key of the bot": "bot"}}
	web := httptest.NewServer(server.Handler(gate))
	defer func() {
		server.Stop()
		web.Close()
		server.Finish() // before the store is closed
	}()

	for _, secret := range []string{"key of the bot", "another"} {
		client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
		session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
			Endpoint: web.URL, HTTPClient: &http.Client{Transport: showing{http.DefaultTransport, secret}}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			fmt.Println("not let in")
			continue
		}
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "list_open_questions", Arguments: map[string]any{}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Content[0].(*mcp.TextContent).Text)
		_ = session.Close()
	}
	// Output:
	// Nothing is open: everything you asked is settled.
	// not let in
}

// One agent on standard input and output; here they are pipes.
func ExampleServer_ServeStdio() {
	ctx := context.Background()
	office := engine.New(memstore.New(), nil)
	agent := office.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := office.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})

	in, toServer := io.Pipe()
	toClient, out := io.Pipe()
	served := make(chan error)
	go func() { served <- mcpserver.New(nil).ServeStdio(ctx, agent, in, out) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: toServer}, nil)
	if err != nil {
		log.Fatal(err)
	}

	go func() { // somebody sees the question, and answers
		for e, err := range ana.Events(ctx, "", "") {
			page, _ := ana.List(ctx, askback.Query{})
			if err != nil || e.Type != "" && len(page.Items) == 0 {
				continue
			}
			_, _ = ana.Answer(ctx, page.Items[0].ID, askback.Choose("SQLite"))
			return
		}
	}()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{
		Name: "ask_user_question", Arguments: map[string]any{"question": "Which database?"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)

	_ = session.Close()
	_ = toServer.Close()
	fmt.Println("served:", <-served)
	// Output:
	// User has answered your questions: "Which database?" = "SQLite".
	// served: <nil>
}
