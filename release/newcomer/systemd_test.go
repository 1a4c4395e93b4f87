package newcomer_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
)

// A machine is a fresh system in which systemd runs.
type machine struct {
	*fresh.System
	enter string // the command before a script that runs beside systemd
}

// boot starts systemd in a fresh system, in namespaces and a control group of its own. It skips the test if this
// machine has no control groups of version 2.
func boot(t *testing.T, s *fresh.System) machine {
	t.Helper()
	group := "/run/groups/askback-test." + strconv.Itoa(os.Getpid())
	init := start(t, s, "root", "GROUP="+group+`; set -e
mkdir /run/groups
mount -t cgroup2 cgroup2 /run/groups || { echo no control groups; exit; }
mkdir $GROUP
echo $$ >$GROUP/cgroup.procs
exec unshare --mount --ipc --cgroup --pid --fork --kill-child sh -ec '
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /mnt
cd /mnt
mknod -m 666 null c 1 3; mknod -m 666 zero c 1 5; mknod -m 666 full c 1 7; mknod -m 666 tty c 5 0
mknod -m 666 random c 1 8; mknod -m 666 urandom c 1 9
mkdir shm pts; mount -t tmpfs tmpfs shm; mount -t devpts -o newinstance,ptmxmode=666 devpts pts; ln -s pts/ptmx ptmx
cd /; mount --move /mnt /dev
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd'`)
	t.Cleanup(func() { // the system itself ends later
		_, _, _ = s.Try(t, "root", "echo 1 >"+group+"/cgroup.kill")
		init.endsWithin(time.Minute)
		// Killed processes end a little later.
		_, _, _ = s.Try(t, "root", "timeout 60 sh -c 'while [ -d "+group+" ]; do "+
			"find "+group+" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.1; done'")
	})
	pid := ""
	eventually(t, "systemd", func() bool {
		if init.hasEnded() && strings.Contains(init.output(), "no control groups") {
			t.Skip("systemd needs control groups of version 2")
		}
		if init.hasEnded() {
			t.Fatalf("systemd has ended: %s", init.output())
		}
		children, _, _ := s.Try(t, "root", "cat /proc/"+init.pid+"/task/"+init.pid+"/children")
		pid = strings.TrimSpace(children)
		name, _, _ := s.Try(t, "root", "cat /proc/"+pid+"/comm")
		return name == "systemd\n" // not a command before it
	})
	m := machine{s, "nsenter --target " + pid + " --mount --ipc --cgroup --pid --root --wd=/ sh -c "}
	eventually(t, "systemd that takes commands", func() bool {
		out, _, _ := s.Try(t, "root", m.enter+"'systemctl is-system-running'")
		return strings.HasPrefix(out, "running") || strings.HasPrefix(out, "degraded") // without a terminal
	})
	return m
}

// run runs a script as root beside systemd, and returns what it printed.
func (m machine) run(t *testing.T, script string) string {
	t.Helper()
	return strings.TrimSpace(m.Run(t, "root", m.enter+quote(script)))
}

// fails runs a script that must fail, and returns what it printed on stderr.
func (m machine) fails(t *testing.T, script string) string {
	t.Helper()
	_, problem, err := m.Try(t, "root", m.enter+quote(script))
	if err == nil {
		t.Errorf("%s succeeded", script)
	}
	return problem
}

func quote(script string) string { return "'" + strings.ReplaceAll(script, "'", `'\''`) + "'" }

// show returns a property of the service.
func (m machine) show(t *testing.T, property string) string {
	t.Helper()
	return m.run(t, "systemctl show --value -p "+property+" askback")
}

// log returns the log of the service since its last start.
func (m machine) log(t *testing.T) string {
	t.Helper()
	return m.run(t, "journalctl -o cat _SYSTEMD_INVOCATION_ID="+m.show(t, "InvocationID"))
}

// The commands of the documentation start the service under systemd, in its sandbox. It is reloaded, restarted
// after it was killed and after an upgrade, and not restarted if a person must act.
func TestServiceRunsUnderSystemd(t *testing.T) {
	newer := artefact(t, "askback_*_amd64.deb")
	s := fresh.New(t, "curl", "dbus", "sqlite3", "sudo", "systemd-sysv")
	s.Copy(t, olderDeb(t, newer), "/srv/older.deb")
	s.Copy(t, newer, "/srv/newer.deb")
	m := boot(t, s)
	commands := serviceCommands(t)

	m.run(t, regexp.MustCompile(`\./askback_\S+\.deb`).ReplaceAllString(commands[0], "/srv/older.deb"))
	if got := m.show(t, "ActiveState"); got != "inactive" {
		t.Errorf("after the installation the service is %s", got)
	}
	m.run(t, commands[1])
	if link := m.run(t, commands[2]); m.run(t, "curl -sS -o /dev/null -w '%{http_code}' '"+link+"'") != "200" {
		t.Errorf("%s printed %s, which opens no page", commands[2], link)
	}
	status := m.run(t, "cat /proc/"+m.show(t, "MainPID")+"/status")
	for _, want := range []string{"Seccomp:\t2", "NoNewPrivs:\t1", "CapBnd:\t0000000000000000"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process of the service has no %q:\n%s", want, status)
		}
	}
	m.run(t, "systemctl reload askback")
	eventually(t, "reloaded settings", func() bool { return strings.Contains(m.log(t), `msg="settings read"`) })

	m.run(t, leaveOpen("sudo -u askback askback", "Still?"))
	before := m.show(t, "MainPID")
	m.run(t, "apt-get install -qy /srv/newer.deb")
	if after := m.show(t, "MainPID"); after == before || m.show(t, "ActiveState") != "active" {
		t.Errorf("the process %s of the older version is %s after the upgrade", before, after)
	}
	if got := m.run(t, "sudo -u askback askback list"); !strings.Contains(got, "Still?") {
		t.Errorf("after the upgrade the ask is not open: %s", got)
	}
	m.run(t, "kill -9 "+m.show(t, "MainPID"))
	eventually(t, "restarted service", func() bool {
		return m.show(t, "NRestarts") == "1" && m.show(t, "ActiveState") == "active"
	})
	needsPerson(t, m)
	m.run(t, "apt-get remove -qy askback")
	m.fails(t, "systemctl cat askback")
	m.run(t, "test -e /var/lib/askback/askback.db")
	m.run(t, "test ! -L /etc/systemd/system/multi-user.target.wants/askback.service")
}

// needsPerson breaks the settings and replaces the program by an older version: the service ends, with the reason
// in its log, and is not started again.
func needsPerson(t *testing.T, m machine) {
	t.Helper()
	ended := func(want string) {
		t.Helper()
		if code, state := m.show(t, "ExecMainStatus"), m.show(t, "ActiveState"); code != "2" || state != "failed" {
			t.Errorf("the service is %s after exit code %s, want failed after 2", state, code)
		}
		if got := m.log(t); !strings.Contains(got, want) {
			t.Errorf("the log has no %q:\n%s", want, got)
		}
	}
	m.run(t, "echo 'lissten: x' >>/etc/askback/askback.yaml")
	m.fails(t, "systemctl restart askback")
	ended(`unknown setting "lissten"; did you mean listen?`)
	m.run(t, "sed -i '/lissten/d' /etc/askback/askback.yaml && systemctl start askback")

	m.run(t, `systemctl stop askback && sudo -u askback sqlite3 /var/lib/askback/askback.db `+
		`"insert into goose_db_version (version_id, is_applied) values (999, 1)"`)
	m.run(t, "apt-get install -qy --allow-downgrades /srv/older.deb")
	m.fails(t, "systemctl start askback")
	ended("it was written by a newer version of Askback; install that version, or restore a backup made before it")
}

// serviceCommands returns the commands of the section for packages in docs/operations.md, without comments.
func serviceCommands(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n## As a service\n.*?```sh\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/operations.md has no commands")
	}
	commands := regexp.MustCompile(`(?m) *#.*$`).ReplaceAllString(strings.TrimSpace(string(block[1])), "")
	all := strings.Split(commands, "\n")
	if len(all) != 3 {
		t.Fatalf("got %q, want three commands", all)
	}
	return all
}
