package revision_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/revision"
)

// settled returns a settled ask.
func settled() *askback.Ask {
	return &askback.Ask{
		ID: "ask_1", Title: "Deploy?", Status: askback.Declined, Outcome: &askback.Outcome{Status: askback.Declined},
	}
}

// A cache is a [revision.Cache] that records the sizes of the JSON.
type cache struct{ sizes []int }

func (c *cache) Grow(_ *revision.Ask, size int) { c.sizes = append(c.sizes, size) }

// appended returns the bytes that AppendJSON appends to other bytes.
func appended(t *testing.T, a *revision.Ask, base string) []byte {
	t.Helper()
	const before = "before"
	b, err := a.AppendJSON([]byte(before), base)
	if err != nil || !bytes.HasPrefix(b, []byte(before)) {
		t.Errorf("got %q and error %v, want JSON after %q", b, err, before)
	}
	return b[len(before):]
}

// AppendJSON returns the JSON of the ask with the address of its page at the given base, even if another base
// was encoded before.
func TestRevisionJSONMatchesAsk(t *testing.T) {
	pending := settled()
	pending.Status, pending.Outcome = askback.Pending, nil
	for _, ask := range []*askback.Ask{settled(), pending} {
		a := revision.New(ask, &cache{})
		for _, base := range []string{
			"https://one.example.com", "https://two.example.com", "", "https://one.example.com",
		} {
			want, err := ask.WithPageURL(base).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if got := appended(t, a, base); !bytes.Equal(got, want) {
				t.Errorf("%s at %q: got %s, want %s", ask.Status, base, got, want)
			}
		}
	}
}

// A settled ask is encoded once for all goroutines. Run with -race.
func TestSettledAskIsEncodedOnce(t *testing.T) {
	ask := settled()
	var c cache
	a := revision.New(ask, &c)
	want, err := ask.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got := appended(t, a, ""); !bytes.Equal(got, want) {
				t.Errorf("got %s, want %s", got, want)
			} else {
				clear(got) // the revision must have its own copy of the JSON
			}
		})
	}
	group.Wait()
	if !slices.Equal(c.sizes, []int{len(want)}) {
		t.Errorf("the revision began to keep JSON of the sizes %d, want %d once", c.sizes, len(want))
	}
	if b := make([]byte, 0, 2*len(want)); testing.AllocsPerRun(10, func() { _, _ = a.AppendJSON(b, "") }) != 0 {
		t.Error("AppendJSON allocates memory although the JSON is known")
	}
}
