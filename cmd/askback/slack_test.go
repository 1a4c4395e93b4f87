package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/server/config"
)

const slackPath = slack.Path

// slackServer starts a server with an app in Slack, in one of the two modes.
func slackServer(t *testing.T, slack *slacktest.Server, secrets string) *testServer {
	t.Helper()
	env, database := sandbox(t)
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf(`public_url: https://ask.example.com
people:
  - {name: ana, slack: %s}
channels:
  slack: {bot_token: %s, %s, channel: "%s", team: %s, api_url: %q}
`, slacktest.Ana.ID, slacktest.BotToken, secrets, slacktest.RoomName, slacktest.Team, slack.URL)
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "agent", "--name", "robot"))
	return s
}

// askInSlack asks a question and waits until its message can be answered. It returns the id and the message.
func askInSlack(s *testServer, slack *slacktest.Server, body string) (id string, m slacktest.Message) {
	s.t.Helper()
	id = s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	slack.Wait("a message with buttons", func() bool {
		for _, m = range slack.Messages() {
			if strings.Contains(m.Links(), id) && m.HasElements() {
				return true
			}
		}
		return false
	})
	return id, m
}

const slackQuestion = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "session_key": "run"}`

// A question appears in the channel, and a press of its button answers it, in both modes. The message then
// shows the outcome. The next question of the session is in its thread.
func TestQuestionIsAnsweredInSlack(t *testing.T) {
	t.Parallel()
	for mode, secrets := range map[string]string{
		"Socket Mode": "app_token: " + slacktest.AppToken,
		"HTTP":        "signing_secret: " + slacktest.SigningSecret,
	} {
		slack := slacktest.New(t)
		s := slackServer(t, slack, secrets)
		if got := mustRun(t, s.env, "channel", "test", "slack"); !strings.Contains(got,
			"Slack accepted the message for #agents") {
			t.Errorf("%s: got %q", mode, got)
		}
		if mode == "HTTP" {
			announced, _ := s.place.Last()
			slack.SendTo(announced.URL + slackPath)
		} else {
			slack.Wait("a connection", func() bool { return slack.Sockets() == 1 })
		}
		id, first := askInSlack(s, slack, slackQuestion)
		if ack := slack.Press(slacktest.Ana, first, "SQLite", nil); !ack.OK {
			t.Errorf("%s: got %+v", mode, ack)
		}
		if got := fmt.Sprint(s.call(s.agent, "GET", "/asks/"+id, "", 200)["outcome"]); !strings.Contains(got,
			"SQLite") || !strings.Contains(got, "ana") || !strings.Contains(got, "slack") {
			t.Errorf("%s: got the outcome %s", mode, got)
		}
		slack.Wait("the outcome", func() bool {
			for _, m := range slack.Messages() {
				if m.TS == first.TS {
					return !m.HasElements() && strings.Contains(m.Shown(), "answered by ana in Slack")
				}
			}
			return false
		})
		if _, second := askInSlack(s, slack, slackQuestion); second.Thread != first.TS {
			t.Errorf("%s: the second question of the session is in the thread %q, want %q", mode, second.Thread,
				first.TS)
		}
		if p := slack.Problems(); len(p) > 0 {
			t.Errorf("%s: Slack rejected %q", mode, p)
		}
		s.kill()
	}
}

// The settings in docs/slack.md are valid, and its manifest has what the channel needs.
func TestSettingsOfTheSlackPageAreValid(t *testing.T) {
	page, err := os.ReadFile("../../docs/slack.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		got, err := config.Load("slack.md", strings.NewReader(text), func(name string) (string, bool) {
			token, ok := map[string]string{
				"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_SIGNING_SECRET": "s3cret",
			}[name]
			return token, ok
		})
		if err != nil {
			t.Fatal(err)
		}
		set := newChannelSet(got, channels.Host{})
		_, served := set.open[0].Handlers[slackPath]
		if set.send["slack"] == nil || served != (got.Channels["slack"].(slack.Settings).SigningSecret != "") {
			t.Errorf("got channels %v, served %v for\n%s", set.send, served, text)
		}
	}
	manifest, err := os.ReadFile("../../docs/slack-manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"- chat:write", "messages_tab_enabled: true", "is_enabled: true", "socket_mode_enabled: true", slackPath + "\n",
	} {
		if !strings.Contains(string(manifest), part) {
			t.Errorf("the manifest lacks %q", part)
		}
	}
	if len(blocks) != 2 || !strings.Contains(string(page), slackPath) {
		t.Errorf("got %d examples, want 2 with the path", len(blocks))
	}
}
