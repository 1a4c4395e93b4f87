package providers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/agent/anthropic/anthropictest"
	"github.com/askback/askback/agent/openai"
	"github.com/askback/askback/agent/openai/openaitest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
	"github.com/askback/askback/store/memstore"
)

// A modelFault is the failure of a provider at the first attempt of each request of a run. Its text is in the
// prompt of the run, so that the fake finds it in each request.
type modelFault struct {
	status int // the status of the reply; 0 means that the stream of the reply is cut
	cut    int // the number of bytes before the cut, at most the length of the stream
	clean  bool
}

func (f modelFault) String() string {
	return fmt.Sprintf("fault %d %d %t.", f.status, f.cut, f.clean)
}

var modelFaultText = regexp.MustCompile(`fault (\d+) (\d+) (true|false)\.`)

// A modelFake is a provider whose first reply asks people, and whose second reply ends the run.
type modelFake struct {
	asks, ends string
	mu         sync.Mutex
	attempts   map[string]int
}

// fail makes the first attempt of each request fail. The prompt in the request contains the fault.
func (f *modelFake) fail(s *modeltest.Server) {
	check := s.Check
	s.Check = func(r *http.Request, body []byte) *modeltest.Reply {
		if rejected := check(r, body); rejected != nil {
			return rejected
		}
		found := modelFaultText.FindStringSubmatch(string(body))
		if found == nil {
			return &modeltest.Reply{Status: http.StatusTeapot, Body: "no fault"}
		}
		stream, key := f.asks, found[0]
		if strings.Contains(string(body), "User has answered") {
			stream, key = f.ends, key+" end"
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.attempts[key]++; f.attempts[key] > 1 {
			return &modeltest.Reply{Body: stream}
		}
		if status, _ := strconv.Atoi(found[1]); status != 0 {
			return &modeltest.Reply{Status: status, Header: map[string]string{"Retry-After": "1"}, Body: "{}"}
		}
		cut, _ := strconv.Atoi(found[2])
		cut = min(cut, len(stream))
		return &modeltest.Reply{Body: stream, Cut: &cut, Clean: found[3] == "true"}
	}
}

// modelFaults returns the faults for streams of at most n bytes: each kind of rejection, and a cut after
// every step bytes.
func modelFaults(n, step int) (all []modelFault) {
	for _, status := range []int{408, 429, 500, 502, 503, 529} {
		all = append(all, modelFault{status: status})
	}
	for cut := 0; cut <= n; cut += step {
		all = append(all, modelFault{cut: cut}, modelFault{cut: cut, clean: true})
	}
	return all
}

// A provider may limit the rate, fail, or cut the connection after any byte. No run is lost, and no run
// replies or asks twice.
func TestEachRunEndsOnceInSpiteOfModelFaults(t *testing.T) {
	const input = `{"question": "Which colour?", "options": ["red", "green"]}`
	half := len(input) / 2
	for name, p := range map[string]struct {
		server     func(testing.TB) *modeltest.Server
		model      func(url string) (agent.Model, error)
		asks, ends string
	}{
		"anthropic": {
			anthropictest.New,
			func(url string) (agent.Model, error) {
				return anthropic.New("claude-test", modeltest.Key, &anthropic.Options{BaseURL: url})
			},
			anthropictest.Stream("tool_use", anthropictest.Text("I have ", "a “question”."),
				anthropictest.ToolUse("toolu_1", "ask_user_question", input[:half], input[half:])),
			anthropictest.Stream("end_turn", anthropictest.Text("It is ", "red.")),
		},
		"openai": {
			openaitest.New,
			func(url string) (agent.Model, error) {
				return openai.New("gpt-test", modeltest.Key, &openai.Options{BaseURL: url})
			},
			openaitest.Stream("tool_calls", openaitest.Text("I have ", "a “question”."),
				openaitest.Call(0, "call_1", "ask_user_question", input[:half], input[half:])),
			openaitest.Stream("stop", openaitest.Text("It is ", "red.")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := p.server(t)
			(&modelFake{asks: p.asks, ends: p.ends, attempts: map[string]int{}}).fail(s)
			m, err := p.model(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			step := 13
			if os.Getenv("ASKBACK_LONG") != "" {
				step = 1
			}
			runFaultyModel(t, m, modelFaults(max(len(p.asks), len(p.ends)), step))
		})
	}
}

// runFaultyModel runs an agent once for each fault, and requires that all runs are equal.
func runFaultyModel(t *testing.T, m agent.Model, faults []modelFault) {
	t.Helper()
	runner, err := agent.NewRunner(agent.Definition{
		Name: "painter", Prompt: "You paint.", Model: m, Tools: []string{agent.AskUserQuestion},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(memstore.New(), &engine.Options{Runner: runner, MaxOpen: 2 * len(faults)})
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = e.Run(ctx) })
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	open := map[string]modelFault{}
	for _, f := range faults {
		s, err := ana.Start(ctx, askback.SessionRequest{Agent: "painter", Prompt: f.String()})
		if err != nil {
			t.Fatal(err)
		}
		open[s.ID] = f
	}
	all := len(open)
	replies, asks := map[string]int{}, map[string]int{}
	for ev, err := range ana.Events(ctx, "", askback.Beginning) {
		if err != nil {
			t.Fatalf("%d of %d runs have not ended, such as %v: %v", len(open), all, anyFault(open), err)
		}
		switch {
		case ev.Type == askback.EventMessage && strings.Contains(string(ev.Data), `"assistant"`):
			replies[ev.SessionID]++
		case ev.Type == askback.EventQuestionPending:
			asks[ev.SessionID]++
			page, err := ana.List(ctx, askback.Query{SessionID: ev.SessionID})
			if err != nil || len(page.Items) != 1 {
				t.Fatalf("%v: %d open asks, %v", open[ev.SessionID], len(page.Items), err)
			}
			if _, err := ana.Answer(ctx, page.Items[0].ID, askback.Choose("red")); err != nil {
				t.Fatal(err)
			}
		case ev.Type.EndsSession():
			s, err := ana.Session(ctx, ev.SessionID)
			if err != nil || s.Status != askback.SessionCompleted ||
				!strings.Contains(string(s.Result), "It is red.") ||
				replies[s.ID] != 2 || asks[s.ID] != 1 || s.AsksTotal != 1 {
				t.Fatalf("%v: %s %s %s after %d replies and %d asks, %v", open[ev.SessionID], s.Status, s.Result,
					s.Error, replies[s.ID], asks[s.ID], err)
			}
			delete(open, ev.SessionID)
		}
		if len(open) == 0 {
			return
		}
	}
}

func anyFault(open map[string]modelFault) modelFault {
	for _, f := range open {
		return f
	}
	return modelFault{}
}
