package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

const (
	// streamCount is the number of sessions that are followed, each by a separate stream.
	streamCount = 8
	// finalMessage is sent to each session at the end.
	finalMessage = "final message"
	// maxServeTimeStreams is the maximum lifetime of a server. It is long enough for most followers to
	// reconnect.
	maxServeTimeStreams = 300 * time.Millisecond
	// The test fails if a follower is incomplete and no follower receives an event for
	// stallTimeout.
	stallTimeout = 40 * time.Second
)

// A streamTest kills the server repeatedly while clients write and follow event
// streams. Each follower must receive every event once and in order (F11).
type streamTest struct {
	serverProcess
	mutant     string
	rand       *rand.Rand
	seed       uint64
	clientPool *clientPool
	agent      account
	person     account
	reader     account
	streams    []stream
	sentTexts  *sentTexts
	records    []*record
	begun      int // number of events before the followers started
	kills      int
	lines      int
	bad        []violation
}

func newStreamTest(dir, program string, seed uint64, mutant string) (*streamTest, error) {
	s := &streamTest{
		serverProcess: newServerProcess(dir, program, "streams.db"), mutant: mutant,
		rand: rand.New(rand.NewPCG(seed, 4)), seed: seed, sentTexts: newSentTexts(),
	}
	place, err := instance.At(s.path)
	if err != nil {
		return nil, err
	}
	s.clientPool = &clientPool{conn: &connection{place: place}, seed: seed, ackLog: newAckLog()}
	return s, nil
}

// run kills the server at least n times, or until there is a violation. Without a
// violation, it then compares the received events with the history.
func (s *streamTest) run(ctx context.Context, n int) error {
	if err := s.createTokens(ctx); err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	err := s.write(ctx, n, func() { s.follow(following, &readers) })
	stop()
	readers.Wait()
	for _, r := range s.records {
		s.bad = append(s.bad, r.bad...)
	}
	s.bad = append(s.bad, s.clientPool.bad...)
	if err != nil || ctx.Err() != nil || len(s.bad) > 0 {
		return errors.Join(err, ctx.Err())
	}
	return s.compare(ctx)
}

func (s *streamTest) createTokens(ctx context.Context) (err error) {
	for _, who := range []struct {
		to   *account
		kind askback.Kind
		name string
	}{{&s.agent, askback.Agent, "ada"}, {&s.person, askback.Responder, "ana"}, {&s.reader, askback.Responder, "rea"}} {
		if *who.to, err = s.token(ctx, who.kind, who.name); err != nil {
			return err
		}
	}
	return nil
}

// write runs the writers while servers are killed. The last server runs until
// all followers have received the final messages.
func (s *streamTest) write(ctx context.Context, n int, follow func()) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var writers sync.WaitGroup
	err := s.serve(ctx, func() {
		if s.startSessions(ctx); s.ok(ctx) {
			follow()
			s.until(ctx, (*record).hasBegun)
			s.writers(working, &writers)
			s.while(ctx)
		}
	})
	for err == nil && s.kills < n && s.ok(ctx) {
		err = s.serve(ctx, func() { s.while(ctx) })
	}
	if err != nil || !s.ok(ctx) {
		stop()
		writers.Wait()
		return err
	}
	return s.serve(ctx, func() {
		stop()
		writers.Wait()
		s.close(ctx)
		s.until(ctx, (*record).hasEnded)
	})
}

func (s *streamTest) while(ctx context.Context) {
	_ = pause.For(ctx, randomDuration(s.rand, maxServeTimeStreams))
}

// serve starts a server, calls during when the server is ready, and kills the server.
func (s *streamTest) serve(ctx context.Context, during func()) error {
	c, err := s.start(ctx)
	if err != nil {
		return err
	}
	if _, err := s.clientPool.conn.place.Find(ctx, readyTime); err != nil && ctx.Err() == nil {
		s.bad = append(s.bad, violated(failed, "the server did not start: %v", err))
	} else if err == nil {
		during()
	}
	code, err := c.end(func([]byte) {})
	s.kills++
	if code >= 0 && ctx.Err() == nil {
		s.bad = append(s.bad,
			violated(failed, "a server ended with code %d before it was killed: %s", code, c.notes.String()))
	}
	return err
}

// startSessions starts the sessions that are followed.
func (s *streamTest) startSessions(ctx context.Context) {
	for i := range streamCount {
		key := fmt.Sprintf("stream %d", i)
		made, _, err := call(ctx,
			s.clientPool.conn, s.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
				return c.Start(ctx, askback.SessionRequest{Key: key})
			})
		if !s.clientPool.noError(ctx, "start "+key, err) {
			return
		}
		s.streams = append(s.streams, stream{key, made.ID})
		s.begun++
	}
}

// follow starts two followers of all sessions, and a follower of each session. Every second follower of a
// session has the token of the agent.
func (s *streamTest) follow(ctx context.Context, readers *sync.WaitGroup) {
	httpClient := &connection{place: s.clientPool.conn.place, wrap: mutantStream(s.mutant)}
	chance := func(i int) *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(1000+i))) }
	all := &follower{
		record: s.record("the follower of all", ""), conn: httpClient, path: "/api/v1/events", token: s.reader.token,
		rand: chance(0),
	}
	client := &clientFollower{
		record: s.record("the client follower of all", ""), conn: httpClient, token: s.reader.token, rand: chance(1),
	}
	readers.Go(func() { all.run(ctx) })
	readers.Go(func() { client.run(ctx) })
	for i, one := range s.streams {
		f := &follower{
			record: s.record("the follower of "+one.id, one.id), conn: httpClient,
			path: "/api/v1/sessions/" + one.id + "/events", token: []string{s.reader.token, s.agent.token}[i%2],
			rand: chance(2 + i),
		}
		readers.Go(func() { f.run(ctx) })
	}
}

// record returns a new record for a follower. The followed sessions begin with their
// second event, because they were started before the followers.
func (s *streamTest) record(name, session string) *record {
	r := newRecord(name)
	r.session = session
	for _, one := range s.streams {
		r.last[one.id] = 1 // session_started
	}
	s.records = append(s.records, r)
	return r
}

func (s *streamTest) writers(ctx context.Context, writers *sync.WaitGroup) {
	for i := range writerCount {
		w := &writer{
			person: person{clientPool: s.clientPool, account: s.person, rand: rand.New(rand.NewPCG(s.seed, uint64(i)))},
			number: i, agent: s.agent, streams: s.streams, sentTexts: s.sentTexts,
		}
		writers.Go(func() { w.run(ctx) })
	}
}

// close sends the final message to each session.
func (s *streamTest) close(ctx context.Context) {
	w := &writer{person: person{clientPool: s.clientPool}, sentTexts: s.sentTexts}
	for _, one := range s.streams {
		said := finalMessage + " to " + one.key
		w.send(ctx, s.person, one.id, said, askback.SendMessage{Text: said})
	}
}

// ok reports whether there are no violations and ctx is not done.
func (s *streamTest) ok(ctx context.Context) bool {
	for _, r := range s.records {
		if _, ok := r.status(); !ok {
			return false
		}
	}
	return ctx.Err() == nil && len(s.bad) == 0 && s.clientPool.ok()
}

// until waits until a condition is true for all records. It is a violation if no record
// receives an event for stallTimeout.
func (s *streamTest) until(ctx context.Context, so func(*record) bool) {
	before, limit := 0, time.Now().Add(stallTimeout)
	for s.ok(ctx) {
		now, missing := 0, ""
		for _, r := range s.records {
			events, _ := r.status()
			if now += events; !so(r) {
				missing = r.name
			}
		}
		switch {
		case missing == "":
			return
		case now > before:
			before, limit = now, time.Now().Add(stallTimeout)
		case time.Now().After(limit):
			s.bad = append(s.bad, violated(lost, "%s received no event for %s", missing, stallTimeout))
		}
		_ = pause.For(ctx, retryPause)
	}
}

func (s *streamTest) report() report {
	events, cuts := 0, 0
	for _, r := range s.records {
		events, cuts = events+len(r.all), cuts+r.cuts
	}
	detail := fmt.Sprintf(
		"%d readers, %d cut connections, %d events received; %d stored events and %d acknowledgements compared",
		len(s.records), cuts, events, s.lines, s.clientPool.ackLog.acks+len(s.sentTexts.acked))
	return report{noun: "kills", what: "of the server with event streams", n: s.kills, detail: detail, bad: s.bad}
}
