package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	// laggingCursor is the mutant that continues a stream one event too early.
	laggingCursor = "lagging-cursor"
	// skippingCursor is the mutant that continues a stream one event too late.
	skippingCursor = "skipping-cursor"
	// earlyEvent is the mutant that sends an event which is then never committed, as if a kill
	// had prevented the commit.
	earlyEvent = "event-before-commit"
	// staleEvent is the mutant that sends an event without its outcome.
	staleEvent = "stale-event"
)

// mutantStream returns a function that wraps the transport between followers and server, or nil if the mutant
// needs no such function.
func mutantStream(mutant string) func(http.RoundTripper) http.RoundTripper {
	switch mutant {
	case laggingCursor, skippingCursor, earlyEvent, staleEvent:
		return func(on http.RoundTripper) http.RoundTripper {
			return &streamMutator{on: on, mutant: mutant, before: map[string]string{}}
		}
	}
	return nil
}

// A mutant changes one in connectionsPerFault connections or one in framesPerFault frames.
const (
	connectionsPerFault = 5
	framesPerFault      = 20
)

// A streamMutator changes the responses of event streams. It counts connections and
// frames, so that its effect does not depend on chance.
type streamMutator struct {
	on     http.RoundTripper
	mutant string

	mu     sync.Mutex
	before map[string]string // the previous cursor, keyed by path and cursor
	count  int               // connections or frames so far
	missed bool              // a connection that was to be mutated failed
}

// isDue counts a connection or frame, and reports whether to mutate it.
func (t *streamMutator) isDue(interval int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	due := t.missed || t.count%interval == 0
	t.missed = false
	return due
}

// miss makes the next connection due, because a killed server refused a connection that was due. Otherwise
// the due connections might be refused for a long time.
func (t *streamMutator) miss() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed = true
}

// RoundTrip implements [http.RoundTripper].
func (t *streamMutator) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/events") {
		return t.on.RoundTrip(r)
	}
	at := r.Header.Get("Last-Event-ID")
	before, ok := t.cursorBefore(r.URL.Path, at)
	lags := ok && t.mutant == laggingCursor && t.isDue(connectionsPerFault)
	if lags {
		r = r.Clone(r.Context())
		r.Header.Set("Last-Event-ID", before)
	}
	res, err := t.on.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		if lags {
			t.miss()
		}
		return res, err
	}
	res.Body = &mutatedStream{
		Closer: res.Body, in: bufio.NewReader(res.Body), streamMutator: t, path: r.URL.Path,
		last: at, skip: at != "" && t.mutant == skippingCursor && t.isDue(connectionsPerFault),
	}
	return res, nil
}

func (t *streamMutator) cursorBefore(path, at string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, ok := t.before[path+" "+at]
	return before, ok && before != ""
}

func (t *streamMutator) recordCursor(path, before, at string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before[path+" "+at] = before
}

// A mutatedStream is the body of an event stream in which some frames are changed, added or left out.
type mutatedStream struct {
	io.Closer
	in            *bufio.Reader
	out           bytes.Buffer
	streamMutator *streamMutator
	path          string
	last          string
	skip          bool
}

func (t *mutatedStream) Read(p []byte) (int, error) {
	for t.out.Len() == 0 {
		frame, err := wholeFrame(t.in)
		if err != nil {
			return 0, err
		}
		t.pass(frame)
	}
	return t.out.Read(p)
}

func wholeFrame(in *bufio.Reader) (frame []byte, err error) {
	for {
		line, err := in.ReadBytes('\n')
		if frame = append(frame, line...); err != nil || len(line) == 1 {
			return frame, err
		}
	}
}

var (
	frameID  = regexp.MustCompile(`(?m)^id: (.*)$`)
	frameSeq = regexp.MustCompile(`"seq":\d+`)
	outcome  = regexp.MustCompile(`"outcome":\{.*\}\}\}`)
)

// pass writes a frame to t.out: unchanged, changed, followed by an event that is never
// committed, or not at all.
func (t *mutatedStream) pass(frame []byte) {
	id := frameID.FindSubmatch(frame)
	if id == nil || bytes.Contains(frame, []byte("event: snapshot")) {
		t.out.Write(frame)
		return
	}
	t.streamMutator.recordCursor(t.path, t.last, string(id[1]))
	t.last = string(id[1])
	switch {
	case t.skip:
		t.skip = false
		return
	case t.streamMutator.mutant == staleEvent && outcome.Match(frame) && t.streamMutator.isDue(framesPerFault):
		frame = outcome.ReplaceAll(frame, []byte(`"outcome":null}}`))
	}
	t.out.Write(frame)
	if t.streamMutator.mutant == earlyEvent && t.streamMutator.isDue(framesPerFault) {
		t.out.Write(frameSeq.ReplaceAllFunc(frame, func(seq []byte) []byte {
			n, _ := strconv.Atoi(string(seq[len(`"seq":`):]))
			return []byte(`"seq":` + strconv.Itoa(n+1))
		}))
	}
}
