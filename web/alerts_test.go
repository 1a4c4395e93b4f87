package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
)

// hide makes the page believe that it is hidden. Headless Chromium hides no tab.
func (w window) hide() {
	w.t.Helper()
	w.Run(chromedp.Evaluate(`Object.defineProperty(document, "hidden", {get: () => true, configurable: true})`, nil))
}

// Without a push service and without a setting, one button makes an open page show new asks as notifications. It
// does nothing while a page is visible, and nothing for an agent that is muted. The row of a muted agent says so.
func TestChromiumOpenPageNotifies(t *testing.T) {
	c := newWholeChromium(t)
	w := c.window(phone)
	w.allowNotifications(chrome.PermissionSettingGranted)
	w.login("ana")
	w.open("/")
	w.waitForServiceWorker()
	w.waitText("This browser does not show notifications.")
	w.checkAccessibility("the offer")
	w.Click("#push-offer .push-on")
	w.waitText("while a page of Askback is open")
	w.waitUntil(`document.getElementById("push-offer").hidden && listening.stream?.readyState === 1`)
	seen := c.ask(named("Which database?"))
	w.waitUntil(`document.getElementById("row-` + seen.ID + `") !== null`)
	if all := w.notifications(); len(all) != 0 {
		t.Errorf("a visible page shows %+v", all)
	}
	w.hide()
	asked := c.ask(named("Done: “Deploy build 4711?”"))
	w.waitNotified("a hidden page", func(n shownNotification) bool {
		return n.Tag == asked.ID && n.Title == `“Done: "Deploy build 4711?"”` && n.Path == "/asks/"+asked.ID &&
			n.Body == "Asked by “deploy-bot”"
	})
	if _, err := c.client(askback.Responder, "ben").Answer(t.Context(), asked.ID, askback.Answer{
		Answers: []askback.QuestionAnswer{{ID: "q1", Other: "yes"}},
	}); err != nil {
		t.Fatal(err)
	}
	w.waitNoNotification("after the ask was answered")
	w.open("/asks/" + seen.ID)
	w.Click(".mute-switch")
	w.waitText("This browser tells you nothing about the asks of this agent")
	w.open("/")
	w.waitUntil(`document.querySelector("#row-` + seen.ID + `").matches(".is-muted")`)
	w.waitText("Muted in this browser")
	w.checkAccessibility("a muted agent")
	w.Click(".mute-switch-of")
	w.waitUntil(`!document.querySelector("#row-` + seen.ID + `").matches(".is-muted")`)
	w.Click("#push-state .push-off")
	w.waitText("This browser does not show notifications.")
	c.Check(t)
}

// After ten notifications in a minute, one stands for the others (T18).
func TestChromiumManyAsksAreFewNotifications(t *testing.T) {
	c := newWholeChromium(t)
	w := c.window(desktop)
	w.allowNotifications(chrome.PermissionSettingGranted)
	w.login("ana")
	w.open("/")
	w.waitForServiceWorker()
	w.Click("#push-offer .push-on")
	w.waitUntil(`listening.stream?.readyState === 1`)
	w.hide()
	w.Run(chromedp.Evaluate(`const now = Date.now(); Date.now = () => now`, nil)) // all are in one minute
	for n := range 13 {
		c.ask(named(fmt.Sprintf("Question %d?", n)))
	}
	w.waitNotified("many asks", func(n shownNotification) bool {
		return n.Tag == "askback-more" && n.Title == "More questions wait for you" && n.Path == "/"
	})
	if all := w.notifications(); len(all) > 11 {
		t.Errorf("the browser shows %d notifications: %+v", len(all), all)
	}
	c.Check(t)
}

// A sound is off until a button turns it on. An ask of a muted agent plays none.
func TestChromiumSoundIsOffUntilTurnedOn(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/")
	const played = `Number(document.documentElement.dataset.sounds || 0)`
	first := c.ask(named("One?"))
	w.waitUntil(`document.getElementById("row-` + first.ID + `") !== null`)
	var n int
	if w.Run(chromedp.Evaluate(played, &n)); n != 0 {
		t.Errorf("a sound is played %d times without consent", n)
	}
	w.Click(".sound-switch")
	w.waitText("Sound is on")
	w.waitUntil(played + ` === 1 && listening.stream?.readyState === 1`) // so that people know it
	c.ask(named("Two?"))
	w.waitUntil(played + ` === 2`)
	w.Run(chromedp.Evaluate(`store("muted", ["noisy"])`, nil))
	noisy := named("Three?")
	noisy.Agent = "noisy"
	c.ask(noisy)
	last := c.ask(named("Four?"))
	w.waitUntil(`document.getElementById("row-` + last.ID + `") !== null`)
	w.waitUntil(played + ` === 3`)
	w.open("/")
	w.waitText("Sound is on")
	w.Click(".sound-switch")
	w.waitText("Sound is off")
	c.Check(t)
}

// A page does not repeat what another page told while it had the turn.
func TestChromiumPageThatTakesTheTurnRepeatsNothing(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/")
	const played = `Number(document.documentElement.dataset.sounds || 0)`
	w.Click(".sound-switch")
	w.waitUntil(played + ` === 1 && listening.stream?.readyState === 1`)
	c.ask(named("One?"))
	w.waitUntil(played + ` === 2`)
	// The script takes the turn, as another page does.
	w.Run(chromedp.Evaluate(`void navigator.locks.request("askback-alerts", { steal: true },
		() => new Promise((end) => { window.endTurn = end; }))`, nil))
	w.waitUntil(`listening.stream === null && window.endTurn !== undefined`)
	two := c.ask(named("Two?"))
	w.waitUntil(`document.getElementById("row-` + two.ID + `") !== null`)
	w.Run(chromedp.Evaluate(`endTurn()`, nil))
	w.waitUntil(`listening.stream?.readyState === 1`)
	three := c.ask(named("Three?"))
	w.waitUntil(`document.getElementById("row-` + three.ID + `") !== null && ` + played + ` >= 3`)
	if got := w.eval(played); got != "3" {
		t.Errorf("the page played %s sounds, want 3: the switch and the asks one and three", got)
	}
	c.Check(t)
}

// The offer needs no setting of the server. An operator, who answers nothing, gets none.
func TestAlertsAreOfferedWithoutSettings(t *testing.T) {
	h := newServer(t)
	h.ask(single)
	page := h.browser("ana").open("/", http.StatusOK)
	if got := page.one(t, "#push-state").attr["data-key"]; got != "" || len(page.all("#push-offer")) != 1 {
		t.Errorf("the offer is missing, or has the key %q", got)
	}
	operator := browser{h, h.secret(askback.Operator, "ops")}
	if w := operator.do(operator.request(http.MethodGet, "/", nil)); strings.Contains(w.Body.String(), "push-offer") {
		t.Error("an operator gets the offer")
	}
	asks := h.browser("ana").open("/", http.StatusOK).all("#list .row")
	if !slices.ContainsFunc(asks, func(n *node) bool { return len(n.all(".from .agent")) == 1 }) {
		t.Error("a row does not name its agent, so it cannot be muted")
	}
}
