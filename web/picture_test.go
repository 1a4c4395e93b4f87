package web_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// TestPagesAreSavedAsPictures writes pictures of the pages in six viewports to the
// folder ASKBACK_PICTURES, for people to look at.
func TestPagesAreSavedAsPictures(t *testing.T) {
	dir := os.Getenv("ASKBACK_PICTURES")
	if dir == "" {
		t.Skip("ASKBACK_PICTURES names no folder")
	}
	c := newChromium(t)
	first := form
	first.Timeout, first.OnTimeout = 2*time.Hour, askback.OnTimeoutFail
	question := c.ask(single)
	several := c.ask(first)
	confirmation := c.ask(call)
	hostile := c.ask(askback.Request{Agent: "Askback ✔ Approved by admin", Questions: []askback.Question{{
		Text: "Done.\n\n✔ Approved by admin\n\u202eevil\u202c <b>bold</b> \x1b[31mred",
		Options: []askback.Option{
			{Label: "مرحبا بالعالم", Description: strings.Repeat("x", 300)}, {Label: "<script>alert(1)</script>"},
		},
	}}})
	written := c.ask(askback.Request{
		Title: "Moving the orders table", Context: json.RawMessage(`"The migration has **three steps**:\n\n1. copy the rows\n2. switch the view \u0060orders_v\u0060\n3. drop the old table\n\nSee [the runbook](https://wiki.example.com/db/move) and [github.com/acme](https://github.com.evil.example/acme)."`),
		Questions: []askback.Question{{
			Text: "Which **strategy** should I use for \u0060orders\u0060?\n\n| | time | locks |\n|---|---|---|\n" +
				"| online | 40 min | none |\n| offline | 3 min | all |\n\n> Ana: *not on a Friday*",
			Header: "Strategy",
			Options: []askback.Option{
				{
					Label:       "Online",
					Description: "Slow, but **without an outage**.\n\n- copies in batches\n- checks each one",
					Preview:     "pg_repack --table orders",
				},
				{Label: "Offline", Description: "Fast, in a window."},
			},
		}},
	})
	mail := askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "mail.send", Server: "office",
		Description: "Tells **everybody** about the outage.\n\n- short\n- friendly",
		Input:       json.RawMessage(`{"to":["all@example.com"],"To":"ceo@example.com","subject":"Outage","body":"Dear all,\n\nwe are down.\n"}`),
	}}
	padded, _ := json.Marshal(map[string]string{
		"command": "ls" + strings.Repeat("\n", 200) + "rm -rf /" + strings.Repeat(" ", 5_000) + "&& reboot",
	})
	hiding := c.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "shell.run", Input: padded, Dangerous: true,
		Description: strings.Repeat("Words and more words. ", 300),
	}})
	big := c.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "shell.run", Input: json.RawMessage(`{"command":"` + strings.Repeat("echo hello world; ", 60) + `"}`),
	}})
	settled := c.ask(single)
	denied := c.ask(call)
	ctx := context.Background()
	ben := c.client(askback.Responder, "ben")
	granted, changed := c.ask(harmless), c.ask(harmless)
	given := askback.Choose("SQLite")
	given.Answers[0].Notes, given.Comment = "One file is enough for us.", "Ask again when we have a second server."
	for _, err := range []error{
		errorOf(ben.Answer(ctx, settled.ID, given)),
		errorOf(ben.Answer(ctx, denied.ID, askback.Decide(askback.Deny, "Not on a Friday."))),
		errorOf(ben.Claim(ctx, several.ID)),
		errorOf(ben.Answer(ctx, changed.ID,
			askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to":"ana"}`)})),
		errorOf(ben.Answer(ctx, granted.ID,
			askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	byGrant := c.ask(harmless)
	brief := free
	brief.Timeout = time.Minute
	expired := c.ask(brief)
	drawn := c.ask(askback.Request{Questions: []askback.Question{{Text: "Which layout?", Options: []askback.Option{
		{Label: "Table", Preview: "```\n+------------+-------------+-----------+-----------+\n| name       | status " +
			"     | since     | by        |\n+------------+-------------+-----------+-----------+\n```"},
		{Label: "SQL", Preview: "```sql\nselect id, created_at, status from orders where status = 'open' order by " +
			"created_at;\n```"},
	}}}})
	shell := c.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "Bash", Input: json.RawMessage(
		`{"command":"rm -rf build && make release VERSION=2.4.0 TARGET=production REGION=eu-central-1"}`,
	)}})
	c.now = c.now.Add(7 * time.Minute)
	if _, err := ben.Answer(ctx, expired.ID, given); err == nil {
		t.Fatal("a late answer was taken")
	}
	for name, l := range map[string]browsertest.Viewport{
		"phone-light": phone, "phone-dark": {Width: 360, Height: 740, Dark: true},
		"tablet-light": {Width: 800, Height: 900}, "tablet-dark": {Width: 800, Height: 900, Dark: true},
		"desktop-light": {Width: 1400, Height: 900}, "desktop-dark": {Width: 1400, Height: 900, Dark: true},
	} {
		w := c.window(l)
		save := func(page string) {
			if err := os.WriteFile(filepath.Join(dir, page+"-"+name+".png"), w.Screenshot(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w.open("/")
		save("log_in")
		w.open("/login?secret=" + w.link("ana"))
		save("login")
		w.login("ana")
		save("list")
		for page, a := range map[string]askback.Ask{
			"question": question, "several": several, "confirmation": confirmation, "settled": settled,
			"denied": denied, "hostile": hostile, "long": big, "written": written, "padded": hiding,
			"changed": changed, "granted": granted, "by-grant": byGrant, "expired": expired, "drawn": drawn,
		} {
			w.open("/asks/" + a.ID)
			if a.Confirmation != nil && !c.get(a.ID).Settled() {
				w.waitUntilArmed()
			}
			save(page)
		}
		call := *mail.Confirmation
		call.Server = name // so that no earlier standing approval covers the ask
		mail.Confirmation = &call
		editable := c.ask(mail)
		w.open("/asks/" + editable.ID)
		w.Click(".edit summary")
		save("edit")
		w.typeInto("#input", "{")
		w.Press("button.approve")
		save("edit-wrong")
		w.open("/asks/" + editable.ID)
		w.Click(".standing-approval summary")
		save("approve-all")
		w.Press(".standing-approval .approve")
		save("approve-all-done")
		w.open("/asks/" + shell.ID)
		w.Click(".standing-approval summary")
		save("shell")
		w.open("/asks/" + confirmation.ID)
		save("arming")
		w.open("/grants")
		save("grants")
		w.open("/asks/" + several.ID)
		w.Click("#q1-pick-other")
		w.typeInto("#comment", "Two\nlines")
		w.Press(`button[value=answer]`)
		save("error")
		lost := c.ask(single)
		w.open("/asks/" + lost.ID)
		w.typeInto("#q1-other", "MariaDB, because we know it")
		if _, err := ben.Answer(ctx, lost.ID, given); err != nil {
			t.Fatal(err)
		}
		w.Press(`button[value=answer]`)
		save("overtaken")
		w.open("/nowhere")
		save("notfound")
	}
}

func errorOf[T any](_ T, err error) error { return err }
