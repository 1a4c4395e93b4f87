package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	// laggingCursor is the planted fault of a stream that goes on one event too
	// early.
	laggingCursor = "lagging-cursor"
	// skippingCursor is the planted fault of a stream that goes on one event too
	// late.
	skippingCursor = "skipping-cursor"
	// earlyEvent is the planted fault of events that are told before their commit,
	// which a kill then prevents.
	earlyEvent = "event-before-commit"
	// staleWords is the planted fault of an event that tells less than was kept.
	staleWords = "stale-event"
)

// tampered returns what stands between those who follow and the server, if
// anything.
func tampered(plant string) func(http.RoundTripper) http.RoundTripper {
	switch plant {
	case laggingCursor, skippingCursor, earlyEvent, staleWords:
		return func(on http.RoundTripper) http.RoundTripper {
			return &tamper{on: on, plant: plant, before: map[string]string{}}
		}
	}
	return nil
}

// tamper spoils one connection or one frame in so many.
const tamperEach = 5

type tamper struct {
	on    http.RoundTripper
	plant string

	mu     sync.Mutex
	before map[string]string // the cursor before each, of one stream
}

// RoundTrip implements [http.RoundTripper].
func (t *tamper) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/events") {
		return t.on.RoundTrip(r)
	}
	at, spoil := r.Header.Get("Last-Event-ID"), rand.IntN(tamperEach) == 0
	if before, ok := t.cursorBefore(r.URL.Path, at); ok && spoil && t.plant == laggingCursor {
		r = r.Clone(r.Context())
		r.Header.Set("Last-Event-ID", before)
	}
	res, err := t.on.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	res.Body = &tampering{
		Closer: res.Body, in: bufio.NewReader(res.Body), tamper: t, path: r.URL.Path,
		last: at, skip: spoil && at != "" && t.plant == skippingCursor,
	}
	return res, nil
}

func (t *tamper) cursorBefore(path, at string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, ok := t.before[path+" "+at]
	return before, ok && before != ""
}

func (t *tamper) passed(path, before, at string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before[path+" "+at] = before
}

// tampering is a stream on its way.
type tampering struct {
	io.Closer
	in     *bufio.Reader
	out    bytes.Buffer
	tamper *tamper
	path   string
	last   string
	skip   bool
}

func (t *tampering) Read(p []byte) (int, error) {
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

// pass hands a frame on, spoiled or not.
func (t *tampering) pass(frame []byte) {
	id := frameID.FindSubmatch(frame)
	if id == nil || bytes.Contains(frame, []byte("event: snapshot")) {
		t.out.Write(frame)
		return
	}
	t.tamper.passed(t.path, t.last, string(id[1]))
	t.last = string(id[1])
	spoil := rand.IntN(100*tamperEach) == 0
	switch {
	case t.skip:
		t.skip = false
		return
	case spoil && t.tamper.plant == staleWords:
		frame = outcome.ReplaceAll(frame, []byte(`"outcome":null}}`))
	}
	t.out.Write(frame)
	if spoil && t.tamper.plant == earlyEvent {
		t.out.Write(frameSeq.ReplaceAllFunc(frame, func(seq []byte) []byte {
			n, _ := strconv.Atoi(string(seq[len(`"seq":`):]))
			return []byte(`"seq":` + strconv.Itoa(n+1))
		}))
	}
}
