package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/askback/askback/test/kit/leftout"
)

// The manual page has every command, argument and flag with its help.
func TestManualDescribesEveryCommandAndFlag(t *testing.T) {
	root := (&commands{}).parser().Model.Node
	var b bytes.Buffer
	if err := writeManual(&b, root); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	check := func(text string) {
		t.Helper()
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
	flags := func(list []*kong.Flag) {
		for _, f := range list {
			name := "--" + f.Name
			if f.Tag.Negatable != "" {
				name = "--[no-]" + f.Name
			}
			check(roff(name))
			check(roff(f.Help))
		}
	}
	flags(root.Flags)
	for _, c := range leafCommands(root) {
		_, section, found := strings.Cut(page, ".SS \""+roff(c.FullPath())+"\"\n"+roff(c.Help)+"\n")
		if !found {
			t.Errorf("the page lacks %s", c.FullPath())
			continue
		}
		section, _, _ = strings.Cut(section, "\n.S")
		for _, p := range c.Positional {
			if !strings.Contains(section, roff(strings.ToUpper(p.Name))) {
				t.Errorf("%s: the page lacks %s", c.FullPath(), p.Name)
			}
		}
		for _, f := range c.Flags {
			if !strings.Contains(section, roff(f.Name)) {
				t.Errorf("%s: the page lacks --%s", c.FullPath(), f.Name)
			}
		}
	}
}

// The program that formats manual pages reads the page without a warning.
func TestManualIsValidRoff(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		leftout.Skip(t, "the formatting of the manual page (groff is not installed)")
	}
	var b bytes.Buffer
	if err := writeManual(&b, (&commands{}).parser().Model.Node); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(groff, "-man", "-ww", "-z")
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRoffEscapesText(t *testing.T) {
	for in, want := range map[string]string{
		`a\b`: `a\eb`, "--db": `\-\-db`, ".TH x": `\&.TH x`, "'x": `\&'x`, "a\n.b": "a .b", `"q"`: `\(dqq\(dq`,
		"…": `\[u2026]`,
	} {
		if got := roff(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
