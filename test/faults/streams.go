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
	"github.com/askback/askback/internal/instance"
)

const (
	// streamCount is how many sessions are followed, each by a stream of its own.
	streamCount = 8
	// lastWords are said to each of them at the end.
	lastWords = "these are the last words"
	// longestStream is how long a server lives at the most: long enough for all
	// who follow to come back to it, mostly.
	longestStream = 300 * time.Millisecond
	// stallTime is how long followers may be told nothing new before they have
	// heard the last words.
	stallTime = 40 * time.Second
)

// Streams kills the real server again and again, while many write and some follow
// what happens. Whoever follows must be told all of it, once and in order (F11).
type streams struct {
	post
	plant   string
	rand    *rand.Rand
	seed    uint64
	crowd   *crowd
	agent   holder
	person  holder
	reader  holder
	streams []stream
	words   *words
	records []*record
	begun   int // lines of history before anybody followed
	kills   int
	lines   int
	bad     []violation
}

func newStreams(dir, program string, seed uint64, plant string) (*streams, error) {
	s := &streams{post: newPost(dir, program, "streams.db"), plant: plant, rand: rand.New(rand.NewPCG(seed, 4)), seed: seed, words: newWords()}
	place, err := instance.At(s.path)
	if err != nil {
		return nil, err
	}
	s.crowd = &crowd{line: &line{place: place}, seed: seed, ledger: newLedger()}
	return s, nil
}

// run kills the server n times, or until something is wrong.
func (s *streams) run(ctx context.Context, n int) error {
	if err := s.admit(ctx); err != nil {
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
	s.bad = append(s.bad, s.crowd.bad...)
	if err != nil || ctx.Err() != nil || len(s.bad) > 0 {
		return errors.Join(err, ctx.Err())
	}
	return s.compare(ctx)
}

func (s *streams) admit(ctx context.Context) (err error) {
	for _, who := range []struct {
		to   *holder
		kind askback.Kind
		name string
	}{{&s.agent, askback.Agent, "ada"}, {&s.person, askback.Responder, "ana"}, {&s.reader, askback.Responder, "rea"}} {
		if *who.to, err = s.token(ctx, who.kind, who.name); err != nil {
			return err
		}
	}
	return nil
}

// write lets everybody write while one server dies after another. The last one
// lives until all who follow have heard the last words.
func (s *streams) write(ctx context.Context, n int, follow func()) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var writers sync.WaitGroup
	err := s.serve(ctx, func() {
		if s.begin(ctx); s.fine(ctx) {
			follow()
			s.until(ctx, (*record).hasBegun)
			s.writers(working, &writers)
			s.while(ctx)
		}
	})
	for err == nil && s.kills < n && s.fine(ctx) {
		err = s.serve(ctx, func() { s.while(ctx) })
	}
	if err != nil || !s.fine(ctx) {
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

func (s *streams) while(ctx context.Context) { _ = instance.Pause(ctx, upTo(s.rand, longestStream)) }

// serve starts a server and kills it after during, whatever it does then.
func (s *streams) serve(ctx context.Context, during func()) error {
	c, err := s.start(ctx)
	if err != nil {
		return err
	}
	if _, err := s.crowd.line.place.Find(ctx, readyTime); err != nil && ctx.Err() == nil {
		s.bad = append(s.bad, violated(failed, "the server did not come: %v", err))
	} else if err == nil {
		during()
	}
	code, err := c.end(func([]byte) {})
	s.kills++
	if code >= 0 && ctx.Err() == nil {
		s.bad = append(s.bad, violated(failed, "a server ended by itself with code %d: %s", code, c.notes.String()))
	}
	return err
}

// begin makes the sessions that are followed.
func (s *streams) begin(ctx context.Context) {
	for i := range streamCount {
		key := fmt.Sprintf("stream %d", i)
		made, _, err := call(ctx, s.crowd.line, s.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
			return c.Start(ctx, askback.SessionRequest{Key: key})
		})
		if !s.crowd.well(ctx, "start "+key, err) {
			return
		}
		s.streams = append(s.streams, stream{key, made.ID})
		s.begun++
	}
}

// follow starts all who follow: of everything, and of each session, every other
// one as the agent whose session it is.
func (s *streams) follow(ctx context.Context, readers *sync.WaitGroup) {
	way := &line{place: s.crowd.line.place, wrap: tampered(s.plant)}
	chance := func(i int) *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(1000+i))) }
	all := &follower{record: s.record("who follows all", ""), line: way, path: "/api/v1/events", token: s.reader.token, rand: chance(0)}
	client := &regular{record: s.record("who follows all as a client", ""), line: way, token: s.reader.token, rand: chance(1)}
	readers.Go(func() { all.live(ctx) })
	readers.Go(func() { client.live(ctx) })
	for i, one := range s.streams {
		f := &follower{
			record: s.record("who follows "+one.id, one.id), line: way, path: "/api/v1/sessions/" + one.id + "/events",
			token: []string{s.reader.token, s.agent.token}[i%2], rand: chance(2 + i),
		}
		readers.Go(func() { f.live(ctx) })
	}
}

// record makes the record of one who follows.
func (s *streams) record(name, session string) *record {
	r := newRecord(name)
	r.session = session
	for _, one := range s.streams {
		r.last[one.id] = 1 // that it was started
	}
	s.records = append(s.records, r)
	return r
}

func (s *streams) writers(ctx context.Context, writers *sync.WaitGroup) {
	for i := range writerCount {
		w := &writer{
			person: person{crowd: s.crowd, holder: s.person, rand: rand.New(rand.NewPCG(s.seed, uint64(i)))},
			number: i, agent: s.agent, streams: s.streams, words: s.words,
		}
		writers.Go(func() { w.live(ctx) })
	}
}

// close says the last words to each session.
func (s *streams) close(ctx context.Context) {
	w := &writer{person: person{crowd: s.crowd}, words: s.words}
	for _, one := range s.streams {
		said := lastWords + " to " + one.key
		w.tellSession(ctx, s.person, one.id, said, askback.SendMessage{Text: said})
	}
}

// fine says whether there is a reason to go on.
func (s *streams) fine(ctx context.Context) bool {
	for _, r := range s.records {
		if _, fine := r.stands(); !fine {
			return false
		}
	}
	return ctx.Err() == nil && len(s.bad) == 0 && s.crowd.fine()
}

// until waits for something of all records, as long as they are told anything.
func (s *streams) until(ctx context.Context, so func(*record) bool) {
	before, limit := 0, time.Now().Add(stallTime)
	for s.fine(ctx) {
		now, missing := 0, ""
		for _, r := range s.records {
			events, _ := r.stands()
			if now += events; !so(r) {
				missing = r.name
			}
		}
		switch {
		case missing == "":
			return
		case now > before:
			before, limit = now, time.Now().Add(stallTime)
		case time.Now().After(limit):
			s.bad = append(s.bad, violated(lost, "%s was told nothing for %s", missing, stallTime))
		}
		_ = instance.Pause(ctx, retryPause)
	}
}

// found is the outcome of the proof.
func (s *streams) found() part {
	told, cuts := 0, 0
	for _, r := range s.records {
		told, cuts = told+len(r.all), cuts+r.cuts
	}
	detail := fmt.Sprintf("%d readers, %d cuts, %d events told; %d lines of history and %d acknowledgements compared",
		len(s.records), cuts, told, s.lines, s.crowd.ledger.acks+len(s.words.acked))
	return part{noun: "kills", what: "while streams are followed", n: s.kills, detail: detail, bad: s.bad}
}
