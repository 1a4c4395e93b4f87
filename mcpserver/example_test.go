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

// agentKeys is an Authenticator with a fixed key for each agent.
type agentKeys struct {
	engine *engine.Engine
	agents map[string]string
}

func (k agentKeys) Authenticate(_ context.Context, secret string) (askback.Principal, error) {
	name, ok := k.agents[secret]
	if !ok {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	return askback.Principal{Kind: askback.Agent, Name: name}, nil
}

func (k agentKeys) As(p askback.Principal) askback.Client { return k.engine.As(p) }

// Serve agents over HTTP. The program has a key for each agent.
func ExampleServer_Handler() {
	server := mcpserver.New(&mcpserver.Options{PublicURL: "https://ask.example.com"})
	agents := agentKeys{engine.New(memstore.New(), nil), map[string]string{"key of the bot": "bot"}}
	httpServer := httptest.NewServer(server.Handler(agents))
	defer func() {
		server.Stop()
		httpServer.Close()
		server.Finish() // Finish must return before the store is closed
	}()

	for _, secret := range []string{"key of the bot", "another"} {
		client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
		session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
			Endpoint:             httpServer.URL,
			HTTPClient:           &http.Client{Transport: bearerTransport{http.DefaultTransport, secret}},
			DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			fmt.Println("rejected")
			continue
		}
		result, err := session.CallTool(context.Background(),
			&mcp.CallToolParams{Name: "list_open_questions", Arguments: map[string]any{}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Content[0].(*mcp.TextContent).Text)
		_ = session.Close()
	}
	// Output:
	// Nothing is open: everything you asked is settled.
	// rejected
}

// Serve one agent on standard input and output; here they are pipes.
func ExampleServer_ServeStdio() {
	ctx := context.Background()
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})

	in, toServer := io.Pipe()
	toClient, out := io.Pipe()
	served := make(chan error)
	go func() { served <- mcpserver.New(nil).ServeStdio(ctx, agent, in, out) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: toServer}, nil)
	if err != nil {
		log.Fatal(err)
	}

	go func() { // a person answers the question
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
