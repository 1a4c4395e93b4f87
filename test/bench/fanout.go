package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A streamServer is a server that sends an event to all followers of its stream
// for each ask.
type streamServer interface {
	ask(ctx context.Context) (id string, err error)
	// stream returns the address, path and token of the stream.
	stream() (address, path, token string)
	close() error
}

// streamServers lists the servers to measure, in the order of the results.
var streamServers = []struct {
	name string
	open func(ctx context.Context, path string) (streamServer, error)
}{{"bare", openBareStreamServer}, {"askback", openProductStreamServer}}

// A fanOutResult contains the times from an ask until all followers have
// received its event, over all rounds of one server.
type fanOutResult struct {
	What    string  `json:"what"`
	Streams int     `json:"streams"`
	P50     spread  `json:"p50_ms"`
	Max     spread  `json:"max_ms"`
	OfBare  spread  `json:"of_bare"`
	Others  float64 `json:"others"`
}

// eventsPerRound is how many events are measured in a round, after warmEvents
// events.
const (
	eventsPerRound = 20
	warmEvents     = 3
)

// A streamRound is the result of one server in one round.
type streamRound struct {
	streamServer int // index in streamServers
	took         []time.Duration
	others       float64
}

// measureFanOut measures all servers in each round, with the same number of streams. The order of the servers
// rotates.
func measureFanOut(ctx context.Context, p plan, progress io.Writer) ([]fanOutResult, error) {
	var rounds [][]streamRound
	patience := patience{p.patience}
	for n := range p.rounds {
		round := make([]streamRound, len(streamServers))
		for i := range streamServers {
			patience.wait(ctx)
			turn := (i + n) % len(streamServers)
			one, err := measureStreams(ctx, p, turn)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", streamServers[turn].name, n+1, err)
			}
			round[turn] = one
		}
		rounds = append(rounds, round)
		fmt.Fprintf(progress, "bench: fan-out, round %d of %d\n", n+1, p.rounds)
	}
	var all []fanOutResult
	for i := range streamServers {
		all = append(all, summarize(rounds, i, p.followers))
	}
	return all, nil
}

// summarize returns the results of one server over all rounds. The ratio to
// bare is computed within each round.
func summarize(rounds [][]streamRound, i, streams int) fanOutResult {
	var p50s, maxes, of, loads []float64
	for _, r := range rounds {
		mine, bare := r[i].took, r[0].took
		p50s = append(p50s, millis(percentile(mine, 0.5)))
		maxes = append(maxes, millis(percentile(mine, 1)))
		of = append(of, millis(percentile(mine, 0.5))/millis(percentile(bare, 0.5)))
		loads = append(loads, r[i].others)
	}
	return fanOutResult{
		streamServers[i].name, streams, spreadOf(p50s), spreadOf(maxes), spreadOf(of), spreadOf(loads).Median,
	}
}

// measureStreams opens one server with its followers on a new database, and
// measures one ask after another.
func measureStreams(ctx context.Context, p plan, i int) (r streamRound, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-fan-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := streamServers[i].open(ctx, filepath.Join(dir, "fan.db"))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	all, err := follow(ctx, f, p.followers)
	defer all.close()
	if err != nil {
		return r, err
	}
	if _, err := all.ask(ctx, f, warmEvents); err != nil {
		return r, err
	}
	usage, start := readUsage(), time.Now()
	took, err := all.ask(ctx, f, eventsPerRound)
	slices.Sort(took)
	return streamRound{i, took, usage.others(time.Since(start))}, err
}

// followers reads one stream on many connections, and reports each event about an ask that arrives on a
// connection.
type followers struct {
	all      []net.Conn
	read     sync.WaitGroup
	received chan struct{}
}

// askEventLine is the line with the type in the frame of an event about an ask.
var askEventLine = []byte("event: question_pending")

// follow opens the streams, and returns when each stream has received its first frame.
func follow(ctx context.Context, f streamServer, n int) (*followers, error) {
	all := &followers{received: make(chan struct{}, n)}
	address, path, token := f.stream()
	at, err := url.Parse(address)
	if err != nil {
		return all, err
	}
	begun := make(chan error, n)
	var d net.Dialer
	for range n {
		conn, err := d.DialContext(ctx, "tcp", at.Host)
		if err != nil {
			return all, err
		}
		all.all = append(all.all, conn)
		if err := get(conn, at.Host, path, token); err != nil {
			return all, err
		}
		all.read.Go(func() { all.readStream(conn, begun) })
	}
	for range n {
		if err := <-begun; err != nil {
			return all, err
		}
	}
	return all, nil
}

// readStream reads one stream to its end. It sends the result of the first
// frame, a snapshot, to begun.
func (f *followers) readStream(conn net.Conn, begun chan<- error) {
	in := bufio.NewReader(conn)
	first := true
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if first {
				begun <- fmt.Errorf("the stream ended before its first frame: %w", err)
			}
			return
		}
		switch {
		case bytes.HasPrefix(line, []byte("event: snapshot")) && first:
			first = false
			begun <- nil
		case bytes.HasPrefix(line, askEventLine):
			f.received <- struct{}{}
		}
	}
}

// eventTimeout is how long one event may take on average before it counts as
// lost.
const eventTimeout = time.Minute

// ask makes one ask after another, and returns for each ask the time until all followers have received its
// event.
func (f *followers) ask(ctx context.Context, by streamServer, n int) (took []time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Duration(n)*eventTimeout)
	defer stop()
	for range n {
		start := time.Now()
		if _, err := by.ask(ctx); err != nil {
			return took, err
		}
		for range f.all {
			select {
			case <-f.received:
			case <-ctx.Done():
				return took, fmt.Errorf("not all followers received the event: %w", ctx.Err())
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

func (f *followers) close() {
	for _, conn := range f.all {
		_ = conn.Close()
	}
	f.read.Wait()
}

// goalPerFollower is the goal for the time of one event, per follower: 3 s for
// 100 000 followers.
const goalPerFollower = 30 * time.Microsecond

// printFanOut prints how long one event takes to reach all followers.
func printFanOut(w io.Writer, p plan, all []fanOutResult) error {
	fmt.Fprintf(w, "\nOne event to all followers, from the ask until the last of them has received it. Median of %d "+
		"rounds of %d events [min..max].\n", p.rounds, eventsPerRound)
	t := newTable(w)
	fmt.Fprintln(t, "streams\twhat\tp50 ms\tslowest ms\tgoal ms\tof bare\tothers' load")
	for _, f := range all {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t≤ %s\t%s\t%.2f\n",
			f.Streams, f.What, f.P50, f.Max, short(millis(time.Duration(f.Streams)*goalPerFollower)), f.OfBare,
			f.Others)
	}
	return t.Flush()
}
