package webhook

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/test/kit/freeport"
	"github.com/askback/askback/test/kit/leftout"
)

// The receivers in docs/webhooks.md accept each message of a channel once. They reject messages that are
// forged, changed or old (E3, T17).
func TestDocumentedReceiversAcceptMessages(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct{ language, file, program string }{
		{"python", "receiver.py", "python3"}, {"js", "receiver.cjs", "node"}, {"go", "main.go", "go"},
	} {
		t.Run(in.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(in.program); err != nil {
				leftout.Skip(t, "the receiver of docs/webhooks.md in %s (%s is not installed)", in.language, in.program)
			}
			_, rest, _ := strings.Cut(string(page), "```"+in.language+"\n")
			source, _, found := strings.Cut(rest, "```\n")
			if !found {
				t.Fatal("docs/webhooks.md has no such receiver")
			}
			tryReceiver(t, in.program, in.file, source)
		})
	}
}

func tryReceiver(t *testing.T, program, file, source string) {
	dir, err := os.MkdirTemp(".", ".receiver-") // inside the module, so that Go finds its imports
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	port := strconv.Itoa(int(address.Port()))
	args := []string{path, port}
	if program == "go" {
		binary := filepath.Join(t.TempDir(), "receiver")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary,
			path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		program, args = binary, []string{port}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out output
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "ASKBACK_WEBHOOK_SECRET="+secret)
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = command.Wait() }()

	url := "http://" + address.String() + "/"
	newSender := func(secret string, now func() time.Time) *Channel {
		c, err := New(Options{Secret: secret, Now: now, Allow: []egress.Allowed{
			{Addresses: netip.PrefixFrom(address.Addr(), 32), Port: address.Port()},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	good := newSender(secret, nil)
	sendWith := func(c *Channel, id string, event askback.EventType) error {
		d := delivery(event)
		d.ID = id
		return send(t.Context(), c, d, someAsk, url)
	}
	for limit := time.Now().Add(time.Minute); sendWith(good, "dlv_1", askback.EventQuestionPending) != nil; {
		if time.Now().After(limit) {
			t.Fatalf("the receiver does not accept a message: %s", out.String())
		}
	}
	other := "whsec_" + strings.Repeat("QUJD", 12)
	for name, c := range map[string]*Channel{
		"forged": newSender(other, nil),
		"old":    newSender(secret, func() time.Time { return time.Now().Add(-10 * time.Minute) }),
		"future": newSender(secret, func() time.Time { return time.Now().Add(10 * time.Minute) }),
	} {
		var rejected *askback.SendError
		if err := sendWith(c, "dlv_3", askback.EventQuestionAnswered); !errors.As(err, &rejected) ||
			!strings.Contains(err.Error(), "401") {
			t.Errorf("%s: got %v, want 401", name, err)
		}
	}
	if reply, err := http.Post(url, "application/json", strings.NewReader("{}")); err != nil ||
		reply.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a signature: got %v, %v, want 401", reply, err)
	} else {
		_ = reply.Body.Close()
	}
	for _, id := range []string{"dlv_1", "dlv_2", "dlv_2"} { // two repeats
		event := askback.EventQuestionAnswered
		if id == "dlv_1" {
			event = askback.EventQuestionPending
		}
		if err := sendWith(good, id, event); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	ended := delivery(askback.EventSessionCompleted)
	ended.ID, ended.AskID, ended.Session = "dlv_4", "", &askback.Session{
		ID: "ses_1", Agent: "write-poem", Status: askback.SessionCompleted,
	}
	if err := send(t.Context(), good, ended, askback.Ask{}, url); err != nil {
		t.Errorf("the end of a session: %v", err)
	}
	const want = "question_pending\nquestion_answeredhaiku\nsession_completed\n"
	printed := func() string { return strings.NewReplacer("[", "", "]", "", "'", "", " ", "").Replace(out.String()) }
	for limit := time.Now().Add(time.Minute); len(printed()) < len(want) && time.Now().Before(limit); {
		runtime.Gosched() // a program may print after it has replied
	}
	if got := printed(); got != want {
		t.Errorf("got output %q, want the output of three messages", out.String())
	}
}

// freeAddress returns an address on loopback that no program listens on.
func freeAddress(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(freeport.Pick(t)))
}

// output collects the output of a program.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
