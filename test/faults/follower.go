package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

const (
	// A follower closes most connections after a random number of bytes up to maxRead, or a random time up to
	// maxFollowTime. A stream can therefore end anywhere in a frame.
	maxRead       = 64 << 10
	maxFollowTime = 60 * time.Millisecond
)

// An entry is one event that a follower received.
type entry struct {
	session, kind string
	seq           int64             // sequence number in the session
	sum           [sha256.Size]byte // hash of the whole event
}

func (h entry) String() string { return fmt.Sprintf("%s %d %s", h.session, h.seq, h.kind) }

// pageURL matches the address of a page in an event, which differs between servers.
var pageURL = regexp.MustCompile(`"page_url":(null|"[^"]*"),?`)

// settledEvents are the types of events with an outcome.
var settledEvents = map[string]bool{
	"question_answered": true, "question_declined": true, "question_cancelled": true, "question_expired": true,
}

// A frame is one server-sent event. It is parsed without [httpapi.Client], which is under
// test too.
type frame struct {
	id, event string
	data      []byte
}

// A record contains the events that one reader received over all its connections. It
// detects missing, repeated and invalid events.
type record struct {
	name    string
	session string // "" for all sessions

	mu    sync.Mutex
	all   []entry
	last  map[string]int64 // last sequence number of each session
	start string           // cursor of the snapshot
	ended map[string]bool  // sessions whose final message the reader has received
	cuts  int
	bad   []violation
}

func newRecord(name string) *record {
	return &record{name: name, last: map[string]int64{}, ended: map[string]bool{}}
}

// add adds an event, with its cursor as id. It records a violation if the event is invalid,
// or does not have the next sequence number of its session.
func (r *record) add(id, event string, data []byte) {
	var e struct {
		Seq     int64           `json:"seq"`
		Session string          `json:"session_id"`
		Type    string          `json:"type"`
		Data    json.RawMessage `json:"data"`
	}
	data = bytes.TrimSpace(data)
	err := json.Unmarshal(data, &e)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil || id == "" || event != e.Type:
		r.violate(inconsistent, "received %q as %s: %v", data, event, err)
		return
	case event == "snapshot" && r.start == "":
		r.start = id
		return
	case event == "snapshot":
		r.violate(lost, "reconnected with a cursor and received a snapshot, after %d events", len(r.all))
		return
	}
	if settledEvents[event] && bytes.HasSuffix(e.Data, []byte(`"outcome":null}`)) {
		r.violate(lost, "received %s %d %s without its outcome", e.Session, e.Seq, event)
	}
	h := entry{e.Session, e.Type, e.Seq, sha256.Sum256(pageURL.ReplaceAll(data, nil))}
	switch last := r.last[e.Session]; {
	case e.Seq <= last:
		r.violate(duplicated, "received %s after number %d", h, last)
	case e.Seq > last+1:
		r.violate(lost, "received %s after number %d", h, last)
	}
	r.last[e.Session] = e.Seq
	r.all = append(r.all, h)
	if event == "message" && bytes.Contains(e.Data, []byte(finalMessage)) {
		r.ended[e.Session] = true
	}
}

func (r *record) violate(f fault, format string, args ...any) {
	r.bad = append(r.bad, violated(f, r.name+" "+format, args...))
}

// status returns the number of events, and reports whether there are no
// violations.
func (r *record) status() (events int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all), len(r.bad) == 0
}

func (r *record) hasBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.start != ""
}

// hasEnded reports whether the final message of the session was received. For a reader of all sessions, it
// reports whether the final messages of all followed sessions were received.
func (r *record) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ended) == streamCount || r.session != "" && r.ended[r.session]
}

// A follower reads a stream with net/http. It cuts the connection repeatedly
// and continues at its last cursor.
type follower struct {
	*record
	conn  *connection
	path  string
	token string
	rand  *rand.Rand
	at    string
}

// run follows the stream until ctx is done or there is a violation.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, ok := f.status(); !ok {
			return
		}
		s, httpClient, err := f.conn.connect(ctx)
		if err == nil {
			err = f.follow(ctx, s, httpClient)
		}
		if err != nil {
			f.conn.reset(s)
			_ = pause.For(ctx, retryPause)
		}
	}
}

// follow reads from one connection until it is cut. It returns an error if the server does
// not respond with the stream.
func (f *follower) follow(ctx context.Context, s instance.Server, httpClient *http.Client) error {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	limit := int64(1) << 40
	switch f.rand.IntN(4) {
	case 0:
		defer time.AfterFunc(randomDuration(f.rand, maxFollowTime), cut).Stop()
	case 1, 2:
		limit = 1 + f.rand.Int64N(maxRead)
	}
	req, err := f.request(ctx, s.URL)
	if err != nil {
		return err
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return f.unexpectedStatus(res)
	}
	f.read(io.LimitReader(res.Body, limit))
	return nil
}

// request returns the request for the stream, with the cursor in the header or
// in the query.
func (f *follower) request(ctx context.Context, server string) (*http.Request, error) {
	address, inQuery := server+f.path, f.rand.IntN(3) == 0
	if f.at != "" && inQuery {
		address += "?after=" + f.at
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	if f.at != "" && !inQuery {
		req.Header.Set("Last-Event-ID", f.at)
	}
	return req, nil
}

// unexpectedStatus returns an error with the status. It records a violation unless the
// status is 503, which a starting or stopping server sends.
func (f *follower) unexpectedStatus(res *http.Response) error {
	if res.StatusCode != http.StatusServiceUnavailable {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.violate(failed, "got %s: %s", res.Status, said)
	}
	return fmt.Errorf("refused: %s", res.Status)
}

// read adds the complete frames of a response. It drops a last frame that is truncated.
func (f *follower) read(body io.Reader) {
	in := bufio.NewReader(body)
	for {
		t, err := readFrame(in)
		if err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cuts++
			return
		}
		if len(t.data) > 0 {
			f.add(t.id, t.event, t.data)
			f.at = t.id
		}
	}
}

// readFrame reads and returns a frame, which ends with an empty line.
func readFrame(in *bufio.Reader) (t frame, err error) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return t, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			return t, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "id":
			t.id = string(value)
		case "event":
			t.event = string(value)
		case "data":
			t.data = value
		}
	}
}
