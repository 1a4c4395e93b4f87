package egress_test

import (
	"testing"

	"github.com/askback/askback/internal/egress"
)

func TestOnlyLocalHostsAreLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost":              true,
		"LocalHost:7575":         true,
		"127.0.0.1":              true,
		"127.0.0.1:7575":         true,
		"127.8.9.10:80":          true,
		"::1":                    true,
		"[::1]":                  true,
		"[::1]:7575":             true,
		"[::ffff:127.0.0.1]:1":   true,
		"":                       false,
		":7575":                  false,
		"0.0.0.0:7575":           false,
		"[::]:7575":              false,
		"10.0.0.1:7575":          false,
		"example.com":            false,
		"localhost.example.com":  false,
		"127.0.0.1.example.com":  false,
		"127.0.0.1:80:90":        false,
		"[127.0.0.1].example":    false,
		"example.com:127.0.0.1":  false,
		"[fe80::1%lo]:7575":      false,
		"[::1%lo]:7575":          false,
		"127.0.0.01":             false,
		"user@127.0.0.1":         false,
		"127.0.0.1 example.com":  false,
		"2130706433":             false,
		"localhost\x00.evil.org": false,
	} {
		if got := egress.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %t, want %t", host, got, want)
		}
	}
}

// IsLoopback is called for each request to a loopback address, so it must not allocate.
func TestIsLoopbackAllocatesNothing(t *testing.T) {
	for _, host := range []string{"127.0.0.1:7575", "localhost:7575", "[::1]:7575"} {
		if n := testing.AllocsPerRun(100, func() { egress.IsLoopback(host) }); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", host, n)
		}
	}
}
