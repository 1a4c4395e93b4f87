package newcomer_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
)

// The commands of README.md lead from nothing to an answer in a terminal, as they are pasted, by each way to
// install that needs no Go. The time is printed. TestFirstQuestionInAContainer has the image.
func TestCommandsLeadFromNothingToAnAnswer(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	ask := block(t, page, "## The first answer")
	debian := func(t *testing.T) *fresh.System {
		s := fresh.New(t, "curl", "sudo")
		s.Serve(t, map[string]http.Handler{"github.com": downloads(t)})
		s.Run(t, "root", "echo 'ana ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ana")
		return s
	}
	node := func(t *testing.T) *fresh.System {
		s := npmSystem(t, filepath.Join(filepath.Dir(artefact(t, "askback_*_checksums.txt")), "npm"))
		// A folder of ana, as npm recommends. With it, npm does not read the settings of the system.
		s.Run(t, "ana", "cp /usr/local/etc/npmrc ~/.npmrc && npm config set prefix ~/.local")
		return s
	}
	for name, way := range map[string]struct {
		system   func(*testing.T) *fresh.System
		commands []string
	}{
		"install.sh": {debian, []string{block(t, page, "## Install"), ask}},
		"deb":        {debian, []string{row(t, page, "Debian, Ubuntu", 0), ask}},
		"npx":        {node, []string{row(t, page, "npm", 1) + strings.TrimPrefix(ask, "askback")}},
		"npm":        {node, []string{row(t, page, "npm", 0), ask}},
	} {
		t.Run(name, func(t *testing.T) {
			s := way.system(t)
			began := time.Now()
			// script gives the shell a terminal.
			shell := start(t, s, "ana",
				`export TERM=xterm-256color; exec script -qec 'stty cols 200; PS1="next> " bash --norc -i' /dev/null`)
			shell.untilPrompt(t, 1)
			for _, command := range way.commands {
				shell.paste(t, command)
			}
			shell.untilPrompt(t, len(way.commands)+1)
			t.Logf("%s: %.1f s from nothing to an answer", name, time.Since(began).Seconds())
			shell.write(t, "echo code $?\n")
			shell.untilPrompt(t, len(way.commands)+2)
			out := plain(shell.output())
			if !strings.Contains(out, "\nPostgreSQL\n") || !strings.Contains(out, "\ncode 0\n") {
				t.Errorf("the terminal shows\n%s\nwant the answer", out)
			}
		})
	}
}

// paste pastes a command into a shell. If the command asks, it presses Enter, which chooses the first option.
func (p *process) paste(t *testing.T, command string) {
	t.Helper()
	prompts := strings.Count(p.output(), "next> ")
	p.write(t, command+"\n")
	if !strings.Contains(command, " ask ") && !strings.HasPrefix(command, "askback ask ") {
		p.untilPrompt(t, prompts+1)
		return
	}
	// Keys that were pressed before the question was shown do not count: the last line says so for a moment.
	last := ""
	eventually(t, "options in the terminal", func() bool {
		before, now := last, p.output()
		last = now
		return now == before && strings.LastIndex(now, "SQLite") > strings.LastIndex(now, "One moment") &&
			strings.Contains(now, "Other: your own words")
	})
	p.write(t, "\r")
}

// untilPrompt waits until a shell has printed n prompts.
func (p *process) untilPrompt(t *testing.T, n int) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", plain(p.output()))
		}
	})
	eventually(t, "prompt of the shell", func() bool { return strings.Count(p.output(), "next> ") >= n })
}

// block returns the first commands after a heading of a page.
func block(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, heading+"\n")
	found := regexp.MustCompile("(?ms)^```sh\n(.*?)\n```$").FindStringSubmatch(rest)
	if found == nil {
		t.Fatalf("README.md has no commands after %q", heading)
	}
	return found[1]
}

// row returns the nth command in a row of the table of ways to install.
func row(t *testing.T, page, name string, n int) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "\n| "+name+" | ")
	line, _, _ := strings.Cut(rest, "\n")
	found := regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(line, -1)
	if len(found) <= n {
		t.Fatalf("README.md has no command %d in the row %q", n, name)
	}
	return found[n][1]
}
