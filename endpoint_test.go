package askback_test

import (
	"testing"

	"github.com/askback/askback"
)

// All addresses of a receiver have the same origin, which contains no secrets.
func TestAddressesOfTheSameReceiverHaveTheSameOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://agents.example.com/calls?key=secret": "https://agents.example.com",
		"HTTPS://Agents.Example.com:443/":             "https://agents.example.com",
		"http://agents.example.com:80":                "http://agents.example.com",
		"http://agents.example.com:":                  "http://agents.example.com",
		"http://agents.example.com:443/":              "http://agents.example.com:443",
		"https://agents.example.com:8443/":            "https://agents.example.com:8443",
		"http://[fd00::1]:8080/x":                     "http://[fd00::1]:8080",
		"http://[::80]/":                              "http://[::80]",
		"":                                            "",
		"mailto:ana@example.com":                      "",
		"http://%zz":                                  "",
	} {
		if got := askback.Origin(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
