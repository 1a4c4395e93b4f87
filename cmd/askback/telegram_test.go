package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/channel/telegram/telegramtest"
)

// The commands of docs/telegram.md, at most five, lead to an answer in Telegram. They run as they are pasted,
// except for the token, which a fake replaces (E4).
func TestCommandsOfTheTelegramPageWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/telegram.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(codeBlocks(string(page), "sh")[0]), "\n")
	if len(commands) > 5 {
		t.Fatalf("the page has the commands %q, want at most five", commands)
	}
	const user = 4001
	s := telegramtest.NewServer(t)
	s.AddUser(user)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	env, _ := sandbox(t)
	dir := t.TempDir()
	// A free port, because another server may run on this machine.
	fake := fmt.Sprintf(
		`{listen: "127.0.0.1:0", channels: {telegram: {token: "${TELEGRAM_TOKEN}", url: %q, allow: [%q]}}}`, s.URL,
		at.Host,
	)
	script := strings.NewReplacer(`channels: {telegram: {token: "${TELEGRAM_TOKEN}"}}`, fake, "1234567890:AA…",
		telegramtest.Token).Replace(strings.Join(commands[:2], "\n"))
	shell := func(command string) *process {
		p := &process{env: env, dir: dir}
		if err := p.start("sh", "-c", script+"\n"+command); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended })
		return p
	}
	serve, ok := strings.CutSuffix(commands[2], " &")
	if !ok {
		t.Fatalf("the server runs in front of the next commands: %q", commands[2])
	}
	server := shell("exec " + serve)
	if !eventually(func() bool { return s.Calls("getUpdates") > 0 || server.hasEnded() }) || server.hasEnded() {
		t.Fatalf("the server has ended, or does not fetch updates:\n%s", server.err.String())
	}
	var code []string
	eventually(func() bool {
		link := shell(commands[3])
		<-link.ended
		code = regexp.MustCompile(`https://t\.me/` + telegramtest.Username + `\?start=(\w+)`).FindStringSubmatch(
			link.out.String(),
		)
		return code != nil
	})
	if code == nil {
		t.Fatalf("%q prints no link; the log of the server:\n%s", commands[3], server.err.String())
	}
	s.Write(user, user, "/start "+code[1], 0)
	if _, err := s.Wait(user,
		func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "This chat is linked") }); err != nil {
		t.Fatalf("%v; the log of the server:\n%s", err, server.err.String())
	}
	ask := shell(commands[4])
	m, err := s.Wait(user, telegramtest.Message.Live)
	if err != nil {
		t.Fatalf("%v; the log of the server:\n%s\n%s", err, server.err.String(), ask.err.String())
	}
	if _, err := s.Press(user, user, m.ID, "SQLite"); err != nil {
		t.Fatal(err)
	}
	<-ask.ended
	if got := ask.out.String(); got != "SQLite\n" {
		t.Errorf("got %q from %q, want the answer:\n%s", got, commands[4], ask.err.String())
	}
	if _, err := s.Wait(user,
		func(m telegramtest.Message) bool { return strings.Contains(m.Text, "It was answered by") }); err != nil {
		t.Errorf("the message does not tell the outcome: %v; it is %+v", err, s.Messages(user))
	}
	for _, out := range []string{server.err.String(), server.out.String(), ask.err.String()} {
		if strings.Contains(out, telegramtest.Token) {
			t.Errorf("the token is in the output:\n%s", out)
		}
	}
}

// askback channel test checks the token and the groups of the settings.
func TestChannelTestChecksTheBot(t *testing.T) {
	t.Parallel()
	const room = -1001234567890
	s := telegramtest.NewServer(t)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	env, _ := sandbox(t)
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	env = append(env, "ASKBACK_CONFIG="+settings)
	test := func(token string) (string, error) {
		t.Helper()
		content := fmt.Sprintf("channels:\n  telegram: {token: %q, url: %q, allow: [%q], groups: [%d]}\n", token,
			s.URL, at.Host, room)
		if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("askback", "channel", "test", "telegram")
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := test(telegramtest.Token); err == nil || !strings.Contains(out, "group -1001234567890: ") {
		t.Errorf("without the group: %q, %v", out, err)
	}
	s.AddGroup(room)
	if out, err := test(telegramtest.Token); err != nil ||
		!strings.Contains(out, "The token belongs to @"+telegramtest.Username) {
		t.Errorf("got %q, %v", out, err)
	}
	if got := s.Last(room).Text; !strings.HasPrefix(got, "Test from Askback") {
		t.Errorf("the group got %q", got)
	}
	wrong := "1234567890:" + strings.Repeat("W", 35)
	if out, err := test(wrong); err == nil || !strings.Contains(out, "check channels.telegram.token") ||
		strings.Contains(out, "WWW") {
		t.Errorf("with another token: %q, %v", out, err)
	}
}

// newTelegramServer returns a server with a bot of the fake. The user has linked a chat.
func newTelegramServer(t *testing.T, s *telegramtest.Server, user int64) *testServer {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	env, database := sandbox(t)
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf("channels:\n  telegram: {token: %q, url: %q, allow: [%q]}\n", telegramtest.Token, s.URL,
		at.Host)
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	server := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)}
	server.place.Database = database
	server.start()
	code := regexp.MustCompile(`[A-Z2-7]{16}`).FindString(mustRun(t, server.env, "channel", "link", "telegram"))
	s.AddUser(user)
	s.Write(user, user, "/start "+code, 0)
	if _, err := s.Wait(user,
		func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "This chat is linked") }); err != nil {
		t.Fatal(err)
	}
	server.agent = strings.TrimSpace(mustRun(t, server.env, "token", "add", "--kind", "agent", "--name", "robot"))
	return server
}

// The server is killed when Telegram has a message whose id is not recorded yet, and between the answers to
// four questions. Afterwards only one message has buttons, and the answers are kept. After the outcome no
// message has buttons.
func TestTelegramMessagesAndAnswersSurviveAKill(t *testing.T) {
	t.Parallel()
	const user = 4001
	s := telegramtest.NewServer(t)
	server := newTelegramServer(t, s, user)
	live := func() (all []telegramtest.Message) {
		for _, m := range s.Messages(user) {
			if m.Live() {
				all = append(all, m)
			}
		}
		return all
	}
	about := func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "“Deploy?” +3 more") }
	failed := s.Fail(telegramtest.LostReply, 0, 1)
	id := server.call(server.agent, "POST", "/asks", `{"questions": [
		{"question": "Deploy?", "options": ["Yes", "No"]}, {"question": "Where?", "options": ["here", "there"]},
		{"question": "Which checks?", "options": ["lint", "unit"], "multiSelect": true}, {"question": "Why?"}]}`, 201)["id"].(string)
	orphan, err := s.Wait(user, about)
	if err != nil || failed() != 1 || orphan.Live() {
		t.Fatalf("got %+v, %v", orphan, err)
	}
	server.kill()
	server.start()
	m, err := s.Wait(user, telegramtest.Message.Live)
	if err != nil || m.ID == orphan.ID || len(live()) != 1 {
		t.Fatalf("got %+v, %v, want one message with buttons", s.Messages(user), err)
	}
	for _, label := range []string{"No", "there", "unit", "Next ›"} {
		if _, err := s.Press(user, user, m.ID, label); err != nil {
			t.Fatalf("%s: %v", label, err)
		}
		s.Idle()
		server.kill()
		server.start()
	}
	_, update := s.Write(user, user, "because", m.ID)
	s.Confirmed(update)
	if _, err := s.Press(user, user, m.ID, "Send the answers"); err != nil {
		t.Fatalf("%v: %+v", err, s.Message(user, m.ID))
	}
	if got := server.call(server.agent, "GET", "/asks/"+id, "", 200)["status"]; got != "answered" {
		t.Fatalf("the ask is %v", got)
	}
	got := fmt.Sprint(server.call(server.agent, "GET", "/asks/"+id, "", 200)["outcome"])
	for _, want := range []string{"selected:[No]", "selected:[there]", "selected:[unit]", "other:because"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, err := s.Wait(user, func(m telegramtest.Message) bool {
		return strings.HasPrefix(m.Text, "Done: “Deploy?” +3 more")
	}); err != nil || len(live()) > 0 {
		t.Errorf("after the outcome: %v, %+v", err, s.Messages(user))
	}
}
