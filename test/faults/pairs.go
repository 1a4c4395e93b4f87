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

	"github.com/askback/askback/internal/wire/jcs"
)

const (
	perDocument = 16   // pairs per approved call
	productEach = 1000 // one pair in this many is checked in an engine
)

// A pairTest tests that an approval is valid for one call only (F7, T4). It makes pairs of an approved call
// and a changed call. Their digests must be equal if and only if the calls have the same meaning.
type pairTest struct {
	seed   uint64
	digest digestFunc
	next   atomic.Int64 // number of the next document
	broken atomic.Bool

	mu     sync.Mutex
	done   int
	asked  int // pairs that were checked in an engine
	counts [len(mutations)]tally
	bad    []violation
}

// A digestFunc returns the digest that an approval of a call is bound to.
type digestFunc func(names [3]string, args []byte) (string, error)

func productDigest(names [3]string, args []byte) (string, error) {
	return jcs.ConfirmationDigest(names[0], names[1], names[2], args)
}

// A tally counts the pairs of one mutation by their effect.
type tally [effectCount]int

func newPairTest(seed uint64, mutant string) *pairTest {
	return &pairTest{seed: seed, digest: mutantDigest(mutant)}
}

// run makes n pairs, rounded up to whole documents, on all processors. It stops early if there is a
// violation.
func (p *pairTest) run(ctx context.Context, n int) error {
	documents := int64((n + perDocument - 1) / perDocument)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			w := &pairWorker{pairTest: p, engineChecker: newEngineChecker()}
			errs[i] = w.run(ctx, documents)
			p.merge(w)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// merge adds the results of a worker to the results of the test.
func (p *pairTest) merge(w *pairWorker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.asked, p.bad = p.done+w.done, p.asked+w.asked, append(p.bad, w.bad...)
	for i, t := range w.counts {
		for e, n := range t {
			p.counts[i][e] += n
		}
	}
}

func (p *pairTest) report() report {
	t := table{{"change", "pairs", "same call", "another call", "rejected"}}
	for i, n := range p.counts {
		t = append(t, []string{
			mutations[i].name, strconv.Itoa(n[sameCall] + n[otherCall] + n[invalidCall]),
			strconv.Itoa(n[sameCall]), strconv.Itoa(n[otherCall]), strconv.Itoa(n[invalidCall]),
		})
	}
	return report{
		noun: "pairs", what: "of an approved and a changed call", n: p.done,
		detail: fmt.Sprintf("%d of them asked, approved and consumed in an engine", p.asked), table: t, bad: p.bad,
	}
}

// A pairWorker makes pairs in one goroutine.
type pairWorker struct {
	*pairTest
	valueReader   valueReader
	engineChecker *engineChecker
	done          int
	asked         int
	counts        [len(mutations)]tally
	bad           []violation
}

// run makes the pairs of one document after another. A document is one approved call with its changed calls.
// Each document has its own random source, so that it can be repeated alone.
func (w *pairWorker) run(ctx context.Context, documents int64) error {
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

// document makes the approved call with number i, and compares it with perDocument changed
// calls.
func (w *pairWorker) document(ctx context.Context, i int64) error {
	r := rand.New(rand.NewPCG(w.seed, uint64(i)))
	base := &pair{approved: drawCall(r), document: i}
	var err error
	if base.meaning, err = w.valueReader.read(base.approved.raw); err != nil {
		w.violate(base, failed, "the test generated an invalid call: %v", err)
		return nil
	}
	if base.digest, err = w.digest(base.approved.names, base.approved.raw); err != nil {
		w.violate(base, rejected, "the approved call is rejected: %v", err)
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
			bad, err := w.engineChecker.check(ctx, &p)
			for _, what := range bad {
				w.violate(&p, what.fault, "%s", what.what)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A pair is an approved call and a changed call.
type pair struct {
	document int64
	approved *toolCall
	meaning  any    // the value of the approved arguments, see valueReader
	digest   string // the digest of the approved call
	mutation int
	changed  *toolCall
	means    effect // effect by meaning, not by digest
}

// change makes the changed call from the approved call, by a random mutation that applies.
func (p *pair) change(r *rand.Rand) {
	for {
		p.mutation = r.IntN(len(mutations))
		p.changed = p.approved.clone()
		if mutations[p.mutation].do(r, p.changed) {
			return
		}
	}
}

// compare returns the effect according to the digests. It records a violation if the effect according to the
// meaning is another effect, or differs from the effect that the mutation should have.
func (w *pairWorker) compare(p *pair) effect {
	p.means = w.meaningOf(p)
	if want := mutations[p.mutation].want; want != anyEffect && p.means != want {
		w.violate(p, failed, "the mutation should make %s, and made %s", want, p.means)
	}
	digest, err := w.digest(p.changed.names, p.changed.raw)
	got := otherCall
	switch {
	case err != nil:
		got = invalidCall
	case digest == p.digest:
		got = sameCall
	}
	switch {
	case got == p.means:
	case got == invalidCall || p.means == sameCall:
		w.violate(p, rejected, "treated as %s, but it is %s (%v)", got, p.means, err)
	default:
		w.violate(p, accepted, "treated as %s, but it is %s", got, p.means)
	}
	return got
}

func (w *pairWorker) meaningOf(p *pair) effect {
	meaning, err := w.valueReader.read(p.changed.raw)
	switch {
	case err != nil:
		return invalidCall
	case p.changed.names == p.approved.names && equalValues(meaning, p.meaning):
		return sameCall
	}
	return otherCall
}

// violate records a violation with the details to reproduce it.
func (w *pairWorker) violate(p *pair, f fault, format string, args ...any) {
	v := violated(f, format, args...)
	v.what += fmt.Sprintf("\n  seed %d, document %d", w.seed, p.document)
	v.what += fmt.Sprintf("\n  approved: %q %q", p.approved.names, p.approved.raw)
	if p.changed != nil {
		v.what += fmt.Sprintf("\n  %s: %q %q", mutations[p.mutation].name, p.changed.names, p.changed.raw)
	}
	w.bad = append(w.bad, v)
}
