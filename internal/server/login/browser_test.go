package login_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/askback/askback/internal/server/login"
)

// A browser has the name that its user knows, although most browsers also claim to be others.
func TestBrowsersHaveTheirNames(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36 Edg/140.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 " +
			"Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.1 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPad; CPU OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/130.0 " +
			"Mobile/15E148 Safari/605.1.15": "Firefox on iPad",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 " +
			"Chrome/125.0.0.0 Mobile Safari/537.36": "Samsung Internet on Android",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 " +
			"Safari/537.36": "Chrome on Linux",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/140.0.0.0 Safari/537.36": "Chrome on ChromeOS",
		"Lynx/2.9 Linux":                       "a browser on Linux",
		"curl/8.5.0":                           "",
		"":                                     "",
		"<b>Firefox/1</b>\x1b[31m Linux":       "Firefox on Linux",
		strings.Repeat("x", 5000) + "Firefox/": "",
	} {
		r := httptest.NewRequest("POST", "/login", nil)
		r.Header.Set("User-Agent", userAgent)
		if got := login.BrowserOf(r).Name; got != want {
			t.Errorf("%.100q: got %q, want %q", userAgent, got, want)
		}
	}
}

// Only a proxy on this machine may name the address of the browser.
func TestAddressIsForwardedByThisMachineOnly(t *testing.T) {
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.7:1234", nil, "203.0.113.7"},
		{"203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7"},
		{"10.0.0.2:1234", []string{"198.51.100.1"}, "10.0.0.2"},
		{"127.0.0.1:1234", nil, "127.0.0.1"},
		{"127.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"127.0.0.1:1234", []string{"192.0.2.9, 198.51.100.1"}, "198.51.100.1"},
		{"127.0.0.1:1234", []string{"192.0.2.9", "198.51.100.1:443"}, "198.51.100.1"},
		{"[::1]:1234", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[::1]:1234", []string{"[2001:db8::1]:99"}, "2001:db8::1"},
		{"[::1]:1234", []string{"<b>198.51.100.1</b>"}, "::1"},
		{"[::ffff:127.0.0.1]:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[fe80::1%eth0]:1234", nil, "fe80::1"},
		{"@", nil, ""},
	} {
		r := httptest.NewRequest("POST", "/login", nil)
		r.RemoteAddr = c.remote
		for _, line := range c.forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		if got := login.BrowserOf(r).Address; got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.remote, c.forwarded, got, c.want)
		}
	}
}
