package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/test/kit/browsertest"
)

// replacing is a call that replaces a line of a file.
var replacing = askback.Request{Confirmation: &askback.Confirmation{
	ToolName: "Edit", Description: "Counts the items.",
	Input: json.RawMessage(`{"file_path":"/home/ana/shop/payment.go","old_string":"a\nb","new_string":"a\nc"}`),
}}

// longCall is a harmless call with many lines of arguments.
var longCall = askback.Request{Confirmation: &askback.Confirmation{
	ToolName: "notes.write", Description: "Writes the notes.",
	Input: json.RawMessage(`{"text":"` + strings.Repeat(`line\n`, 40) + `"}`),
}}

// lookalike is a call with a warning.
var lookalike = askback.Request{Confirmation: &askback.Confirmation{
	ToolName: "tickets.label", Input: json.RawMessage(`{"ticket":"one","Ticket":"two"}`),
}}

// The bar names what Approve covers or, if Approve is at the end of the call, the reason.
func TestBarExplainsApprove(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	for _, x := range []struct {
		ask  askback.Request
		want string
	}{
		{harmless, "Approves exactly these arguments, for one run."},
		{asktool.Action("Merge PR #812", "The tests pass."), "Approves exactly this text, once."},
		{call, "Dangerous: read it all before you approve."},
		{longCall, "Long: read it all before you approve."},
		{lookalike, "Warnings: read them before you approve."},
	} {
		a := h.ask(x.ask)
		page := ana.open("/asks/"+a.ID, http.StatusOK)
		bar := page.one(t, ".bar")
		if got := bar.one(t, ".bar-note").visibleText(); got != x.want {
			t.Errorf("%s: the bar says %q, want %q", a.Confirmation.ToolName, got, x.want)
		}
		isBelow := !strings.HasPrefix(x.want, "Approves")
		if got := len(bar.all(".to-approve")) == 1; got != isBelow || got == (len(bar.all(".approve")) == 1) {
			t.Errorf("%s: the bar has a link to Approve: %v", a.Confirmation.ToolName, got)
		}
		const scope = "Approves exactly these arguments"
		if isBelow && !strings.Contains(page.one(t, ".approve-below").visibleText(), scope) {
			t.Errorf("%s: the scope is not next to Approve", a.Confirmation.ToolName)
		}
	}
}

// An action is text of the agent. Its page does not claim that only the text below it is.
func TestActionIsNotSetApartFromTheWordsOfTheAgent(t *testing.T) {
	h := newServer(t)
	const sentence = "What will run is shown above"
	action := asktool.Action("Merge PR #812", "The tests pass.")
	action.Title = "Release 4.2"
	for _, x := range []struct {
		ask  askback.Request
		want bool
	}{{action, false}, {replacing, true}} {
		text := h.browser("ana").open("/asks/"+h.ask(x.ask).ID, http.StatusOK).one(t, "main").visibleText()
		if got := strings.Contains(text, sentence); got != x.want {
			t.Errorf("%s: says %q: %v, want %v", x.ask.Confirmation.ToolName, sentence, got, x.want)
		}
	}
}

// The file of a change is named first, and its folder follows.
func TestChangeNamesTheFileBeforeItsFolder(t *testing.T) {
	h := newServer(t)
	page := h.browser("ana").open("/asks/"+h.ask(replacing).ID, http.StatusOK)
	name, folder := page.one(t, ".call .label .name").visibleText(), page.one(t, ".call .label .folder").visibleText()
	if name != "payment.go" || folder != "/home/ana/shop/" {
		t.Errorf("the file is %q in %q", name, folder)
	}
}

// In the bar of a phone, the link to Approve has one line. It disappears while Approve is on the screen.
func TestChromiumBarLeadsToApproveOnlyIfItIsOffTheScreen(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	one, two := c.ask(label("one")), c.ask(longCall)
	for _, path := range []string{"/asks/" + two.ID, "/decide?ask=" + one.ID + "&ask=" + two.ID} {
		w.open(path)
		w.waitUntil(`(() => {
			const link = document.querySelector(".bar .to-approve"), r = link.getBoundingClientRect();
			return r.height <= 50 && r.bottom <= innerHeight && link.checkVisibility({visibilityProperty: true}) &&
				document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2) === link;
		})()`)
		w.Run(chromedp.Evaluate(`document.querySelector(".approve-once").scrollIntoView()`, nil))
		w.waitUntil(`!document.querySelector(".bar .to-approve").checkVisibility({visibilityProperty: true})`)
		w.Run(chromedp.Evaluate(`scrollTo(0, 0)`, nil))
		w.waitUntil(`document.querySelector(".bar .to-approve").checkVisibility({visibilityProperty: true})`)
	}
	c.Check(t)
}

// What will run has other colors than what the agent says about it. Lines of a change have a ground, so that a wrapped
// line is seen as one. Radio buttons are not filled before they are chosen.
func TestChromiumPanelsAndControlsAreToldApart(t *testing.T) {
	c := newChromium(t)
	for _, dark := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, Dark: dark})
		w.login("ana")
		w.open("/asks/" + c.ask(replacing).ID)
		var wrong []string
		w.Run(chromedp.Evaluate(`(() => {
			const style = (s) => getComputedStyle(document.querySelector(s)), wrong = [];
			const ground = (s) => style(s).backgroundColor, edge = (s) => style(s).borderLeftColor;
			const said = ".background .agent-text", runs = ".call .agent-text";
			if (ground(said) === ground(runs) || edge(said) === edge(runs)) wrong.push("panel");
			const lines = [".diff-line:not(.is-added, .is-removed)", ".is-added", ".is-removed"].map(ground);
			if (new Set(lines).size !== 3) wrong.push("lines " + lines);
			return wrong;
		})()`, &wrong))
		if len(wrong) > 0 {
			t.Errorf("dark %v: %q look alike", dark, wrong)
		}
		w.open("/asks/" + c.ask(single).ID)
		w.waitUntil(`getComputedStyle(document.querySelector("#q1-0")).appearance === "none" && getComputedStyle(document.querySelector("#q1-0")).backgroundColor === "rgba(0, 0, 0, 0)"`)
		w.Click("label:has(#q1-0)")
		w.waitUntil(`getComputedStyle(document.querySelector("#q1-0")).backgroundImage.includes("gradient")`)
	}
	c.Check(t)
}

// Snooze, Reassign and Mute are on one line, in the same size and color.
func TestChromiumActionsBelowAnAskAreOneRow(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/asks/" + c.ask(single).ID)
	w.waitUntil(`(() => {
		const row = [".snooze summary", ".reassign-link", ".mute-switch"].map((s) => document.querySelector(s));
		const looks = row.map((e) => {
			const s = getComputedStyle(e), r = e.getBoundingClientRect();
			return [r.top, r.height, s.color, s.fontSize, s.fontWeight].join();
		});
		return new Set(looks).size === 1;
	})()`)
	w.Click(".snooze summary")
	w.waitUntil(`(() => {
		const top = (s) => document.querySelector(s).getBoundingClientRect().top;
		return document.querySelector("#snooze").open && top(".snooze summary") < top(".reassign-link");
	})()`)
	c.Check(t)
}
