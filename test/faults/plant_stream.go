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

// A tamper spoils one in so many of the connections or frames that its fault can
// be planted in. It counts them, so that whether it spoils any is no matter of
// chance.
const (
	connectionsPerFault = 5
	framesPerFault      = 20
)

type tamper struct {
	on    http.RoundTripper
	plant string

	mu     sync.Mutex
	before map[string]string // the cursor before each, of one stream
	places int               // connections or frames that could be spoiled so far
}

// spoils reports whether the fault is planted here, in one of so many places.
func (t *tamper) spoils(each int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.places++
	return t.places%each == 0
}

// RoundTrip implements [http.RoundTripper].
func (t *tamper) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/events") {
		return t.on.RoundTrip(r)
	}
	at := r.Header.Get("Last-Event-ID")
	if before, ok := t.cursorBefore(r.URL.Path, at); ok && t.plant == laggingCursor && t.spoils(connectionsPerFault) {
		r = r.Clone(r.Context())
		r.Header.Set("Last-Event-ID", before)
	}
	res, err := t.on.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	res.Body = &tampering{
		Closer: res.Body, in: bufio.NewReader(res.Body), tamper: t, path: r.URL.Path,
		last: at, skip: at != "" && t.plant == skippingCursor && t.spoils(connectionsPerFault),
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
	switch {
	case t.skip:
		t.skip = false
		return
	case t.tamper.plant == staleWords && outcome.Match(frame) && t.tamper.spoils(framesPerFault):
		frame = outcome.ReplaceAll(frame, []byte(`"outcome":null}}`))
	}
	t.out.Write(frame)
	if t.tamper.plant == earlyEvent && t.tamper.spoils(framesPerFault) {
		t.out.Write(frameSeq.ReplaceAllFunc(frame, func(seq []byte) []byte {
			n, _ := strconv.Atoi(string(seq[len(`"seq":`):]))
			return []byte(`"seq":` + strconv.Itoa(n+1))
		}))
	}
}
