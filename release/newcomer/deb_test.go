package newcomer_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
)

const database = "/var/lib/askback/askback.db"

// The package is installed, upgraded while agents of the old version wait, replaced by an older version, removed
// and purged. The system has no systemd: the test runs the command of the unit as its user, and restarts it where
// systemctl would. TestServiceRunsUnderSystemd has systemd.
func TestDebIsInstalledUpgradedAndRemoved(t *testing.T) {
	newer := artefact(t, "askback_*_amd64.deb")
	s := fresh.New(t, "curl", "sudo", "sqlite3")
	s.Copy(t, olderDeb(t, newer), "/srv/older.deb")
	s.Copy(t, newer, "/srv/newer.deb")

	s.Run(t, "root", "apt-get install -qy /srv/older.deb")
	installedFilesAreRight(t, s)
	s.Run(t, "root", "echo 'people: [{name: zoe}]' >>/etc/askback/askback.yaml")
	if _, _, err := s.Try(t, "ana", "cat /etc/askback/askback.yaml"); err == nil {
		t.Error("another user reads the settings")
	}
	server := startUnit(t, s)
	link := s.Run(t, "root", "cd /root && chmod 700 . && sudo -u askback askback login")
	if got := s.Run(t, "ana", "curl -sS -o /dev/null -w '%{http_code}' '"+strings.TrimSpace(link)+"'"); got != "200" {
		t.Errorf("the page of the link that askback login prints has the status %s", got)
	}
	for _, as := range []string{"sudo -u askback", "runuser -u askback --"} {
		got := s.Run(t, "root", as+" askback doctor") // a FAIL is an exit code
		if !strings.Contains(got, "/etc/askback/askback.yaml") ||
			!strings.Contains(got, "/var/lib/askback/askback.db") {
			t.Errorf("%s askback doctor printed\n%s", as, got)
		}
	}
	if _, problem, _ := s.Try(t, "root", "askback login"); !strings.Contains(problem, "sudo -u askback askback login") {
		t.Errorf("as root, askback login does not name the command: %s", problem)
	}

	server = upgradeLosesNothing(t, s, server)
	downgradeIsRefused(t, s, server)
	dataSurvivesRemoval(t, s)
}

// ownersAreRight checks who can read the settings and the data.
func ownersAreRight(t *testing.T, s *fresh.System) {
	t.Helper()
	got := s.Run(t, "root", "stat -c '%n %U:%G %a' /etc/askback /etc/askback/askback.yaml /var/lib/askback")
	want := "/etc/askback root:askback 750\n/etc/askback/askback.yaml root:askback 640\n" +
		"/var/lib/askback askback:askback 700\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// installedFilesAreRight checks the user of the service, and that the program and its additions are there.
func installedFilesAreRight(t *testing.T, s *fresh.System) {
	t.Helper()
	ownersAreRight(t, s)
	s.Run(t, "root", `set -e
test "$(getent passwd askback | cut -d: -f6,7)" = /var/lib/askback:/usr/sbin/nologin
zcat /usr/share/man/man1/askback.1.gz | grep -q '^.TH ASKBACK 1'
zcat /usr/share/doc/askback/changelog.gz | grep -q Changelog
grep -q Apache-2.0 /usr/share/doc/askback/copyright
bash -n /usr/share/bash-completion/completions/askback
test -s /usr/share/zsh/vendor-completions/_askback
test -s /usr/share/fish/vendor_completions.d/askback.fish`)
}

// upgradeLosesNothing upgrades the package while an MCP server of ana and a hook of the service's user wait, both
// of the old version, and answers what they asked.
func upgradeLosesNothing(t *testing.T, s *fresh.System, server *service) *service {
	t.Helper()
	older := s.Run(t, "ana", "askback version")
	secret := strings.TrimSpace(s.Run(t, "root", "sudo -u askback askback token add --kind agent --name ci"))
	secret = regexp.MustCompile(`askback_\S+`).FindString(secret)
	mcp := start(t, s, "ana", "export ASKBACK_URL=http://127.0.0.1:7575 ASKBACK_TOKEN="+secret+"; exec askback mcp")
	mcp.write(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_user_question","arguments":{"questions":`+
		`[{"question":"Which database?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}}}`+"\n")
	hook := start(t, s, "askback",
		"export HOME=/var/lib/askback CLAUDE_CODE_ENTRYPOINT=cli; exec askback hook claude-code")
	hook.write(t, `{"session_id":"s1","cwd":"/srv","permission_mode":"default",`+
		`"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make deploy"}}`+"\n")
	hook.closeInput(t)
	eventually(t, "two open asks", func() bool { return len(open(t, s)) == 2 })
	before := open(t, s)

	s.Run(t, "root", "apt-get install -qy /srv/newer.deb")
	if newer := s.Run(t, "ana", "askback version"); newer == older {
		t.Errorf("both packages have the version %s", newer)
	}
	server.stop(t)
	server = startUnit(t, s)
	for _, p := range []*process{mcp, hook} {
		if exe := s.Run(t, "root", "readlink /proc/"+p.pid+"/exe"); !strings.Contains(exe, "(deleted)") {
			t.Fatalf("no program of the old version waits, but %s", exe)
		}
	}
	if after := open(t, s); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("after the upgrade these asks are open: %v; before it: %v", after, before)
	}
	// The new version may have migrated the database. The old hook cannot open it, and waits for the next server.
	s.Run(t, "askback", `sqlite3 `+database+` "insert into goose_db_version (version_id, is_applied) values (999, 1)"`)
	server.stop(t)
	if hook.endsWithin(5 * time.Second) {
		t.Fatalf("the hook did not wait for the next server: %s", hook.output())
	}
	s.Run(t, "askback", `sqlite3 `+database+` "delete from goose_db_version where version_id = 999"`)
	server = startUnit(t, s)
	if got := s.Run(t, "root", "cat /etc/askback/askback.yaml"); !strings.Contains(got, "zoe") {
		t.Error("the upgrade replaced the settings")
	}
	s.Run(t, "root", "sudo -u askback askback answer "+before["Which database?"]+" SQLite")
	s.Run(t, "root", "sudo -u askback askback answer --approve "+before["Bash"])
	eventually(t, "the answer at the MCP server", func() bool { return strings.Contains(mcp.output(), "SQLite") })
	eventually(t, "the decision of the hook", func() bool {
		return strings.Contains(hook.output(), `"behavior":"allow"`)
	})
	return server
}

// downgradeIsRefused installs the old version over a database with a newer schema.
func downgradeIsRefused(t *testing.T, s *fresh.System, server *service) {
	t.Helper()
	server.stop(t)
	s.Run(t, "askback", `sqlite3 `+database+` "insert into goose_db_version (version_id, is_applied) values (999, 1)"`)
	s.Run(t, "root", "apt-get install -qy --allow-downgrades /srv/older.deb")
	server = launchUnit(t, s)
	eventually(t, "the end of the older server", server.hasEnded)
	if code := server.cmd.ProcessState.ExitCode(); fmt.Sprint(code) != setting(t, s, "RestartPreventExitStatus") {
		t.Errorf("the older server ended with code %d, after which systemd starts it again", code)
	}
	if !strings.Contains(server.output(), "it was written by a newer version of Askback; install that version") {
		t.Errorf("the older server printed no reason: %s", server.output())
	}
	s.Run(t, "askback", `sqlite3 `+database+` "delete from goose_db_version where version_id = 999"`)
	s.Run(t, "root", "apt-get install -qy /srv/newer.deb")
}

// dataSurvivesRemoval removes and purges the package while an ask is open.
func dataSurvivesRemoval(t *testing.T, s *fresh.System) {
	t.Helper()
	server := startUnit(t, s)
	s.Run(t, "askback", "export HOME=/var/lib/askback; "+leaveOpen("askback", "Still there?"))
	eventually(t, "an open ask", func() bool { return open(t, s)["Still there?"] != "" })
	server.stop(t)
	if out := s.Run(t, "root", "apt-get remove -qy askback"); !strings.Contains(out, "rm -r /var/lib/askback") {
		t.Errorf("the removal does not name the data that it keeps:\n%s", out)
	}
	s.Run(t, "root", "! command -v askback && test -e /etc/askback/askback.yaml && apt-get install -qy /srv/newer.deb")
	server = startUnit(t, s)
	if len(open(t, s)) != 1 {
		t.Errorf("after removal and installation these asks are open: %v", open(t, s))
	}
	server.stop(t)
	if out := s.Run(t, "root", "apt-get purge -qy askback"); !strings.Contains(out, "rm -r /var/lib/askback") {
		t.Errorf("the purge does not name the data that it keeps:\n%s", out)
	}
	s.Run(t, "root", "test ! -e /etc/askback && test -e /var/lib/askback/askback.db && ! command -v askback")
	if left := s.Run(t, "root", "find /usr /etc -name '*askback*'"); left != "" {
		t.Errorf("the purge left\n%s", left)
	}
}

// open returns the ids of the open asks by their questions and tools.
func open(t *testing.T, s *fresh.System) map[string]string {
	t.Helper()
	var list struct {
		Items []struct {
			ID           string
			Questions    []struct{ Question string }
			Confirmation struct {
				Tool string `json:"tool_name"`
			}
		}
	}
	out := s.Run(t, "root", "sudo -u askback askback list --json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("askback list --json printed %s: %v", out, err)
	}
	asks := map[string]string{}
	for _, a := range list.Items {
		title := a.Confirmation.Tool
		if len(a.Questions) > 0 {
			title = a.Questions[0].Question
		}
		asks[title] = a.ID
	}
	return asks
}
