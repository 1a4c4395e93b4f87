package main

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// html is what a proxy answers with status 200 before a log-in.
func html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<!DOCTYPE html>\n<html><body>Please log in to the network.</body></html>\n"))
}

// short answers with fewer bytes than it announces.
func (m *mirror) short(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(m.files[name])
	}
}

// downloadFaults are releases that cannot be installed, and a part of the reason that the script prints.
var downloadFaults = []struct {
	name, reason string
	fault        func(t *testing.T, m *mirror)
}{
	{"no checksums", "cannot download", func(_ *testing.T, m *mirror) { delete(m.files, checksumFile) }},
	{"no archive", "cannot download", func(_ *testing.T, m *mirror) { delete(m.files, archiveName(installed)) }},
	{"HTML instead of the checksums", "is a proxy in between?", func(_ *testing.T, m *mirror) {
		m.handlers[checksumFile] = html
	}},
	{"HTML instead of the archive", "is damaged or changed", func(_ *testing.T, m *mirror) {
		m.handlers[archiveName(installed)] = html
	}},
	{"the connection ends early", "cannot download", func(_ *testing.T, m *mirror) {
		m.handlers[archiveName(installed)] = m.short(archiveName(installed))
	}},
	{"a truncated archive", "is damaged or changed", func(_ *testing.T, m *mirror) {
		data := m.files[archiveName(installed)]
		m.files[archiveName(installed)] = data[:len(data)-20]
	}},
	{"a changed archive", "is damaged or changed", func(_ *testing.T, m *mirror) {
		data := slices.Clone(m.files[archiveName(installed)])
		data[len(data)/2] ^= 1
		m.files[archiveName(installed)] = data
	}},
	{"no line of the archive", "no SHA-256 of", func(_ *testing.T, m *mirror) {
		m.files[checksumFile] = bytes.ReplaceAll(m.files[checksumFile], []byte(".tar.gz"), []byte(".tar.xz"))
	}},
	{"a short checksum", "no SHA-256 of", func(_ *testing.T, m *mirror) {
		lines := bytes.SplitAfter(m.files[checksumFile], []byte("\n"))
		m.files[checksumFile] = lines[1][1:]
	}},
	{"64 other characters", "no SHA-256 of", func(_ *testing.T, m *mirror) {
		m.files[checksumFile] = []byte(strings.Repeat("x", 64) + "  " + archiveName(installed) + "\n")
	}},
	{"two lines of the archive", "no SHA-256 of", func(_ *testing.T, m *mirror) {
		lines := bytes.SplitAfter(m.files[checksumFile], []byte("\n"))
		m.files[checksumFile] = slices.Concat(lines[1], lines[1])
	}},
	{"a truncated archive with its own checksum", "cannot be unpacked", func(_ *testing.T, m *mirror) {
		data := m.files[archiveName(installed)]
		m.put(archiveName(installed), data[:len(data)-20])
	}},
	{"a path outside", "leads out of it", func(t *testing.T, m *mirror) {
		m.put(archiveName(installed), pack(t, append(contents(fakeProgram(installed)), file{name: "../../.profile"})))
	}},
	{"an absolute path", "leads out of it", func(t *testing.T, m *mirror) {
		m.put(archiveName(installed), pack(t, append(contents(fakeProgram(installed)), file{name: "/etc/profile"})))
	}},
	{"no manual page", "cannot write share/askback.1", func(t *testing.T, m *mirror) {
		m.put(archiveName(installed), pack(t, contents(fakeProgram(installed))[:5]))
	}},
	{"another version", "has another program: askback v0.0.8", func(t *testing.T, m *mirror) {
		m.put(archiveName(installed), pack(t, contents(fakeProgram("0.0.8"))))
	}},
	{"a program that does not run", "does not run in", func(t *testing.T, m *mirror) {
		m.put(archiveName(installed), pack(t, contents([]byte("#!/bin/sh\necho wrong machine\nexit 126\n"))))
	}},
}

// A download that fails ends with a reason, and leaves the earlier program and all folders as they were.
func TestFaultyDownloadChangesNothing(t *testing.T) {
	for name, shell := range shells(t) {
		for tool, bin := range map[string]string{"curl": tools(t, "wget"), "wget": tools(t, "curl")} {
			for _, c := range downloadFaults {
				t.Run(name+"/"+tool+"/"+c.name, func(t *testing.T) {
					m := newMirror(t)
					c.fault(t, m)
					n := newNewcomer(t, shell, m, bin)
					writeFile(t, filepath.Join(n.home, ".local/bin/askback"), string(fakeProgram("0.0.9")), 0o755)
					n.expectNoChange(t, c.reason)
				})
			}
		}
	}
}

// expectNoChange runs install.sh, which has to fail with a sentence, and compares the home before and after.
func (n *newcomer) expectNoChange(t *testing.T, reason string, args ...string) {
	t.Helper()
	before := tree(t, n.home)
	out, err := n.run(t, args...)
	if err == nil {
		t.Error("the script succeeded")
	}
	n.expectUnchanged(t, before, out, reason)
}

func (n *newcomer) expectUnchanged(t *testing.T, before map[string]string, out, reason string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "install.sh: ") || !strings.Contains(last, reason) ||
		!strings.Contains(strings.ToLower(last), "nothing was changed") {
		t.Errorf("the last line has no reason %q:\n%s", reason, out)
	}
	expectSame(t, "after a failure", before, tree(t, n.home))
	if left := tree(t, n.scratch); len(left) > 1 {
		t.Errorf("the folder for temporary files has %q", slices.Collect(maps.Keys(left)))
	}
}

// A machine that lacks something gets a sentence, too.
func TestInstallScriptNamesWhatIsMissing(t *testing.T) {
	m := newMirror(t)
	for _, c := range []struct {
		reason  string
		without []string
	}{
		{"sha256sum, shasum or openssl is needed", []string{"sha256sum", "shasum", "openssl"}},
		{"curl or wget is needed", []string{"curl", "wget"}},
	} {
		newNewcomer(t, []string{"sh"}, m, tools(t, c.without...)).expectNoChange(t, c.reason)
	}
	n := newNewcomer(t, []string{"sh"}, m, tools(t))
	writeFile(t, filepath.Join(n.home, ".local"), "not a folder", 0o644)
	n.expectNoChange(t, "cannot make the folder")
	n = newNewcomer(t, []string{"sh"}, m, tools(t))
	writeFile(t, filepath.Join(n.home, ".local/bin/askback/a"), "a folder", 0o644)
	n.expectNoChange(t, "is a folder")
	n.env = append(n.env, "HOME=")
	if out, err := n.run(t); err == nil || !strings.Contains(out, "HOME is not set") {
		t.Errorf("got %v, %s", err, out)
	}
}

// Ctrl-C during the download ends the script with a sentence.
func TestInterruptedInstallationChangesNothing(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			m := newMirror(t)
			started, end := make(chan struct{}), make(chan struct{})
			m.handlers[archiveName(installed)] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
				close(started)
				<-end
			}
			defer close(end)
			n := newNewcomer(t, shell, m, tools(t))
			before := tree(t, n.home)
			c := n.command(t.Context(), script(t))
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-started:
			case <-time.After(time.Minute):
				t.Error("no request for the archive")
			}
			if err := interrupt(c); err != nil {
				t.Error(err)
			}
			if err := c.Wait(); err == nil {
				t.Error("the script succeeded")
			}
			n.expectUnchanged(t, before, out.String(), "interrupted")
		})
	}
}

// A full disk ends the script with a sentence. The disk is a small file system in a namespace of the test.
func TestFullDiskChangesNothing(t *testing.T) {
	m := newMirror(t)
	big := contents(append(fakeProgram(installed), bytes.Repeat([]byte("#\n"), 200_000)...))
	m.put(archiveName(installed), pack(t, big))
	for _, c := range []struct{ full, reason string }{{"HOME", "is the disk full?"}, {"TMPDIR", "is the disk full?"}} {
		n := newNewcomer(t, []string{"sh"}, m, tools(t))
		n.env = append(n.env, "OUTSIDE="+os.Getenv("PATH"), "FULL="+c.full)
		// The archive is small, so TMPDIR has to be even smaller.
		inside := n.command(t.Context(), slices.Concat([]byte(`
			(PATH=$OUTSIDE; if [ $FULL = HOME ]; then mount -t tmpfs -o size=256k none "$HOME"; else
				mount -t tmpfs -o nr_inodes=2 none "$TMPDIR"; fi) || { echo unavailable; exit 1; }
			trap 'ls -A "$HOME" "$TMPDIR"' EXIT
			(`), script(t), []byte("\n)\n")))
		inside.Args = append([]string{"unshare", "-rm"}, inside.Args...)
		inside.Env = append(inside.Env, "PATH="+os.Getenv("PATH"))
		path, err := exec.LookPath("unshare")
		if err != nil {
			t.Skip("LEFT OUT: unshare is not installed")
		}
		inside.Path = path
		out, err := inside.CombinedOutput()
		if strings.Contains(string(out), "unavailable") || strings.Contains(string(out), "unshare: ") {
			t.Skipf("LEFT OUT: this user cannot mount a small disk: %s", out)
		}
		if err == nil {
			t.Error("the script succeeded")
		}
		expectOutput(t, string(out), "install.sh: ", c.reason)
		if !strings.HasSuffix(string(out), n.home+":\n\n"+n.scratch+":\n") {
			t.Errorf("something is left:\n%s", out)
		}
	}
}

// A script that was cut off during its download does nothing, wherever it ends.
func TestIncompleteInstallScriptDoesNothing(t *testing.T) {
	text := script(t)
	m := newMirror(t)
	n := newNewcomer(t, []string{"sh"}, m, tools(t))
	before := tree(t, n.home)
	cuts := []int{}
	for i := len(text) - 30; i < len(text)-1; i++ {
		cuts = append(cuts, i)
	}
	for i := 0; i < len(text); i += 97 {
		cuts = append(cuts, i)
	}
	for _, cut := range cuts {
		out, _ := n.command(t.Context(), text[:cut]).CombinedOutput()
		if m.requests.Load() > 0 || strings.Contains(string(out), "install.sh:") {
			t.Fatalf("the first %d of %d bytes do something:\n%s", cut, len(text), out)
		}
	}
	expectSame(t, "after incomplete scripts", before, tree(t, n.home))
}
