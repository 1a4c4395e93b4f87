package ids_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/askback/askback/internal/ids"
)

// The example of the ULID specification: 01ARZ3NDEKTSV4RRFFQ69G5FAV has the time
// 1469922850259 ms.
func TestNewMatchesTheULIDSpecification(t *testing.T) {
	random := []byte{0xd6, 0x76, 0x4c, 0x61, 0xef, 0xb9, 0x93, 0x02, 0xbd, 0x5b}
	got, err := ids.New(ids.Ask, time.UnixMilli(1469922850259), bytes.NewReader(random))
	if want := "ask_01arz3ndektsv4rrffq69g5fav"; err != nil || got != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

func TestTimeReturnsTheTimeOfCreation(t *testing.T) {
	if got, want := ids.Time("ask_01arz3ndektsv4rrffq69g5fav"), time.UnixMilli(1469922850259); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestIDsSortByTime(t *testing.T) {
	ones := bytes.Repeat([]byte{0xff}, 10)
	early, _ := ids.New(ids.Ask, time.UnixMilli(1000), bytes.NewReader(ones))
	late, _ := ids.New(ids.Ask, time.UnixMilli(1001), bytes.NewReader(make([]byte, 10)))
	if early >= late {
		t.Errorf("%s does not sort before %s", early, late)
	}
}

// Ids of one generator sort in the order in which they were made, also within a millisecond.
func TestIDsOfAGeneratorSortByCreation(t *testing.T) {
	g, at, last := ids.NewGenerator(rand.Reader), time.UnixMilli(1469922850259), ""
	for i := range 30_000 {
		id, err := g.New(ids.Ask, at.Add(time.Duration(i/10_000)*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if want := at.UnixMilli() + int64(i/10_000); id <= last || !ids.Valid(ids.Ask, id) ||
			ids.Time(id).UnixMilli() != want {
			t.Fatalf("got %s of %d after %s, want a later id of %d", id, ids.Time(id).UnixMilli(), last, want)
		}
		last = id
	}
}

// An id cannot be guessed from the previous id, because it is larger by a random number.
func TestNextIDOfAMillisecondIsRandom(t *testing.T) {
	at, seen := time.UnixMilli(1469922850259), map[string]bool{}
	for i := range byte(100) {
		first := make([]byte, 10)
		g := ids.NewGenerator(bytes.NewReader(append(first, 0, 0, i, i, i, i, i, i, i, i)))
		if _, err := g.New(ids.Ask, at); err != nil {
			t.Fatal(err)
		}
		id, err := g.New(ids.Ask, at)
		if err != nil || seen[id] {
			t.Fatalf("got %s, %v; want another id", id, err)
		}
		seen[id] = true
	}
}

// If the random bits overflow within a millisecond, the next id has the same time and new random bits.
func TestGeneratorStaysWithinTheMillisecond(t *testing.T) {
	at := time.UnixMilli(1469922850259)
	g := ids.NewGenerator(endless(0xff))
	for range 200_000 {
		id, err := g.New(ids.Ask, at)
		if err != nil || !ids.Time(id).Equal(at) {
			t.Fatalf("got %s of %v, %v; want %v", id, ids.Time(id), err, at)
		}
	}
}

// An endless is a stream that repeats a byte.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// Concurrent calls get different ids.
func TestConcurrentIDsDiffer(t *testing.T) {
	g := ids.NewGenerator(rand.Reader)
	var group sync.WaitGroup
	var seen sync.Map
	for range 8 {
		group.Go(func() {
			for range 1000 {
				id, err := g.New(ids.Ask, time.UnixMilli(1469922850259))
				if _, again := seen.LoadOrStore(id, true); again || err != nil {
					t.Errorf("got %s, %v again", id, err)
				}
			}
		})
	}
	group.Wait()
}

func TestValidRequiresThePrefixAndAULID(t *testing.T) {
	for id, want := range map[string]bool{
		"ask_01arz3ndektsv4rrffq69g5fav":  true,
		"ask_7zzzzzzzzzzzzzzzzzzzzzzzzz":  true,
		"ask_8zzzzzzzzzzzzzzzzzzzzzzzzz":  false, // over 128 bits
		"ses_01arz3ndektsv4rrffq69g5fav":  false,
		"ask_01ARZ3NDEKTSV4RRFFQ69G5FAV":  false,
		"ask_01arz3ndektsv4rrffq69g5fa":   false,
		"ask_01arz3ndektsv4rrffq69g5favx": false,
		"ask_01arz3ndektsv4rrffq69g5fau":  false, // u is not a digit
		"":                                false,
	} {
		if got := ids.Valid(ids.Ask, id); got != want {
			t.Errorf("Valid(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestNewReturnsTheErrorOfTheReader(t *testing.T) {
	broken := errors.New("no randomness")
	if _, err := ids.New(ids.Ask, time.Now(), iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := ids.New(ids.Ask, time.Now(), bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want EOF", err)
	}
}

func TestSwapReplacesThePrefix(t *testing.T) {
	if got := ids.Swap("ask_01arz3ndektsv4rrffq69g5fav", ids.Session); got != "ses_01arz3ndektsv4rrffq69g5fav" {
		t.Errorf("got %q", got)
	}
}

func TestBytesMatchTheID(t *testing.T) {
	for range 1000 {
		id, err := ids.New(ids.Ask, time.Now(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		b, ok := ids.Bytes(ids.Ask, id)
		if got := ids.FromBytes(ids.Ask, b); !ok || got != id {
			t.Fatalf("got %s, %v, want %s", got, ok, id)
		}
	}
	for _, wrong := range []string{
		"", "ask_", "ses_01k6m3v7q8r9s0t1v2w3x4y5z6", "ask_01K6M3V7Q8R9S0T1V2W3X4Y5Z6",
		"ask_81k6m3v7q8r9s0t1v2w3x4y5z6",
	} {
		if _, ok := ids.Bytes(ids.Ask, wrong); ok {
			t.Errorf("%q is taken for an id", wrong)
		}
	}
}
