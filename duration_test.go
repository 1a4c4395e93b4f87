package askback_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
)

const day = 24 * time.Hour

func TestValidDurationsAreParsed(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90": 90 * time.Second, "90s": 90 * time.Second, "007": 7 * time.Second,
		"10m": 10 * time.Minute, "2h": 2 * time.Hour, "7d": 7 * day,
		"1h30m": 90 * time.Minute, "1d12h": 36 * time.Hour, "1m1m": 2 * time.Minute,
		"9223372036":  9223372036 * time.Second,
		"9223372036s": 9223372036 * time.Second,
		"106751d":     106751 * day,
	} {
		if got, err := askback.ParseDuration(s); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", s, got, err, want)
		}
	}
}

func TestInvalidDurationsAreRejected(t *testing.T) {
	for _, s := range []string{
		"", " ", "s", "10 m", " 10m", "10m ", "-1", "-1s", "+1", "+1s", "1.5h", "1e3", "0x10", "1h30", "10ms", "1w",
		"1H", "ten", "１０s", "9223372037", "9223372037s", "106752d", "106751d23h48m", "9223372036854775807d",
		"99999999999999999999", "99999999999999999999s",
	} {
		got, err := askback.ParseDuration(s)
		if err == nil {
			t.Errorf("%q: got %v, want an error", s, got)
			continue
		}
		if want := strconv.Quote(s) + " is not a duration; use 90s, 10m, 2h or 7d"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestDurationsSurviveFormattingAndParsing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, math.MaxInt64/int64(time.Second)).Draw(t, "s")) * time.Second
		for _, s := range []string{want.String(), strconv.FormatInt(int64(want/time.Second), 10)} {
			if got, err := askback.ParseDuration(s); err != nil || got != want {
				t.Errorf("%q: got %v, %v, want %v", s, got, err, want)
			}
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"90s", "1h30m", "7d", "12", "-1", "9223372037s", "106751d23h48m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := askback.ParseDuration(s)
		if got < 0 || err != nil && got != 0 || got%time.Second != 0 {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	})
}
