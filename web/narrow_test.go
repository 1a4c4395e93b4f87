package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// maxAbove is the greatest distance in pixels between the top of a phone's window and the question.
const maxAbove = 160

// askFrom is like [server.ask], for an agent with another name of its token.
func (h *server) askFrom(owner string, r askback.Request) askback.Ask {
	h.t.Helper()
	a, err := h.client(askback.Agent, owner).Ask(context.Background(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// On a phone, the question begins near the top, whatever is said about it: a long name of the agent, a title, a
// context, a deadline, other people, reminders. An action or a tool does, too.
func TestChromiumQuestionIsNearTheTopOfAPhone(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	long := strings.Repeat("quarterly-reconciliation-", 4) + "agent"
	title := strings.Repeat("Reconcile the ledgers of the third quarter. ", 4)
	background := json.RawMessage(`"` + strings.Repeat("The import ended with a **warning**. ", 60) + `"`)
	loaded := func(r askback.Request) askback.Request {
		r.Agent, r.Title, r.Tags = long, title, []string{"finance", "third-quarter", "reconciliation"}
		r.Timeout, r.OnTimeout = 26*time.Hour, askback.OnTimeoutDecline
		return r
	}
	question, several, dangerous, action := loaded(single), loaded(form), loaded(call), loaded(askback.Request{
		Confirmation: &askback.Confirmation{
			ToolName: "confirm_action", Description: "Merge PR #812", Context: "It is green.",
			Input: json.RawMessage(`{"action":"Merge PR #812","details":"It is green."}`),
		},
	})
	question.Context, several.Context = background, background
	quorum := loaded(harmless)
	quorum.Quorum, quorum.To = 2, []string{"ana", "ben", "cem"}
	for name, ask := range map[string]askback.Ask{
		"question": c.ask(question), "several questions": c.ask(several), "dangerous call": c.ask(dangerous),
		"quorum": c.ask(quorum), "action": c.ask(action),
		"hosted run": c.askFrom(askback.HostedPrefix+"clerk", func() askback.Request {
			r := question
			r.Agent = "clerk"
			return r
		}()),
	} {
		if _, err := c.client(askback.Responder, "ben").Claim(context.Background(), ask.ID); err != nil {
			t.Fatal(err)
		}
		w.open("/asks/" + ask.ID)
		var got struct {
			Top, Scrolled float64
			Choices       int  // options that are visible in whole
			Token         bool // whether the name of the token is visible in whole, beside a long name of the agent
		}
		w.Run(chromedp.Evaluate(`(() => {
			const first = document.querySelector(".question-text .markdown, .call .target, .call .action");
			const bar = document.querySelector(".bar").getBoundingClientRect().top;
			const isSeen = (e) => e.getBoundingClientRect().bottom <= bar;
			const token = document.querySelector(".ask-header .token")?.getBoundingClientRect().right ?? 0;
			return {
				Token: token <= document.querySelector(".ask-header .from").getBoundingClientRect().right + 0.5,
				Top: first.getBoundingClientRect().top, Scrolled: scrollY,
				Choices: [...document.querySelectorAll(".choice.from-agent > label")].filter(isSeen).length,
			};
		})()`, &got))
		if got.Top > maxAbove || got.Scrolled != 0 {
			t.Errorf("%s: it begins at %v px (scrolled by %v), want at most %d", name, got.Top, got.Scrolled, maxAbove)
		}
		if !got.Token {
			t.Errorf("%s: the name of the token is cut off", name)
		}
		if len(ask.Questions) == 1 && got.Choices < 1 {
			t.Errorf("%s: %d options are visible", name, got.Choices)
		}
		w.checkWidth()
	}
	c.Check(t)
}

// A row with buttons names the token of the agent in whole, also on a phone: a long name of the agent proves nothing.
func TestChromiumRowWithButtonsNamesTheToken(t *testing.T) {
	c := newChromium(t)
	r := harmless
	r.Agent = strings.Repeat("quarterly-reconciliation-", 4) + "agent"
	c.ask(r)
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	w.waitUntil(`(() => {
		const top = document.querySelector(".row.is-quick .row-top").getBoundingClientRect();
		const token = document.querySelector(".row.is-quick .token").getBoundingClientRect();
		return token.width > 0 && token.right <= top.right + 0.5 && token.bottom <= top.bottom + 0.5;
	})()`)
	w.checkWidth()
	c.Check(t)
}

// In a wide window the rows are short, begin with the question, and have no empty strips beside them.
func TestChromiumRowsUseTheirSpace(t *testing.T) {
	c := newChromium(t)
	for n := range 14 {
		r := single
		r.Title = fmt.Sprintf("Ticket %d", n)
		c.ask(r)
	}
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/")
	var got struct {
		Rows                  int
		Left, Right, Headline float64
	}
	w.Run(chromedp.Evaluate(`(() => {
		const pane = document.querySelector(".list-pane").getBoundingClientRect();
		const rows = [...document.querySelectorAll("#list > .row")].map((e) => e.getBoundingClientRect());
		const text = document.querySelector("#list > .row .row-text").getBoundingClientRect();
		return {
			Rows: rows.filter((r) => r.bottom <= innerHeight).length,
			Left: text.left - pane.left, Right: pane.right - rows[0].right,
			Headline: document.querySelector("#list > .row .headline").getBoundingClientRect().top - rows[0].top,
		};
	})()`, &got))
	if got.Rows < 11 || got.Left > 20 || got.Right > 12 || got.Headline > 14 {
		t.Errorf("got %+v, want 11 rows in 900 px, and texts that begin at the left and at the top", got)
	}
	c.Check(t)
}

// Rows show the whole name of an agent and whole words of the arguments, however narrow the window is.
func TestChromiumRowsCutNoName(t *testing.T) {
	c := newChromium(t)
	for _, agent := range []string{"deploy-bot", strings.Repeat("quarterly-reconciliation-", 3) + "agent"} {
		r := call
		r.Agent, r.Title = agent, "A title"
		r.Timeout, r.OnTimeout = 40*time.Minute, askback.OnTimeoutDecline
		r.Confirmation = &askback.Confirmation{
			ToolName: "db.migrate", Server: "warehouse", Dangerous: true, Description: "Remove what nothing uses.",
			Input: json.RawMessage(`{"database":"prod","sql":"drop table orders_2019; vacuum"}`),
		}
		s, err := c.client(askback.Agent, "bot").Start(t.Context(), askback.SessionRequest{
			Agent: agent, Title: "The nightly import of the orders of all shops",
		})
		if err != nil {
			t.Fatal(err)
		}
		r.SessionID = s.ID
		c.ask(r)
	}
	for _, width := range []int64{320, 360, 1400} {
		w := c.window(browsertest.Viewport{Width: width, Height: 900})
		w.login("ana")
		w.open("/")
		var cut []string
		w.Run(chromedp.Evaluate(`[...document.querySelectorAll(".row :is(.agent, .headline, .brief, .said)")].filter((e) => {
			const range = document.createRange();
			range.selectNodeContents(e);
			const {right, bottom} = range.getBoundingClientRect();
			for (let box = e; !box.matches(".row"); box = box.parentElement) {
				const r = box.getBoundingClientRect();
				if (getComputedStyle(box).overflow !== "visible" && (right > r.right + 1 || bottom > r.bottom + 1)) return true;
			}
			return right > e.closest(".row").getBoundingClientRect().right;
		}).map((e) => e.className + ": " + e.innerText)`, &cut))
		if len(cut) > 0 {
			t.Errorf("at %d px these are cut: %q", width, cut)
		}
	}
	c.Check(t)
}
