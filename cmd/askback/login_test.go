package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/text/qrcode/qrtest"
)

// serveAt starts a server with a public address.
func serveAt(t *testing.T, env []string, public string) {
	t.Helper()
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0", "--public-url", public)
	p.waitForStderr(t, "msg=serving")
}

// askback login --qr draws a link that a phone can read and open, in a window of 24 rows.
func TestLoginDrawsTheLinkAsAQRCode(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	serveAt(t, env, "https://ask.example.com")
	for _, style := range []string{"TERM=xterm-256color", "NO_COLOR=1"} {
		s := startTerminal(t, append(env, "TERM=xterm", style), 80, "askback", "login", "--qr")
		s.waitExit(0)
		note, drawn, _ := strings.Cut(s.screen.String(), "\r\n")
		if want := "scan this code with a phone within 10 minutes; it logs in one browser, once:"; !strings.Contains(
			note, want,
		) {
			t.Errorf("got %q, want %q", note, want)
		}
		colored := strings.Contains(drawn, "\x1b[38;5;16;48;5;231m")
		if want := style != "NO_COLOR=1"; colored != want {
			t.Errorf("%s: colored: %t", style, colored)
		}
		drawn = regexp.MustCompile("\x1b\\[[0-9;]*m|\r").ReplaceAllString(drawn, "")
		rows := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
		got, err := qrtest.Read(rows, !colored)
		if err != nil ||
			!regexp.MustCompile(`^https://ask\.example\.com/login\?secret=askback_[\w-]{43}$`).MatchString(got) {
			t.Errorf("got %q, %v from\n%s", got, err, drawn)
		}
		if len(rows) > 23 {
			t.Errorf("%d rows and the next prompt do not fit into 24", len(rows))
		}
	}
}

// In a narrow window no QR code is drawn, because a code that wraps cannot be read.
func TestLoginDrawsNothingInANarrowWindow(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	serveAt(t, env, "https://ask.example.com")
	s := startTerminal(t, append(env, "TERM=xterm"), 40, "askback", "login", "--qr")
	s.waitExit(exitRefused)
	s.waitForScreen(`the window has 40 columns and 24 rows, and the QR code needs 41 and 22: make it larger`)
	if strings.ContainsAny(s.screen.String(), "▀▄█") {
		t.Errorf("it draws\n%s", s.screen.String())
	}
}

// A phone can log in only over https and not at a loopback address. The error names the fix, and no link is
// made.
func TestLoginExplainsAnAddressThatAPhoneCannotUse(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"":                          `a phone cannot reach http://127\.0\.0\.1:\d+, which is an address of this machine only`,
		"https://localhost:7575":    `a phone cannot reach https://localhost:7575, which is an address of this machine only`,
		"http://ask.example.com:80": `a phone cannot log in at http://ask\.example\.com:80, since browsers keep log-ins only over https`,
	} {
		env, _ := sandbox(t)
		serveAt(t, env, public)
		s := startTerminal(t, append(env, "TERM=xterm"), 80, "askback", "login", "--qr")
		s.waitExit(exitRefused)
		s.waitForScreen(want + `: give the server an https address with askback serve --public-url; docs/phone\.md in the clone has the steps`)
	}
}
