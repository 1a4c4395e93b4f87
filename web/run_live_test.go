package web_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/test/kit/browsertest"
)

// eval returns the value of an expression.
func (w window) eval(expression string) (value string) {
	w.t.Helper()
	w.Run(chromedp.Evaluate("String("+expression+")", &value))
	return value
}

// The page of a run shows the text of the model as it arrives. The complete message replaces this text.
// Opened elements and typed text stay (A5, B6).
func TestChromiumRunIsLive(t *testing.T) {
	c := newChromium(t)
	host := c.host()
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	s := c.runPoem("Write a poem.")
	w.open("/sessions/" + s.ID)
	host.writes("First I **look** <b>around</b>,")
	w.waitText("First I **look** <b>around</b>,")
	host.writes(" 😀 and then")
	w.waitText("around</b>, 😀 and then")
	host.writes(", slowly,")
	w.waitText("😀 and then, slowly,")
	host.says(" I write.", toolCall("files__list", `{"path": "."}`))
	w.waitText("files")
	if got := w.eval(`document.getElementById("typing").hidden`); got != "true" {
		t.Error("the text that arrived is still there, next to the whole message")
	}
	if got := strings.Count(w.Text(), "and then, slowly, I write."); got != 1 {
		t.Errorf("the message is there %d times:\n%s", got, w.Text())
	}
	w.eval(`window.first = document.querySelector(".moment"), window.form = document.querySelector(".message-form")`)
	w.Click("details.call-line > summary")
	w.typeInto("#message", "Keep a.")
	host.tools <- conversation.Executed{
		Text: "a\nb", Todos: []askback.Todo{{Content: "Read", Status: askback.TodoCompleted}},
	}
	w.waitText("Output, from the tool")
	host.writes("A frog")
	w.waitText("A frog")
	if got := w.eval(
		`document.querySelector("details.call-line").open + " " + document.getElementById("message").value`,
	); got != "true Keep a." {
		t.Errorf("after a change, what a person opened and typed is %q", got)
	}
	if got := w.eval(`document.querySelector(".moment") === window.first && document.querySelector(".message-form") === window.form`); got != "true" {
		t.Error("the page was replaced and not changed, so it flickers")
	}
	w.Click(".message-form button")
	w.waitText("The agent gets the message when its calls have ended.")
	if got := w.eval(`document.getElementById("message").value`); got != "" {
		t.Errorf("after it was sent, the message is still in its field: %q", got)
	}
	host.says(" leaps in.")
	w.waitText("A frog leaps in.")
	host.says("", askCall())
	w.waitText("Which style?")
	w.checkAccessibility("run")
	w.open("/run")
	w.checkAccessibility("start")
	c.Check(t)
}

// A run is readable without scripts, and each form works (B6).
func TestChromiumRunWorksWithoutScripts(t *testing.T) {
	c := newChromium(t)
	host := c.host()
	w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: true})
	w.login("ana")
	w.open("/run")
	w.Click(`input[value="poem"]`)
	w.typeInto("#prompt", "Write a poem.")
	w.Press(".start-run button")
	w.waitText("Write a poem.")
	host.says("I look.", toolCall("files__list", `{"path": "`+strings.Repeat("long", 100)+`"}`),
		toolCall(strings.Repeat("name", 15), `{}`))
	at := w.Address()
	c.waitForEvents(at[strings.LastIndex(at, "/")+1:], askback.EventToolStart)
	w.Open(at)
	w.wantText("I look.", "files", "running")
	w.checkWidth()
	w.typeInto("#message", "Keep a.")
	w.Press(".message-form button")
	w.waitText("The agent gets the message when its calls have ended.")
	host.tools <- conversation.Executed{Text: strings.Repeat("output", 100), IsError: true}
	c.waitForEvents(at[strings.LastIndex(at, "/")+1:], askback.EventToolComplete, askback.EventToolStart)
	w.Open(at)
	w.Click("details.call-line > summary")
	w.wantText("Arguments", strings.Repeat("name", 15))
	w.checkWidth()
	c.Check(t)
}

// pictureRun returns a run for pictures. It has everything that a page of a run can have.
func (c *chromium) pictureRun() askback.Session {
	c.t.Helper()
	host := c.host()
	s := c.runPoem("Tidy up the repository, and write down what you did. Ask me before you delete anything.")
	host.says("I look at **what is there** first:\n\n- the folder\n- the open branches",
		toolCall("files__list_directory", `{"path": "/srv/work/a/rather/long/path/to/some/folder"}`),
		toolCall("files__write_file", `{"path": "notes.txt", "text": "Hello"}`), spawnCall(), askCall())
	host.tools <- conversation.Executed{Text: "README.md\nmain.go\n", Todos: []askback.Todo{
		{Content: "Look around", Status: askback.TodoCompleted},
		{Content: "Ask about the style", Status: askback.TodoInProgress},
		{Content: "Write it down", Status: askback.TodoPending},
	}}
	host.tools <- conversation.Executed{Text: "open notes.txt: no space left on device", IsError: true}
	c.waitForEvents(s.ID, askback.EventQuestionPending)
	ana := c.client(askback.Responder, "ana")
	asks, err := ana.List(context.Background(), askback.Query{})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := ana.Answer(context.Background(), asks.Items[0].ID, askback.Choose("haiku")); err != nil {
		c.t.Fatal(err)
	}
	host.says("Now I **write**.", toolCall("files__write_file", `{"path": "poem.txt"}`))
	c.waitForEvents(s.ID, askback.EventToolComplete, askback.EventToolComplete, askback.EventToolStart)
	if _, err := ana.Send(context.Background(), s.ID, askback.SendMessage{Text: "And keep the old one."}); err != nil {
		c.t.Fatal(err)
	}
	host.tools <- conversation.Executed{Text: "written"}
	host.writes("Old pond. A frog leaps in. The sound of")
	return s
}

// TestRunsAreSavedAsPictures writes pictures of the pages of runs to the folder
// ASKBACK_PICTURES, for people to look at.
func TestRunsAreSavedAsPictures(t *testing.T) {
	dir := os.Getenv("ASKBACK_PICTURES")
	if dir == "" {
		t.Skip("ASKBACK_PICTURES names no folder")
	}
	c := newChromium(t)
	s := c.pictureRun()
	for name, v := range map[string]browsertest.Viewport{
		"360": phone, "1400": {Width: 1400, Height: 1000}, "1400_dark": {Width: 1400, Height: 1000, Dark: true},
	} {
		w := c.window(v)
		w.login("ana")
		for page, path := range map[string]string{
			"run": "/sessions/" + s.ID, "sessions": "/sessions", "start": "/run",
		} {
			w.open(path)
			if page == "run" {
				w.waitText("The sound of")
			}
			if err := os.WriteFile(filepath.Join(dir, "run_"+page+"_"+name+".png"), w.Screenshot(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
