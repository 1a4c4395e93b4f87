package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/internal/server/config"
)

func phonePage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/phone.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The commands of docs/phone.md, at most five, lead to an answer from the button of a notification. They run as
// they are pasted, except for the address of ntfy.sh, which a fake replaces (E3, F6).
func TestCommandsOfThePhonePageWork(t *testing.T) {
	t.Parallel()
	commands := strings.Split(strings.TrimSpace(codeBlocks(phonePage(t), "sh")[0]), "\n")
	if len(commands) > 5 {
		t.Fatalf("the page has the commands %q, want at most five", commands)
	}
	ntfy := posttest.NewNtfy(t)
	at, err := url.Parse(ntfy.Server)
	if err != nil {
		t.Fatal(err)
	}
	env, _ := sandbox(t)
	fake := strings.NewReplacer("https://ntfy.sh", ntfy.Server, ", reply_topic:",
		fmt.Sprintf(`, allow: ["%s"], reply_topic:`, at.Host))
	p := &process{env: env, dir: t.TempDir()}
	if err := p.start("sh", "-c", "set -e\n"+fake.Replace(strings.Join(commands, "\n"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended })
	var question posttest.Message
	eventually(func() bool {
		for _, m := range ntfy.Messages() {
			if len(m.Buttons) > 0 {
				question = m
			}
		}
		return question.ID != "" || p.hasEnded()
	})
	if question.ID == "" {
		t.Fatalf("no question arrived:\n%s%s", p.out.String(), p.err.String())
	}
	topic := regexp.MustCompile(regexp.QuoteMeta(ntfy.Server) + `/(askback-[0-9a-f]{24})"`).FindStringSubmatch(
		p.out.String(),
	)
	if topic == nil || question.Topic != topic[1] || ntfy.Messages()[0].Topic != topic[1] ||
		ntfy.Messages()[0].Title != "Test from Askback" {
		t.Fatalf("the commands print the topic %q; the question is in %s:\n%s", topic, question.Topic, p.out.String())
	}
	button := question.Buttons[slices.IndexFunc(question.Buttons,
		func(b posttest.Button) bool { return b.Label == "SQLite" })]
	r, err := http.Post(button.URL, "", strings.NewReader(button.Body))
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	<-p.ended
	if got := p.out.String(); p.result != nil || !strings.HasSuffix(got, "\nSQLite\n") {
		t.Errorf("got %q, %v, want the answer at the end:\n%s", got, p.result, p.err.String())
	}
	if out := p.out.String() + p.err.String(); strings.Contains(out, button.Body) {
		t.Errorf("a token is in the output:\n%s", out)
	}
}

// The settings of every service on docs/phone.md are valid.
func TestSettingsOfThePhonePageAreValid(t *testing.T) {
	t.Parallel()
	found := map[post.Template]bool{}
	for _, block := range codeBlocks(phonePage(t), "yaml") {
		got, err := config.Load("phone.md", strings.NewReader(block), func(name string) (string, bool) {
			value, ok := map[string]string{
				"DISCORD_WEBHOOK":    "https://discord.com/api/webhooks/1/secret",
				"TEAMS_WEBHOOK":      "https://prod.example.com/workflows/1",
				"MATTERMOST_WEBHOOK": "https://chat.example.com/hooks/key",
			}[name]
			if !ok {
				value = "a-token"
			}
			return value, true
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Channels["post"].(post.Settings) {
			found[r.Template] = true
		}
	}
	for _, template := range post.Templates {
		if !found[template] {
			t.Errorf("docs/phone.md has no settings for %s", template)
		}
	}
}
