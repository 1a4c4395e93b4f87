// Eino runs the cycle on CloudWeGo Eino: the node of a graph interrupts, and its checkpoint is stored in
// SQLite. A POST request with the first answer to a question stores the answer, and resumes the graph. The
// graph runs in this process.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback/test/bench/peers/cycle"
	"github.com/cloudwego/eino/compose"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "eino:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s, err := openStore(ctx, filepath.Join(cycle.Folder(), "eino.db"))
	if err != nil {
		return err
	}
	p := &peer{store: s, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	if p.graph, err = p.compile(ctx); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.url = "http://" + ln.Addr().String()
	go func() { _ = http.Serve(ln, http.HandlerFunc(p.handle)) }()
	return cycle.Serve(cycle.Peer{
		Version: cycle.Version("github.com/cloudwego/eino"),
		Ask:     func(id string) (<-chan time.Time, error) { return p.ask(ctx, id) },
		Answer:  p.answer,
	})
}

// A peer runs a graph. waiting has a channel for each run that waits, and interrupts has the id of the
// interrupt of each run. The keys of both maps are the ids of the runs.
type peer struct {
	store               *store
	graph               compose.Runnable[string, string]
	http                *http.Client
	url                 string
	waiting, interrupts sync.Map
}

// A reply is the value with which a run is resumed.
type reply struct{ id, answer string }

func (p *peer) compile(ctx context.Context) (compose.Runnable[string, string], error) {
	g := compose.NewGraph[string, string]()
	err := g.AddLambdaNode("ask", compose.InvokableLambda(func(ctx context.Context, _ string) (string, error) {
		if resumed, has, r := compose.GetResumeContext[reply](ctx); resumed && has {
			if has, ok := p.waiting.LoadAndDelete(r.id); ok {
				has.(chan time.Time) <- time.Now()
			}
			return r.answer, nil
		}
		return "", compose.Interrupt(ctx, string(cycle.Question))
	}))
	if err := errors.Join(err, g.AddEdge(compose.START, "ask"), g.AddEdge("ask", compose.END)); err != nil {
		return nil, err
	}
	return g.Compile(ctx, compose.WithCheckPointStore(p.store))
}

// ask runs the graph until it interrupts and its checkpoint is stored.
func (p *peer) ask(ctx context.Context, id string) (<-chan time.Time, error) {
	has := make(chan time.Time, 1)
	p.waiting.Store(id, has)
	_, err := p.graph.Invoke(ctx, id, compose.WithCheckPointID(id))
	info, ok := compose.ExtractInterruptInfo(err)
	if !ok {
		return nil, errors.Join(errors.New("the graph was not interrupted"), err)
	}
	p.interrupts.Store(id, info.InterruptContexts[0].ID)
	return has, nil
}

func (p *peer) answer(id string) error {
	res, err := p.http.Post(p.url+"/answer?id="+id, "application/json", bytes.NewReader(cycle.Answer))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, text)
	}
	return err
}

// handle stores an answer and resumes its run.
func (p *peer) handle(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	answer, err := io.ReadAll(r.Body)
	if err == nil {
		err = p.resume(r.Context(), id, answer)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	_, _ = io.WriteString(w, `{"ok":true}`)
}

func (p *peer) resume(ctx context.Context, id string, answer []byte) error {
	first, err := p.store.settle(id, answer)
	if err != nil {
		return err
	}
	if !first {
		return errors.New("the question is already answered")
	}
	interrupt, ok := p.interrupts.LoadAndDelete(id)
	if !ok {
		return errors.New("there is no such question")
	}
	ctx = compose.ResumeWithData(ctx, interrupt.(string), reply{id, string(answer)})
	_, err = p.graph.Invoke(ctx, "", compose.WithCheckPointID(id))
	return err
}
