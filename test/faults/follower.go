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

	"github.com/askback/askback/internal/instance"
)

const (
	// A follower reads so many bytes of a stream before it cuts it, wherever in
	// a frame that is, or so long.
	longestRead   = 64 << 10
	longestFollow = 60 * time.Millisecond
)

// A heard is one event as a follower was told it.
type heard struct {
	session, kind string
	seq           int64             // within the session
	sum           [sha256.Size]byte // of all that was said
}

func (h heard) String() string { return fmt.Sprintf("%s %d %s", h.session, h.seq, h.kind) }

// pageURL is where a page is now, which changes with the server.
var pageURL = regexp.MustCompile(`"page_url":(null|"[^"]*"),?`)

// endings are the events that tell an outcome.
var endings = map[string]bool{"question_answered": true, "question_declined": true, "question_cancelled": true, "question_expired": true}

// A telling is one frame. It is read by no code of Askback, whose client is on
// trial as well.
type telling struct {
	id, event string
	data      []byte
}

// A record is what one reader was told, in its order, however many connections
// that took. It knows at once when a number is missing or comes again.
type record struct {
	name    string
	session string // "" is all

	mu    sync.Mutex
	all   []heard
	last  map[string]int64 // the last number of each session
	start string           // the cursor of its snapshot
	ended map[string]bool  // sessions of which it has heard the last
	cuts  int
	bad   []violation
}

func newRecord(name string) *record {
	return &record{name: name, last: map[string]int64{}, ended: map[string]bool{}}
}

// hear takes one event. Numbers begin where the snapshot stood: at 1, but for
// the sessions that were there before.
func (r *record) hear(id, event string, data []byte) {
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
		r.wrong(torn, "was told %q as %s: %v", data, event, err)
		return
	case event == "snapshot" && r.start == "":
		r.start = id
		return
	case event == "snapshot":
		r.wrong(lost, "came back with a cursor and was told a snapshot, after %d events", len(r.all))
		return
	}
	if endings[event] && bytes.HasSuffix(e.Data, []byte(`"outcome":null}`)) {
		r.wrong(lost, "was told %s %d %s without its outcome", e.Session, e.Seq, event)
	}
	h := heard{e.Session, e.Type, e.Seq, sha256.Sum256(pageURL.ReplaceAll(data, nil))}
	switch last := r.last[e.Session]; {
	case e.Seq <= last:
		r.wrong(doubled, "was told %s after number %d", h, last)
	case e.Seq > last+1:
		r.wrong(lost, "was told %s after number %d", h, last)
	}
	r.last[e.Session] = e.Seq
	r.all = append(r.all, h)
	if event == "message" && bytes.Contains(e.Data, []byte(lastWords)) {
		r.ended[e.Session] = true
	}
}

func (r *record) wrong(f fault, format string, args ...any) {
	r.bad = append(r.bad, violated(f, r.name+" "+format, args...))
}

// stands says how much it was told, and whether nothing is wrong with it.
func (r *record) stands() (events int, fine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all), len(r.bad) == 0
}

func (r *record) hasBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.start != ""
}

// hasEnded says whether it heard the last words of all it follows.
func (r *record) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ended) == streamCount || r.session != "" && r.ended[r.session]
}

// A follower reads a stream with nothing but net/http, cuts it again and again,
// and comes back with the last cursor it has.
type follower struct {
	*record
	line  *line
	path  string
	token string
	rand  *rand.Rand
	at    string
}

// live follows until ctx ends, or something is wrong.
func (f *follower) live(ctx context.Context) {
	for ctx.Err() == nil {
		if _, fine := f.stands(); !fine {
			return
		}
		s, way, err := f.line.find(ctx)
		if err == nil {
			err = f.follow(ctx, s, way)
		}
		if err != nil {
			f.line.lose(s)
			_ = instance.Pause(ctx, retryPause)
		}
	}
}

// follow reads one connection until it is cut. An error says that the server
// does not answer.
func (f *follower) follow(ctx context.Context, s instance.Server, way *http.Client) error {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	limit := int64(1) << 40
	switch f.rand.IntN(4) {
	case 0:
		defer time.AfterFunc(upTo(f.rand, longestFollow), cut).Stop()
	case 1, 2:
		limit = 1 + f.rand.Int64N(longestRead)
	}
	req, err := f.request(ctx, s.URL)
	if err != nil {
		return err
	}
	res, err := way.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return f.refused(res)
	}
	f.read(io.LimitReader(res.Body, limit))
	return nil
}

// request asks for the stream, with the cursor in either place.
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

// refused writes down a refusal that no start and no end of a server explains.
func (f *follower) refused(res *http.Response) error {
	if res.StatusCode != http.StatusServiceUnavailable {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.wrong(failed, "got %s: %s", res.Status, said)
	}
	return fmt.Errorf("refused: %s", res.Status)
}

// read takes whole frames. What breaks off within one was never told.
func (f *follower) read(body io.Reader) {
	in := bufio.NewReader(body)
	for {
		t, err := readTelling(in)
		if err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cuts++
			return
		}
		if len(t.data) > 0 {
			f.hear(t.id, t.event, t.data)
			f.at = t.id
		}
	}
}

// readTelling reads lines up to an empty one.
func readTelling(in *bufio.Reader) (t telling, err error) {
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
