package mcptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/test/kit/racedetector"
)

const (
	initialized = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`
	// unread is the error when the server does not read the results of its requests.
	unread = "it sends requests, and does not read their results"
)

// serveFlood serves no tools. After the request for its tools, it sends PINGS pings of SIZE bytes each, and
// reads nothing. With READ, it reads the results one by one, and then replies.
func serveFlood() {
	in := bufio.NewReader(os.Stdin)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	for {
		line, err := in.ReadBytes('\n')
		m.ID, m.Method = nil, ""
		if err != nil || json.Unmarshal(line, &m) != nil {
			return
		}
		switch {
		case m.Method == "initialize":
			fmt.Printf(initialized+"\n", m.ID)
			continue
		case m.Method == "tools/list":
		case m.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
			continue
		default:
			continue
		}
		var pings, size int
		_, _ = fmt.Sscan(os.Getenv("PINGS"), &pings)
		_, _ = fmt.Sscan(os.Getenv("SIZE"), &size)
		for i := range pings {
			fmt.Printf(`{"jsonrpc":"2.0","id":"%d%s","method":"ping","params":{"_meta":{"pad":"%s"}}}`+"\n", i,
				strings.Repeat("i", size/2), strings.Repeat("p", size/2))
			if os.Getenv("READ") != "" {
				_, _ = in.ReadBytes('\n')
			}
		}
		if os.Getenv("READ") == "" {
			select {}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`+"\n", m.ID)
	}
}

func newFlood(t *testing.T, pings, size, read string) *mcptools.Server {
	s, _ := newCommand(t, "flood", func(o *mcptools.Options) {
		o.Env["PINGS"], o.Env["SIZE"], o.Env["READ"] = pings, size, read
	})
	return s
}

// A command that sends requests and does not read their results ends the connection before they fill the
// memory, whether the requests are large or many.
func TestUnreadResultsOfCommandEndConnection(t *testing.T) {
	racedetector.Omit(t)
	for _, c := range [][2]string{{"40", "1000000"}, {"20000", "1000"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		if _, err := newFlood(t, c[0], c[1], "").Tools(ctx); err == nil || err.Error() != unread {
			t.Errorf("%s pings of %s bytes: got %v", c[0], c[1], err)
		}
		cancel()
	}
}

// A command may send any number of requests if it reads their results.
func TestCommandMaySendManyPings(t *testing.T) {
	if _, err := newFlood(t, "600", "100000", "yes").Tools(t.Context()); err != nil {
		t.Error(err)
	}
}

// An endpoint that sends requests in a stream and does not reply to their results ends the
// connection, too.
func TestUnreadResultsOfEndpointEndConnection(t *testing.T) {
	var posts atomic.Int32 // the number of results that the endpoint received
	s, _ := connectTo(t, newRemote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch m.Method {
		case "":
			posts.Add(1)
			<-r.Context().Done()
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, initialized, m.ID)
		case "tools/list":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 200 {
				_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", 1000+i)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "notifications/initialized", "notifications/cancelled":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	})))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := s.Tools(ctx); err == nil || err.Error() != unread {
		t.Errorf("got %v", err)
	}
	if n := posts.Load(); n > 100 { // some more may arrive while the connection ends
		t.Errorf("it got %d results", n)
	}
}
