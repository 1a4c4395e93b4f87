package login

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/askback/askback"
)

// BrowserOf returns the browser that sent a request, so that people recognize their log-ins. Its name has no
// text of the request: it consists of the words in programs and systems.
//
// The address is the address of the connection. If the connection comes from this machine, where a reverse
// proxy or a tunnel runs, it is the last address in X-Forwarded-For, which the proxy has added. From elsewhere,
// a client could send any address in this header.
func BrowserOf(r *http.Request) askback.Browser {
	address := addressOf(r.RemoteAddr)
	if address.IsLoopback() {
		all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if forwarded := addressOf(strings.TrimSpace(all[len(all)-1])); forwarded.IsValid() {
			address = forwarded
		}
	}
	b := askback.Browser{Name: nameOf(r.UserAgent())}
	if address.IsValid() {
		b.Address = address.String()
	}
	return b
}

// addressOf returns the IP address in a text, with or without a port. It returns the zero address for another
// text. An IPv4 address within an IPv6 address is returned as IPv4, and a zone is removed.
func addressOf(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}

// A word is a part of the header User-Agent, and the name that people know.
type word struct{ part, name string }

// programs and systems are in the order in which they are tried: most browsers also claim to be others.
var (
	programs = []word{
		{"Edg/", "Edge"},
		{"EdgA/", "Edge"},
		{"EdgiOS/", "Edge"},
		{"OPR/", "Opera"},
		{"OPT/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"YaBrowser/", "Yandex Browser"},
		{"DuckDuckGo/", "DuckDuckGo"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chromium/", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = []word{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"CrOS", "ChromeOS"},
		{"Mac OS X", "macOS"},
		{"Macintosh", "macOS"},
		{"Linux", "Linux"},
		{"FreeBSD", "FreeBSD"},
		{"OpenBSD", "OpenBSD"},
	}
)

// maxUserAgent is the number of bytes of the header User-Agent that are read.
const maxUserAgent = 1 << 10

// nameOf returns the name of a browser and its system for the header User-Agent.
func nameOf(userAgent string) string {
	userAgent = userAgent[:min(len(userAgent), maxUserAgent)]
	program, system := find(programs, userAgent), find(systems, userAgent)
	switch {
	case program != "" && system != "":
		return program + " on " + system
	case system != "":
		return "a browser on " + system
	}
	return program
}

func find(words []word, userAgent string) string {
	for _, w := range words {
		if strings.Contains(userAgent, w.part) {
			return w.name
		}
	}
	return ""
}
