package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/server/config"
	"github.com/google/go-cmp/cmp"
)

const cliPage = "../../docs/cli.md"

// docs/cli.md describes every command in the section of its group, and each command and flag on the page exists.
func TestCLIPageDescribesEveryCommand(t *testing.T) {
	raw, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	program := (&commands{}).parser().Model
	exists := map[string]bool{}
	err = kong.Visit(program, func(n kong.Visitable, next kong.Next) error {
		switch n := n.(type) {
		case *kong.Node:
			exists[n.FullPath()] = true
		case *kong.Flag:
			exists["--"+n.Name] = true
			if n.Tag.Negatable != "" {
				exists["--no-"+n.Name] = true
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range program.Children {
		if c.Hidden {
			continue
		}
		_, section, found := strings.Cut(page, "\n### "+c.FullPath()+"\n")
		if !found {
			t.Errorf("docs/cli.md has no section %s", c.FullPath())
		}
		section, _, _ = strings.Cut(section, "\n##")
		for _, leaf := range leafCommands(c) {
			if leaf != c && !strings.Contains(section, "`"+leaf.FullPath()+"`") {
				t.Errorf("the section %s of docs/cli.md does not name %s", c.FullPath(), leaf.FullPath())
			}
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(page, -1) {
		if !exists[heading[1]] {
			t.Errorf("docs/cli.md describes %s, which does not exist", heading[1])
		}
	}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(page, -1) {
		if !exists[flag] && flag != "--help" {
			t.Errorf("docs/cli.md names the flag %s, which does not exist", flag)
		}
	}
}

// Each help begins with a verb, ends with a full stop, is short, and refers to things by their names.
func TestHelpBeginsWithAVerbAndIsShort(t *testing.T) {
	notVerb := regexp.MustCompile(`^(Its?|Whats?|Wh?(o|y|en|ere|ich)|How|An?|The|In|For|Notes?|Remarks?|Text|Answers|Only|Several|Those|` +
		`Address|Id|Names|Person|Program|Words|At|So)\b`)
	check := func(name, help string) {
		t.Helper()
		if notVerb.MatchString(help) || !strings.HasSuffix(help, ".") {
			t.Errorf("%s begins with no verb, or does not end with a full stop: %q", name, help)
		}
		if n := len(strings.Fields(help)); n > 25 {
			t.Errorf("%s has %d words, at most 25 are allowed: %q", name, n, help)
		}
		if strings.Contains(help, "at once") {
			t.Errorf("%s has \"at once\"; write \"immediately\" or \"at the same time\": %q", name, help)
		}
	}
	err := kong.Visit((&commands{}).parser().Model, func(n kong.Visitable, next kong.Next) error {
		switch n := n.(type) {
		case *kong.Node:
			check(n.FullPath(), n.Help)
			for _, p := range n.Positional {
				check(n.FullPath()+" "+p.Name, p.Help)
			}
		case *kong.Flag:
			check(n.String(), n.Help)
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each command is in one group of the first help, and no group is empty.
func TestFirstHelpGroupsTheCommands(t *testing.T) {
	count := map[string]int{}
	groups := slices.Concat(commandGroups, otherGroups)
	for _, c := range (&commands{}).parser().Model.Children {
		if c.Hidden {
			continue
		}
		if c.Group == nil || !slices.ContainsFunc(groups, func(g kong.Group) bool { return g.Key == c.Group.Key }) {
			t.Errorf("%s is in the group %+v", c.Name, c.Group)
			continue
		}
		count[c.Group.Key]++
	}
	for _, g := range groups {
		if count[g.Key] == 0 {
			t.Errorf("no command is in the group %s", g.Key)
		}
	}
}

// The first help fits on a screen of 50 lines of 80 columns.
func TestFirstHelpFitsOnAScreen(t *testing.T) {
	help := firstHelp((&commands{}).parser().Model)
	if n := strings.Count(help, "\n"); n > 50 {
		t.Errorf("the help has %d lines, at most 50 fit", n)
	}
	for line := range strings.Lines(help) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// leafCommands returns the commands without subcommands, except hidden commands.
func leafCommands(n *kong.Node) []*kong.Node {
	if len(n.Children) == 0 {
		return []*kong.Node{n}
	}
	var all []*kong.Node
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, leafCommands(child)...)
		}
	}
	return all
}

// Every example in docs/cli.md is a command of a script, so a test runs it.
func TestCLIPageExamplesAreRunByScripts(t *testing.T) {
	page, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	run := map[string]bool{}
	for _, path := range scripts {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(raw), "\n") {
			if _, command, ok := strings.Cut(line, " askback "); ok {
				run["askback "+command] = true
			}
		}
	}
	examples := regexp.MustCompile(`(?m)^\$ (?:\w+=\$\()?(askback [^\n)]*)`).FindAllStringSubmatch(string(page), -1)
	if len(examples) < 5 {
		t.Errorf("docs/cli.md has %d examples, want at least 5", len(examples))
	}
	for _, e := range examples {
		if !run[e[1]] {
			t.Errorf("docs/cli.md shows %q, and no script runs it", e[1])
		}
	}
}

// docs/cli.md and docs/wire.md list the exit codes of the program.
func TestPagesListTheExitCodes(t *testing.T) {
	var want []string
	for _, code := range []int{exitDone, exitNo, exitUsage, exitExpired, exitCancelled, exitRefused, exitInterrupted} {
		want = append(want, fmt.Sprint(code))
	}
	for _, name := range []string{cliPage, "../../docs/wire.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| `).FindAllStringSubmatch(string(page), -1) {
			got = append(got, row[1])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("exit codes of %s (-want +got)\n%s", name, diff)
		}
	}
}

// The settings file in docs/operations.md is valid and has every top-level key. The engine gets its limits
// and people.
func TestSettingsFileOfTheOperationsPageIsValid(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("docs/operations.md has no settings file")
	}
	got, err := config.Load("operations.md", strings.NewReader(text), func(name string) (string, bool) {
		value, ok := map[string]string{
			"BEN_EMAIL": "ben@example.com", "OIDC_SECRET": "s3cret", "ANTHROPIC_API_KEY": "k", "TICKETS_TOKEN": "t",
			"ASKBACK_WEBHOOK_SECRET": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		}[name]
		return value, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[config.Config]().NumField() {
		if reflect.ValueOf(got).Field(i).IsZero() {
			t.Errorf("docs/operations.md lacks %s", reflect.TypeFor[config.Config]().Field(i).Name)
		}
	}
	o := engineOptions(got, newChannelSet(got, channels.Host{}), nil)
	for group, names := range o.Settings.Groups {
		for _, name := range names {
			if !slices.ContainsFunc(o.Settings.People, func(p askback.Person) bool { return p.Name == name }) {
				t.Errorf("%s of the group %s is not under people, so an ask for the group leaves them out", name, group)
			}
		}
	}
	if o.Channels["webhook"] == nil || o.Settings.CallbackURL != "https://agents.example.com/answers" {
		t.Errorf("got channels %v and callback %q, want the channels and the callback of the file", o.Channels,
			o.Settings.CallbackURL)
	}
	if o.Settings.MaxOpen != 100 || o.Settings.AsksPerMinute != 60 || o.Settings.Retention != 90*24*time.Hour ||
		len(o.Settings.People) != 3 {
		t.Errorf("engine options: got %+v", o)
	}
	if diff := cmp.Diff(
		askback.Person{Name: "ana", Email: "ana@example.com", TimeZone: "Europe/Berlin", Quiet: "22:00-07:00"},
		o.Settings.People[0],
	); diff != "" {
		t.Error(diff)
	}
}
