package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/askback/askback/internal/jcs"
)

const (
	perDocument = 16   // pairs that one approved call is in
	productEach = 1000 // pairs of which one goes through the product
)

// Pairs is the proof that an approval is bound to one call (F7, T4): it makes
// pairs of a call that was approved and one in which one thing is different,
// and compares what Askback makes of the second with what it means.
type pairs struct {
	seed   uint64
	digest digester
	next   atomic.Int64 // the next document
	broken atomic.Bool

	mu     sync.Mutex
	done   int
	asked  int // of the product
	counts [len(mutations)]tally
	bad    []violation
}

// A digester gives what an approval of a call is bound to.
type digester func(names [3]string, args []byte) (string, error)

func ownDigest(names [3]string, args []byte) (string, error) {
	return jcs.ConfirmationDigest(names[0], names[1], names[2], args)
}

// A tally is how often each effect was seen.
type tally [effects]int

func newPairs(seed uint64, plant string) *pairs {
	return &pairs{seed: seed, digest: plantedDigest(plant)}
}

// run makes at least n pairs, on all processors.
func (p *pairs) run(ctx context.Context, n int) error {
	documents := int64((n + perDocument - 1) / perDocument)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			w := &pairMaker{pairs: p, product: newProduct()}
			errs[i] = w.run(ctx, documents)
			p.take(w)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// take adds what one worker found.
func (p *pairs) take(w *pairMaker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.asked, p.bad = p.done+w.done, p.asked+w.asked, append(p.bad, w.bad...)
	for i, t := range w.counts {
		for e, n := range t {
			p.counts[i][e] += n
		}
	}
}

// found is the outcome of the proof.
func (p *pairs) found() part {
	t := table{{"one thing changed", "pairs", "same call", "another", "refused"}}
	for i, n := range p.counts {
		t = append(t, []string{
			mutations[i].name, strconv.Itoa(n[same] + n[other] + n[refused]),
			strconv.Itoa(n[same]), strconv.Itoa(n[other]), strconv.Itoa(n[refused]),
		})
	}
	return part{
		noun: "pairs", what: "of an approved call and another", n: p.done,
		detail: fmt.Sprintf("%d of them asked, approved and spent in an engine", p.asked), table: t, bad: p.bad,
	}
}

// A pairMaker is one worker.
type pairMaker struct {
	*pairs
	reader  reader
	product *product
	done    int
	asked   int
	counts  [len(mutations)]tally
	bad     []violation
}

// run makes the pairs of one document after another. Chance begins anew with
// each, so that a document can be made again alone.
func (w *pairMaker) run(ctx context.Context, documents int64) error {
	for {
		i := w.next.Add(1) - 1
		if i >= documents || w.broken.Load() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.document(ctx, i); err != nil {
			return err
		}
		if len(w.bad) > 0 {
			w.broken.Store(true)
		}
	}
}

// document approves one call and holds others against it.
func (w *pairMaker) document(ctx context.Context, i int64) error {
	r := rand.New(rand.NewPCG(w.seed, uint64(i)))
	base := &pair{approved: drawCall(r), document: i}
	var err error
	if base.meaning, err = w.reader.read(base.approved.raw); err != nil {
		w.wrong(base, failed, "the prover wrote something bad: %v", err)
		return nil
	}
	if base.digest, err = w.digest(base.approved.names, base.approved.raw); err != nil {
		w.wrong(base, rejected, "the approved call itself: %v", err)
		return nil
	}
	for j := range perDocument {
		p := *base
		p.change(r)
		got := w.compare(&p)
		w.counts[p.mutation][got]++
		w.done++
		if (i*perDocument+int64(j))%productEach == 0 {
			w.asked++
			bad, err := w.product.try(ctx, &p)
			for _, what := range bad {
				w.wrong(&p, what.fault, "%s", what.what)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A pair is an approved call and another one.
type pair struct {
	document int64
	approved *toolCall
	meaning  any    // of the approved arguments
	digest   string // that they were approved with
	mutation int
	changed  *toolCall
	means    effect // what the change means, whatever the digests say
}

// change makes the other call.
func (p *pair) change(r *rand.Rand) {
	for {
		p.mutation = r.IntN(len(mutations))
		p.changed = p.approved.clone()
		if mutations[p.mutation].do(r, p.changed) {
			return
		}
	}
}

// compare says what the digest of a pair says, and whether that is what it
// means.
func (w *pairMaker) compare(p *pair) effect {
	p.means = w.meaningOf(p)
	if want := mutations[p.mutation].want; want != unsure && p.means != want {
		w.wrong(p, failed, "the prover meant to make %s, and made %s", want, p.means)
	}
	digest, err := w.digest(p.changed.names, p.changed.raw)
	got := other
	switch {
	case err != nil:
		got = refused
	case digest == p.digest:
		got = same
	}
	switch {
	case got == p.means:
	case got == refused || p.means == same:
		w.wrong(p, rejected, "it is taken for %s, and it is %s (%v)", got, p.means, err)
	default:
		w.wrong(p, accepted, "it is taken for %s, and it is %s", got, p.means)
	}
	return got
}

func (w *pairMaker) meaningOf(p *pair) effect {
	meaning, err := w.reader.read(p.changed.raw)
	switch {
	case err != nil:
		return refused
	case p.changed.names == p.approved.names && alike(meaning, p.meaning):
		return same
	}
	return other
}

// wrong notes a violation with all that is needed to see it again.
func (w *pairMaker) wrong(p *pair, f fault, format string, args ...any) {
	v := violated(f, format, args...)
	v.what += fmt.Sprintf("\n  seed %d, document %d", w.seed, p.document)
	v.what += fmt.Sprintf("\n  approved: %q %q", p.approved.names, p.approved.raw)
	if p.changed != nil {
		v.what += fmt.Sprintf("\n  %s: %q %q", mutations[p.mutation].name, p.changed.names, p.changed.raw)
	}
	w.bad = append(w.bad, v)
}
