package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// pendingAsk returns the only open ask. If there is not exactly one open ask, the test fails.
func (c *chromium) pendingAsk() askback.Ask {
	c.t.Helper()
	asks, err := c.client(askback.Responder, "ana").List(context.Background(), askback.Query{})
	if err != nil || len(asks.Items) != 1 {
		c.t.Fatalf("got %d open asks, %v", len(asks.Items), err)
	}
	return asks.Items[0]
}

// The ask of a run is answered on the page of the run. The form appears when the ask opens, and keeps the
// filled-in fields while the page changes. No part of these fields is in the form of the next ask.
func TestChromiumRunIsAnsweredOnItsPage(t *testing.T) {
	c := newChromium(t)
	host := c.host()
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	s := c.runPoem("Write a poem.")
	w.open("/sessions/" + s.ID)
	host.says("I have two questions.", askCall(), askCall())
	w.waitText("Which style?", "Other")
	first := c.pendingAsk()
	w.waitUntil(`document.querySelector("#open-ask form.ask")?.dataset.ask === "` + first.ID + `"`)
	// the content above may move
	w.eval(`document.getElementById("q1-1").click(), document.querySelector("#open-ask .extras details").open = true`)
	w.typeInto("#q1-notes", "with a frog")
	c.waitForEvents(s.ID, askback.EventQuestionClaimed) // typing claims the ask, and the page is loaded again
	w.eval(`window.form = document.querySelector("#open-ask form")`)
	if _, err := c.client(askback.Responder, "ben").Claim(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	w.waitText("ben looked at")
	if got := w.eval(`[document.getElementById("q1-1").checked, document.getElementById("q1-notes").value, document.querySelector("#open-ask form") === window.form].join()`); got != "true,with a frog,true" {
		t.Errorf("after a change, the form has %q", got)
	}
	w.checkAccessibility("run with an ask")
	w.eval(`document.querySelector("#open-ask .bar button").click()`)
	w.waitUntil(
		`(document.querySelector("#open-ask form.ask")?.dataset.ask || "` + first.ID + `") !== "` + first.ID + `"`,
	)
	if at := w.Address(); !strings.HasSuffix(at, "/sessions/"+s.ID) {
		t.Errorf("after the answer, the page is %s", at)
	}
	if got := w.eval(`[document.querySelectorAll("#open-ask :checked").length, document.getElementById("q1-notes").value, document.querySelector("#open-ask form").dataset.sent].join()`); got != "0,," {
		t.Errorf("the next form has %q of the first one", got)
	}
	settled, err := c.client(askback.Responder, "ana").Get(t.Context(), first.ID)
	if err != nil || settled.Outcome == nil || settled.Outcome.Answers[0].Notes != "with a frog" {
		t.Fatalf("got %+v, %v", settled.Outcome, err)
	}

	// When the ask is settled elsewhere, the form is removed, and the page still shows the typed text.
	w.typeInto("#q1-other", "a ballad")
	if _, err := c.client(askback.Responder,
		"ben").Answer(t.Context(), c.pendingAsk().ID, askback.Choose("sonnet")); err != nil {
		t.Fatal(err)
	}
	w.waitGone("#open-ask")
	w.waitText("What you filled in was not sent", "a ballad")
	host.says("Done.")
	w.waitText("Done.")
	w.wantText("a ballad")
	c.Check(t)
}

// Without scripts, the form sends the answer, and leads back to the run.
func TestChromiumRunIsAnsweredWithoutScripts(t *testing.T) {
	c := newChromium(t)
	host := c.host()
	w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: true})
	w.login("ana")
	s := c.runPoem("Write a poem.")
	host.says("I ask.", askCall())
	c.waitForEvents(s.ID, askback.EventQuestionPending)
	w.open("/sessions/" + s.ID)
	w.checkWidth()
	w.Press("#open-ask .bar button") // nothing is chosen
	w.waitText("Not sent yet.")
	w.open("/sessions/" + s.ID)
	w.Click("#q1-0")
	w.Press("#open-ask .bar button")
	w.waitText("Answered by ana")
	if at := w.Address(); !strings.HasSuffix(at, "/sessions/"+s.ID) {
		t.Errorf("after the answer, the page is %s", at)
	}
	host.says("Done.")
	c.Check(t)
}

// A click that began before an ask appeared does not answer it.
func TestChromiumClickDoesNotAnswerAnAskThatJustOpened(t *testing.T) {
	c := newChromium(t)
	host := c.host()
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	s := c.runPoem("Write a poem.")
	w.open("/sessions/" + s.ID)
	w.waitText("Message to the agent")
	// the click is made at the moment when the form appears on the page
	w.Run(chromedp.Evaluate(`document.addEventListener("htmx:finally:swap", () => {
		const button = document.querySelector("#open-ask .bar button");
		if (!button || window.early !== undefined) return;
		document.getElementById("q1-0").checked = true;
		window.early = button.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
	})`, nil))
	host.says("", askCall())
	w.waitUntil(`window.early !== undefined`)
	if got := w.eval("window.early"); got != "false" {
		t.Error("the click had its effect")
	}
	if a := c.pendingAsk(); a.Settled() {
		t.Errorf("it was answered: %+v", a.Outcome)
	}
	c.Check(t)
}
