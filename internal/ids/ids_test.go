package ids_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
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

func TestBytesAreThoseOfTheID(t *testing.T) {
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
	for _, wrong := range []string{"", "ask_", "ses_01k6m3v7q8r9s0t1v2w3x4y5z6", "ask_01K6M3V7Q8R9S0T1V2W3X4Y5Z6", "ask_81k6m3v7q8r9s0t1v2w3x4y5z6"} {
		if _, ok := ids.Bytes(ids.Ask, wrong); ok {
			t.Errorf("%q is taken for an id", wrong)
		}
	}
}
