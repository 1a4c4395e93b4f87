package channeltest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
)

// driver returns the driver of a chat with the given defect, or of a chat without defects.
func driver(defect string) channeltest.Driver {
	d := channeltest.Driver{
		Channel: "slack", Via: askback.ChannelSlack, Handled: "multi", RetryAfter: 40 * time.Second,
		Short: []string{"1 MB", "call of 20 kB", "call of 1 MB"},
		Start: func(_ testing.TB, s channeltest.Settings) channeltest.Service {
			return &chat{settings: s, defect: defect, presses: make(chan press), running: make(chan struct{})}
		},
	}
	for _, c := range channeltest.Cases() {
		for _, a := range c.Answers {
			if !strings.HasSuffix(c.Name, "MB") && c.Name != "call of 20 kB" {
				d.InPlace = append(d.InPlace, c.Name+"/"+a.Name)
			}
		}
	}
	return d
}

// A chat without a defect passes.
func TestChatPasses(t *testing.T) { channeltest.Test(t, driver("")) }

// If a chat has a defect, the check for this defect fails.
func TestDefectsAreFound(t *testing.T) {
	for defect, check := range map[string]string{
		"cuts":                                  "each ask is whole or a link",
		"loses context":                         "each ask is whole or a link",
		"has no link":                           "each ask is whole or a link",
		"shows markup":                          "each ask is whole or a link",
		"has no mark before text":               "each ask is whole or a link",
		"hides a part in another form":          "each ask is whole or a link",
		"approves dangerous calls":              "each ask is whole or a link",
		"loses notes":                           "an answer in a message is the same as elsewhere",
		"mixes people up":                       "an answer in a message is the same as elsewhere",
		"does not mark":                         "an ask settled elsewhere is not live",
		"posts each outcome":                    "an ask settled elsewhere is not live",
		"does not tell who":                     "a late answer learns who was first",
		"does not name the approvers":           "a person who is no approver decides nothing",
		"shows the time of the server":          "the deadline is in the time zone of the person",
		"takes every voice":                     "foreign input changes nothing and is logged",
		"takes what is forged":                  "foreign input changes nothing and is logged",
		"takes what was changed":                "foreign input changes nothing and is logged",
		"is silent about attacks":               "foreign input changes nothing and is logged",
		"does not know what is seen":            "a delivery is seen when its person handles the message",
		"sees what it sends":                    "a delivery is seen when its person handles the message",
		"sees what it refuses":                  "foreign input changes nothing and is logged",
		"asks the wrong person in":              "a removed person cannot answer",
		"ignores what it does not know":         "an outcome follows a question that may have arrived",
		"forgets messages":                      "an old message can be answered after a restart",
		"sends buttons before it records":       "a repeat after a lost reply leaves nothing live",
		"forgets a lost reply":                  "a repeat after a lost reply leaves nothing live",
		"posts each time":                       "a repeat after a lost reply leaves nothing live",
		"ignores the record":                    "a repeat without a record leaves nothing live",
		"believes the event":                    "a settled question is never live",
		"takes each later event for an outcome": "an unknown event shows the ask as it is",
		"ignores the pause":                     "a service that wants a pause gets it",
		"gives up":                              "a broken service is tried again",
		"waits for ever":                        "a slow service holds nothing up",
		"leaks in an error":                     "a repeat after a lost reply leaves nothing live",
		"logs the question":                     "an old message can be answered after a restart",
	} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			for _, c := range channeltest.Checks() {
				if c.Name != check {
					continue
				}
				d := driver(defect)
				d.Patience = time.Second
				got := (&recorder{TB: t}).run(c, d)
				if len(got) == 0 {
					t.Errorf("%q finds nothing", check)
				}
				t.Logf("%.300s", strings.Join(got, "\n"))
				return
			}
			t.Fatalf("there is no check %q", check)
		})
	}
}

// A recorder is a [testing.TB] that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
	ctx      context.Context
}

// run runs a check and returns its failures.
func (r *recorder) run(c channeltest.Check, d channeltest.Driver) []string {
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		defer func() {
			cancel()
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
		}()
		c.Run(r, d)
	})
	group.Wait()
	return r.failures
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any)        { r.add(fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any)        { r.add(fmt.Sprint(args...)); runtime.Goexit() }

func (r *recorder) Errorf(format string, args ...any) { r.add(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.add(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) add(failure string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, failure)
}
