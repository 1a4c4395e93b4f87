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

// A fan is a server whose followers are all told when something is asked.
type fan interface {
	ask(ctx context.Context) (id string, err error)
	// stream is where it is followed: the address, the path and the token.
	stream() (address, path, token string)
	close() error
}

// fans in the order in which they are measured: the least that a durable ask and
// net/http can do, and Askback.
var fans = []struct {
	name string
	open func(ctx context.Context, path string) (fan, error)
}{{"bare", openBareFan}, {"askback", openProductFan}}

// A told is how long one event took until all who follow had it, the ask
// included that caused it.
type told struct {
	What    string  `json:"what"`
	Streams int     `json:"streams"`
	P50     spread  `json:"p50_ms"`
	Max     spread  `json:"max_ms"`
	OfBare  spread  `json:"of_bare"`
	Others  float64 `json:"others"`
}

// eventsEach is how many events are told in one round, and warmEvents how many
// before it.
const (
	eventsEach = 20
	warmEvents = 3
)

// A fanRound is what one fan did in one round.
type fanRound struct {
	fan    int // in fans
	took   []time.Duration
	others float64
}

// measureFanOut tells the same number of streams of one event after another,
// round by round. The order turns from round to round.
func measureFanOut(ctx context.Context, p plan, progress io.Writer) ([]told, error) {
	var rounds [][]fanRound
	patience := patience{p.patience}
	for n := range p.rounds {
		round := make([]fanRound, len(fans))
		for i := range fans {
			patience.wait(ctx)
			turn := (i + n) % len(fans)
			one, err := fanOut(ctx, p, turn)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", fans[turn].name, n+1, err)
			}
			round[turn] = one
		}
		rounds = append(rounds, round)
		fmt.Fprintf(progress, "bench: fan-out, round %d of %d\n", n+1, p.rounds)
	}
	var all []told
	for i := range fans {
		all = append(all, summed(rounds, i, p.followers))
	}
	return all, nil
}

// summed is one fan over all rounds; the ratio compares within a round.
func summed(rounds [][]fanRound, i, streams int) told {
	var p50s, maxes, of, loads []float64
	for _, r := range rounds {
		mine, bare := r[i].took, r[0].took
		p50s = append(p50s, millis(percentile(mine, 0.5)))
		maxes = append(maxes, millis(percentile(mine, 1)))
		of = append(of, millis(percentile(mine, 0.5))/millis(percentile(bare, 0.5)))
		loads = append(loads, r[i].others)
	}
	return told{fans[i].name, streams, spreadOf(p50s), spreadOf(maxes), spreadOf(of), spreadOf(loads).Median}
}

// fanOut opens one fan with its followers on a fresh database and lets it tell
// them of one ask after another.
func fanOut(ctx context.Context, p plan, i int) (r fanRound, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-fan-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := fans[i].open(ctx, filepath.Join(dir, "fan.db"))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	all, err := follow(ctx, f, p.followers)
	defer all.close()
	if err != nil {
		return r, err
	}
	if _, err := all.tell(ctx, f, warmEvents); err != nil {
		return r, err
	}
	usage, start := readUsage(), time.Now()
	took, err := all.tell(ctx, f, eventsEach)
	slices.Sort(took)
	return fanRound{i, took, usage.others(time.Since(start))}, err
}

// Followers read a stream each, and say so when they were told of an ask.
type followers struct {
	all  []net.Conn
	read sync.WaitGroup
	told chan struct{}
}

// toldLine begins the frame of an ask.
var toldLine = []byte("event: question_pending")

// follow opens the streams, and returns when all have their first frame.
func follow(ctx context.Context, f fan, n int) (*followers, error) {
	all := &followers{told: make(chan struct{}, n)}
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
		all.read.Go(func() { all.listen(conn, begun) })
	}
	for range n {
		if err := <-begun; err != nil {
			return all, err
		}
	}
	return all, nil
}

// listen reads one stream to its end. Its first frame is a snapshot.
func (f *followers) listen(conn net.Conn, begun chan<- error) {
	in := bufio.NewReader(conn)
	first := true
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if first {
				begun <- fmt.Errorf("a stream ended before it began: %w", err)
			}
			return
		}
		switch {
		case bytes.HasPrefix(line, []byte("event: snapshot")) && first:
			first = false
			begun <- nil
		case bytes.HasPrefix(line, toldLine):
			f.told <- struct{}{}
		}
	}
}

// patienceEach is how long one event may take, before something is wrong.
const patienceEach = time.Minute

// tell asks one thing after another, and returns how long each took until all
// who follow were told.
func (f *followers) tell(ctx context.Context, by fan, n int) (took []time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Duration(n)*patienceEach)
	defer stop()
	for range n {
		start := time.Now()
		if _, err := by.ask(ctx); err != nil {
			return took, err
		}
		for range f.all {
			select {
			case <-f.told:
			case <-ctx.Done():
				return took, fmt.Errorf("not all were told: %w", ctx.Err())
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

// goalEach is how long one of those who follow may take, of all: 100 000 in 3 s.
const goalEach = 30 * time.Microsecond

// printFanOut prints how long one event takes to all who follow.
func printFanOut(w io.Writer, p plan, all []told) error {
	fmt.Fprintf(w, "\nOne event to all who follow, from the ask that causes it until the last has it. Median of %d rounds of %d events [min..max].\n", p.rounds, eventsEach)
	t := newTable(w)
	fmt.Fprintln(t, "streams\twhat\tp50 ms\tslowest ms\tgoal ms\tof bare\tothers' load")
	for _, f := range all {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t≤ %s\t%s\t%.2f\n",
			f.Streams, f.What, f.P50, f.Max, short(millis(time.Duration(f.Streams)*goalEach)), f.OfBare, f.Others)
	}
	return t.Flush()
}
