package web_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// A person answers questions and decides calls with and without the script, at the width of a phone (A6, C1,
// C3).
func TestChromiumAnswersEveryKindOfQuestion(t *testing.T) {
	c := newChromium(t)
	for name, l := range map[string]browsertest.Viewport{
		"JavaScript": phone, "no JavaScript": {Width: 360, Height: 740, NoScript: true},
	} {
		w := c.window(l)
		w.login("ana")
		w.open("/")
		for shape, s := range map[string]struct {
			ask  askback.Request
			fill func(w window)
			want []askback.QuestionAnswer
		}{
			"single": {single, func(w window) {
				w.Click("label:has(#q1-1)")
			}, []askback.QuestionAnswer{{Selected: []string{"SQLite"}}}},
			"multi": {multi, func(w window) {
				w.Click("#q1-0", "label:has(#q1-2)")
			}, []askback.QuestionAnswer{{Selected: []string{"Slack", "Webhook"}}}},
			"other": {
				single, func(w window) { w.Click("#q1-pick-other"); w.typeInto("#q1-other", "MariaDB") },
				[]askback.QuestionAnswer{{Other: "MariaDB"}},
			},
			"other, by typing": {single, func(w window) {
				w.typeInto("#q1-other", "MariaDB")
			}, []askback.QuestionAnswer{{Other: "MariaDB"}}},
			"notes": {single, func(w window) {
				w.Click("#q1-0", "#q1 details:has(#q1-notes) summary")
				w.typeInto("#q1-notes", "two\nlines")
			}, []askback.QuestionAnswer{{Selected: []string{"PostgreSQL"}, Notes: "two\nlines"}}},
			"free text": {
				free, func(w window) { w.typeInto("#q1-other", "Анна 😀") }, []askback.QuestionAnswer{{Other: "Анна 😀"}},
			},
			"several": {form, func(w window) {
				w.Click("#q1-2", "#q2-1", "#q4-0")
				w.typeInto("#q2-other", "fax")
			}, []askback.QuestionAnswer{
				{Selected: []string{"None"}},
				{Selected: []string{"E-mail"}, Other: "fax"},
				{},
				{Selected: []string{"Now"}},
			}},
		} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				a := c.ask(s.ask)
				w.open("/asks/" + a.ID)
				w.checkWidth()
				s.fill(w)
				w.Press("button[value=answer]")
				w.open("/asks/" + a.ID)
				w.wantText("Answered by ana in the browser")
				w.checkWidth()
				got := c.outcome(a)
				if d := cmp.Diff(s.want, got.Answers,
					cmpopts.IgnoreFields(askback.QuestionAnswer{}, "ID", "Question")); d != "" {
					t.Error(d)
				}
				if got.Channel != askback.ChannelWeb || got.Actor.Name != "ana" {
					t.Errorf("by %v via %s", got.Actor, got.Channel)
				}
			})
		}
		for action, want := range map[string]askback.Decision{
			"approve": askback.Approve, "deny": askback.Deny, "decline": "",
		} {
			t.Run(name+"/"+action, func(t *testing.T) {
				a := c.ask(harmless)
				w.open("/asks/" + a.ID)
				w.checkWidth()
				w.Click("details:has(#reason) summary")
				w.typeInto("#reason", "because")
				if action == "decline" {
					w.Click(".decline summary")
				}
				w.Press("form.ask button[value=" + action + "]")
				w.open("/asks/" + a.ID)
				w.wantText("because")
				if got := c.outcome(a); got.Decision != want || got.Reason != "because" {
					t.Errorf("got %+v", got)
				}
			})
		}
		t.Run(name+"/error", func(t *testing.T) {
			a := c.ask(form)
			w.open("/asks/" + a.ID)
			w.Click("#q1-1", "details:has(#comment) summary")
			w.typeInto("#comment", "a remark")
			w.Press("button[value=answer]")
			w.wantText("Not sent yet.", "Question 2: Please choose an answer, or write your own.")
			w.checkWidth()
			w.Click("#q2-0")
			w.Press("button[value=answer]")
			if got := c.outcome(a); got.Answers[0].Selected[0] != "SQLite" || got.Comment != "a remark" {
				t.Errorf("got %+v", got)
			}
		})
	}
	c.Check(t)
}

// checkWidth reports an error if the page is wider than the window.
func (w window) checkWidth() {
	w.t.Helper()
	var page, screen int64
	w.Run(chromedp.Evaluate("document.documentElement.scrollWidth", &page), chromedp.Evaluate("screen.width", &screen))
	if page > screen {
		w.t.Errorf("the page is %d px wide on a screen of %d", page, screen)
	}
}

// Typing claims the ask, which holds its deadline. Reading does not claim the ask (F5).
func TestChromiumTypingClaimsTheAsk(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	if got := c.get(a.ID); len(got.Claims) != 0 {
		t.Errorf("looking claims: %+v", got.Claims)
	}
	w.typeInto("#q1-other", "Mar")
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for ctx.Err() == nil && len(c.get(a.ID).Claims) == 0 {
			if err := chromedp.Evaluate("new Promise(requestAnimationFrame)", nil).Do(ctx); err != nil {
				return err
			}
		}
		return ctx.Err()
	}))
	if got := c.get(a.ID); len(got.Claims) != 1 || got.Claims[0].Name != "ana" {
		t.Errorf("typing claims: %+v", got.Claims)
	}
	c.Check(t)
}

// The script picks Other when a person types into the field of Other, even after another choice.
func TestChromiumTypingPicksOther(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	w.Click("#q1-0")
	w.typeInto("#q1-other", "MariaDB")
	w.Press("button[value=answer]")
	if got := c.outcome(a).Answers[0].String(); got != "MariaDB" {
		t.Errorf("got %s", got)
	}
	c.Check(t)
}

// If two browsers answer at the same time, one answer counts. The other browser shows who answered first, and
// keeps the typed text (E10).
func TestChromiumFirstOfTwoAnswersWins(t *testing.T) {
	c := newChromium(t)
	ana, ben := c.window(phone), c.window(desktop)
	ana.login("ana")
	ben.login("ben")
	for range 5 {
		a := c.ask(single)
		path := "/asks/" + a.ID
		ana.open(path)
		ben.open(path)
		ana.Click("#q1-1")
		ben.typeInto("#q1-other", "MariaDB")
		var both sync.WaitGroup
		for _, w := range []window{ana, ben} {
			// the button may be gone already, because the page shows the other answer
			both.Go(func() { w.Run(chromedp.Evaluate(`document.querySelector("button[value=answer]")?.click()`, nil)) })
		}
		both.Wait()
		winner, loser, won, lost := ana, ben, "SQLite", "MariaDB"
		winner.waitText("Answered")
		if c.outcome(a).Actor.Name == "ben" {
			winner, loser, won, lost = ben, ana, lost, won
		}
		winner.waitText("All clear", won)
		loser.waitText("What you", "not sent|filled in", won, lost)
	}
	c.Check(t)
}

// Neither Enter nor a hasty click approves (C3, T3, T12).
func TestChromiumEnterAndHastyClicksDoNotApprove(t *testing.T) {
	c := newChromium(t)
	for _, noJS := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: noJS})
		w.login("ana")
		for _, r := range []askback.Request{harmless, call} {
			a := c.ask(r)
			w.open("/asks/" + a.ID)
			var focused string
			w.Run(chromedp.Evaluate("document.activeElement.tagName", &focused))
			if focused != "BODY" {
				t.Errorf("%s has the focus", focused)
			}
			w.Click("details:has(#reason) summary")
			w.typeInto("#reason", "ok"+kb.Enter+kb.Enter+"sure"+kb.Enter)
			var typed, at string
			w.Run(chromedp.Value("#reason", &typed, chromedp.ByQuery), chromedp.Location(&at))
			if typed != "ok\n\nsure\n" || !strings.HasSuffix(at, a.ID) {
				t.Errorf("the field holds %q at %s", typed, at)
			}
			if c.get(a.ID).Settled() {
				t.Fatal("Enter settled it")
			}
			// Tab does not reach Approve first.
			w.Run(chromedp.Focus("#reason", chromedp.ByQuery), chromedp.KeyEvent(kb.Tab),
				chromedp.Evaluate("document.activeElement.value", &focused))
			if focused != "deny" {
				t.Errorf("Tab reaches %q", focused)
			}
		}
		dangerous := c.ask(call)
		w.open("/asks/" + dangerous.ID)
		var visible string
		w.Run(chromedp.Evaluate("getComputedStyle(document.querySelector('.approve')).animationName", &visible))
		if visible != "arm" {
			t.Errorf("a dangerous Approve is armed by %q", visible)
		}
		w.waitUntilArmed()
		w.typeInto("#word", "approve")
		w.Press("button.approve")
		if !c.outcome(dangerous).Approved() {
			t.Error("it is not approved")
		}
	}
	c.Check(t)
}

// When a dangerous call is shown again, Approve is disabled for a moment, and is never focused (T12).
func TestChromiumApproveIsDisabledAgainOnReturn(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	for _, event := range []string{
		`dispatchEvent(new Event("focus"))`, `dispatchEvent(new Event("pageshow"))`,
		`document.dispatchEvent(new Event("visibilitychange"))`,
	} {
		a := c.ask(call)
		w.open("/asks/" + a.ID)
		w.waitUntilArmed()
		var safe bool
		w.Run(chromedp.Evaluate(event+`; [...document.querySelectorAll(".approve")].every((b) => b.disabled && b !== document.activeElement)`, &safe))
		if !safe {
			t.Errorf("after %s it can be approved", event)
		}
		w.waitUntilArmed()
		w.typeInto("#word", "approve")
		w.Press("button.approve")
		if !c.outcome(a).Approved() {
			t.Error("it is not approved")
		}
	}
	c.Check(t)
}

// A standing approval is made and revoked with and without the script. Enter sends nothing (F7, F8).
func TestChromiumEditsArgumentsAndMakesAGrant(t *testing.T) {
	c := newChromium(t)
	for _, noJS := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: noJS})
		w.login("ana")
		a := c.ask(harmless)
		w.open("/asks/" + a.ID)
		w.Click(".edit summary")
		w.Run(chromedp.Focus("#input", chromedp.ByQuery), chromedp.KeyEvent("a", chromedp.KeyModifiers(2)))
		w.typeInto("#input", `{"to": }`)
		w.Press(".approve-once")
		w.wantText("Line 1, column 8", "Approve as edited")
		w.checkWidth()
		w.Run(chromedp.Focus("#input", chromedp.ByQuery), chromedp.KeyEvent("a", chromedp.KeyModifiers(2)))
		w.typeInto("#input", `{"to": "ana"}`)
		w.Press(".approve-once")
		w.open("/asks/" + a.ID)
		w.wantText("Approved with other arguments by ana")
		if got := string(c.outcome(a).Input); got != `{"to":"ana"}` {
			t.Errorf("the arguments are %s", got)
		}

		r := harmless
		r.SessionKey = "run"
		a = c.ask(r)
		w.open("/asks/" + a.ID)
		w.Click(".standing-approval summary", "input[value=tool]", `input[value="1h"]`)
		if !noJS {
			w.waitUntilKeysDecide()
		}
		w.PressKey(kb.Enter)
		w.wantText("The Enter key decides nothing.")
		w.checkWidth()
		if c.get(a.ID).Settled() {
			t.Fatal("Enter settled it")
		}
		w.Press("button[value=approve_all]")
		w.open("/asks/" + a.ID)
		w.wantText("Approved, also for later calls, by ana")
		next := c.ask(r)
		w.open("/asks/" + next.ID)
		w.wantText("Approved by the standing approval of ana", "No person was asked")
		w.open("/grants")
		w.wantText("deploy-bot", "mail.send", "approved by ana", "used once")
		w.checkWidth()
		w.Click(".grant .revoke summary")
		w.Run(chromedp.Focus(".grant .revoke button", chromedp.ByQuery))
		w.PressKey(kb.Enter)
		w.wantText("There are no standing approvals.")
		last := c.ask(r)
		if last.Settled() {
			t.Error("it is still approved")
		}
		// otherwise the next standing approval approves it, too
		if _, err := c.client(askback.Agent, "bot").Cancel(t.Context(), last.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	c.Check(t)
}

// the button changes its text as soon as the arguments are edited
func TestChromiumButtonShowsThatArgumentsWereEdited(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/asks/" + c.ask(harmless).ID)
	w.Click(".edit summary")
	words := func() (s string) {
		w.Run(chromedp.Text(".approve-once", &s, chromedp.ByQuery))
		return s
	}
	before := words()
	w.typeInto("#input", " x")
	between := words()
	w.Run(chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace))
	if got, want := before+"|"+between+"|"+words(), "Approve|Approve as edited|Approve"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.Check(t)
}

// The policy blocks scripts and images that the test inserts into the page. This also proves that the tests
// detect blocked content.
func TestChromiumContentSecurityPolicyBlocksScripts(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/asks/" + c.ask(single).ID)
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, thrown, err := runtime.Evaluate(`
			const script = document.createElement("script");
			try { script.textContent = "alert(1)"; document.body.append(script); } catch {}
			const image = new Image(); image.src = "http://evil.example/x"; document.body.append(image);
			document.body.setAttribute("style", "background: url(http://evil.example/y)");
		`).Do(ctx)
		if thrown != nil {
			return fmt.Errorf("%s", thrown.Text)
		}
		return err
	}))
	w.open("/")
	if len(c.Requests()) != 0 || strings.Contains(strings.Join(c.Violations(), " "), "dialog") {
		t.Errorf("it got out: %v %v", c.Requests(), c.Violations())
	}
	if len(c.Violations()) == 0 {
		t.Error("the policy blocked nothing, or the test did not notice")
	}
}

// Scripts cannot read the cookie of a log-in.
func TestChromiumLogOutEndsTheLogIn(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.open("/")
	w.wantText("askback login")
	w.loginWithLink("ana")
	var cookies []*network.Cookie
	var seen string
	w.Run(chromedp.Evaluate("document.cookie", &seen), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	i := slices.IndexFunc(cookies, func(c *network.Cookie) bool { return c.Name == "askback" })
	if i < 0 || len(cookies) > 2 || !cookies[i].HTTPOnly || (seen != "" && !strings.HasPrefix(seen, "askback-zone=")) ||
		strings.Contains(seen, ";") {
		t.Errorf("got %+v, and scripts see %q", cookies, seen)
	}
	w.Press(".account button")
	w.wantText("Log in first")
	c.Check(t)
}
