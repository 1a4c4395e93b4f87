package config_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/settings"
	"github.com/askback/askback/test/kit/golden"
)

// env returns the value of a variable for the tests.
func env(name string) (string, bool) {
	value, ok := map[string]string{
		"ADDRESS":     "0.0.0.0:80",
		"BEN_EMAIL":   "ben@example.com",
		"EMPTY":       "",
		"LINES":       "127.0.0.1:1\nlisten: 127.0.0.1:2",
		"N":           "7",
		"OIDC_SECRET": "s3cret",
		"NESTED":      "sqlite:${ADDRESS}",
		"SECRET":      "hunter2",
		"STRUCTURE":   "[{name: mallory}]",
	}[name]
	return value, ok
}

func load(text string) (config.Config, error) {
	return config.Load("askback.yaml", strings.NewReader(text), env)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEverySettingIsLoaded(t *testing.T) {
	got, err := load(read(t, "testdata/askback.yaml"))
	want := config.Config{
		Listen:    "127.0.0.1:7575",
		PublicURL: "https://ask.example.com",
		Database:  "sqlite:/var/lib/askback/askback.db",
		People: []config.Person{
			{Name: "ana", Email: "ana@example.com", Slack: "U012AB3CD", TimeZone: "Europe/Berlin", Quiet: config.Quiet{
				From: 22 * time.Hour, To: 7 * time.Hour,
			}},
			{Name: "ben", Email: "ben@example.com"},
		},
		Groups: map[string][]string{"payments": {"ana", "ben"}, "oncall": {"cem"}},
		Routes: []askback.Route{
			{
				Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"prod"}},
				To:    []string{"@payments"}, Approvers: []string{"@payments", "dan"}, Channels: []string{"post"},
				Quorum: 2, NoSelfApproval: true,
				Remind:   []askback.Span{askback.Span(15 * time.Minute), askback.Span(time.Hour)},
				Escalate: []askback.Escalation{{After: askback.Span(2 * time.Hour), To: []string{"@oncall", "dan"}}},
				Timeout:  askback.Span(24 * time.Hour), OnTimeout: askback.OnTimeoutDecline,
			},
			{Match: askback.Match{Kind: askback.Questions}, Join: true},
		},
		Login: config.Login{
			OIDC: config.OIDC{Issuer: "https://id.example.com", ClientID: "askback", ClientSecret: "s3cret"},
		},
		Limits:    config.Limits{PendingPerAgent: 100, AsksPerMinute: 60, DigestAfter: 5},
		Retention: config.Retention{Settled: 90 * 24 * time.Hour},
		Undo:      8 * time.Second,
		Log:       config.Log{Format: "json", Level: "warn"},

		DebugListen: "127.0.0.1:6060",

		Agents: "./agents",
		Models: map[string]config.Model{
			"default": {
				Provider: "anthropic", Model: "claude-sonnet-4-5", APIKey: "hunter2", MaxTokens: 8000,
				Prices: config.Prices{Input: 3, Output: 15, Cached: 0.3, Stored: 3.75},
			},
			"local": {
				Provider: "openai", BaseURL: "http://models.example.com:11434/v1", AllowHTTP: true, Model: "qwen3",
			},
			"demo": {Provider: "scripted", Script: "poem.yaml"},
		},
		MCPServers: map[string]config.MCPServer{
			"files": {
				Command: []string{"mcp-files", "--root", "/srv/7"}, Env: map[string]string{"LOG_LEVEL": "debug"},
			},
			"tickets": {
				URL: "https://tickets.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer hunter2"},
			},
			"local": {URL: "http://tickets/mcp", AllowHTTP: true},
		},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v\n%s", err, cmp.Diff(want, got))
	}
}

// Every key of testdata/everything.yaml is known. Variables that are not set are problems.
func TestUnsetVariablesAreReported(t *testing.T) {
	_, err := load(read(t, "testdata/everything.yaml"))
	if err == nil {
		t.Fatal("got no error")
	}
	golden.Check(t, "testdata/everything.txt", err.Error()+"\n")
}

// Section 10 of docs/wire.md lists every top-level key of testdata/everything.yaml. This file has all
// top-level keys.
func TestWireDocListsEveryKey(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "../../../docs/wire.md"), "\n## 10. ")
	text, _, _ = strings.Cut(text, "\n## ")
	n := 0
	for line := range strings.Lines(read(t, "testdata/everything.yaml")) {
		key, _, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(key, " -#") {
			continue
		}
		if n++; !strings.Contains(text, "`"+key+"`") && !strings.Contains(text, "`"+key+".") {
			t.Errorf("docs/wire.md has no key %s", key)
		}
	}
	if n < 14 {
		t.Errorf("testdata/everything.yaml has %d keys", n)
	}
}

// Each stanza of problems.txt is a file, "----", and its problems (E13, F15).
func TestProblemsContainLineAndColumn(t *testing.T) {
	for _, path := range []string{
		"testdata/problems.txt", "testdata/route_problems.txt", "testdata/hosting_problems.txt",
	} {
		golden.Transcript(t, path, func(input string) string {
			_, err := load(input + "\n")
			if err == nil {
				t.Errorf("got no error for:\n%s", input)
				return ""
			}
			return err.Error() + "\n"
		})
	}
}

func TestInvalidCharactersAreRejected(t *testing.T) {
	for text, want := range map[string]string{
		"listen:\t127.0.0.1:7575\n": "askback.yaml:1:8: this is a tab; use spaces, or \\t between " +
			"double quotes",
		"# é\t\nlimits:\n\tx: 1\n": "askback.yaml:1:4: this is a tab; use spaces, or \\t between double " +
			"quotes\naskback.yaml:3:1: this is a tab; use spaces, or \\t between double quotes",
		"\uFEFFlisten: 127.0.0.1:7575\n": "askback.yaml:1:1: this is a byte order mark; save the file as UTF-8 " +
			"without a byte order mark",
		"# é\n# é\xff\n":                     "askback.yaml:2:4: this is not UTF-8; save the file as UTF-8",
		"listen: \"127.0.0.1\x00:7575\"\n":   "askback.yaml:1:19: this is the control character U+0000; remove it",
		"listen: 127.0.0.1:7575\rlimits: 1":  "askback.yaml:1:23: this is the control character U+000D; remove it",
		"listen: 127.0.0.1:7575\u0085x: 1\n": "askback.yaml:1:23: this is the control character U+0085; remove it",
	} {
		if _, err := load(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: got\n%v\nwant\n%s", text, err, want)
		}
	}
}

// The YAML parser takes time proportional to the square of the length, so long files are
// rejected before it runs. A file with a thousand people is not too long.
func TestLongFilesAreRejected(t *testing.T) {
	for _, part := range []string{"- a\n", "a:\n", "[", "- - - ", "- {a: b}\n"} {
		_, err := load("people:\n" + strings.Repeat(part, 100_000))
		if err == nil || !strings.HasSuffix(err.Error(), "this file is too long") {
			t.Errorf("%q: got %.200v", part, err)
		}
	}
	if _, err := load(strings.Repeat("#", 1<<20) + "\n"); err == nil ||
		err.Error() != "askback.yaml:1:1: this file is larger than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
	var b strings.Builder
	b.WriteString("people:\n")
	for i := range 1000 {
		fmt.Fprintf(&b,
			"  - {name: p%d, email: p%d@example.com, slack: U%d, time_zone: UTC, quiet: \"22:00-07:00\"}\n", i, i, i)
	}
	if c, err := load(b.String()); err != nil || len(c.People) != 1000 {
		t.Errorf("got %d people, %.200v", len(c.People), err)
	}
}

// The YAML parser is recursive, so the depth of a file is limited.
func TestDeepNestingIsRejected(t *testing.T) {
	var deep strings.Builder
	for i := range 100 {
		deep.WriteString(strings.Repeat(" ", i) + "people:\n")
	}
	for _, text := range []string{
		deep.String(), "people:\n" + strings.Repeat("- ", 100) + "x\n", strings.Repeat("[", 100),
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), "this is nested too deeply") {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
}

func TestAtMostTwentyProblemsAreReported(t *testing.T) {
	_, err := load(strings.Repeat("x: 1\n", 30))
	var got settings.Invalid
	if !errors.As(err, &got) || len(got.Problems) != 20 || got.Problems[0].Line != 1 || got.Problems[19].Line != 20 {
		t.Errorf("got %v", err)
	}
}

func TestEquivalentFilesAreEqual(t *testing.T) {
	want := config.Config{Listen: "0.0.0.0:80", Limits: config.Limits{AsksPerMinute: 7}, Retention: config.Retention{
		Settled: 30 * time.Second,
	}}
	for _, text := range []string{
		"listen: 0.0.0.0:80\nlimits:\n  asks_per_minute: 7\nretention:\n  settled: 30\n",
		"---\nlisten: '0.0.0.0:80'\r\nlimits: {asks_per_minute: \"7\"}\r\nretention: {\"settled\": 30s}\r\n",
		"# first\nretention: {settled: \"30\"} # seconds\nlisten: ${ADDRESS}\nlimits: {asks_per_minute: \"${N}\"}",
		"{listen: \"${ADDRESS}\", limits: {asks_per_minute: 7}, retention: {settled: 30}}",
	} {
		got, err := load(text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: got %+v %v", text, got, err)
		}
	}
}

// Digests are off only if the settings turn them off. Without the setting, the program chooses.
func TestDigestsCanBeDisabled(t *testing.T) {
	for text, want := range map[string]int{
		"limits: {digest_after: off}\n": -1, "limits: {digest_after: \"7\"}\n": 7, "limits: {asks_per_minute: 7}\n": 0,
	} {
		if c, err := load(text); err != nil || c.Limits.DigestAfter != want {
			t.Errorf("%s: got %d, %v; want %d", text, c.Limits.DigestAfter, err, want)
		}
	}
}

// An answer can be undone for a second to a minute, or not at all. Without the setting, the program
// chooses.
func TestUndoTimeIsLimited(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"undo: 5s\n": 5 * time.Second, "undo: 60\n": time.Minute, "undo: 0\n": -1, "undo: 0s\n": -1,
		"log: {level: info}\n": 0,
	} {
		if c, err := load(text); err != nil || c.Undo != want {
			t.Errorf("%s: got %v, %v; want %v", text, c.Undo, err, want)
		}
	}
	for _, text := range []string{
		"undo: 61s\n", "undo: 2h\n", "undo: -1\n", "undo: soon\n", "undo: 500ms\n", "undo: [5s]\n",
	} {
		if c, err := load(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, c.Undo)
		}
	}
}

func TestEmptyFileIsValid(t *testing.T) {
	for _, text := range []string{"", "\n", "# listen: 127.0.0.1:7575\n", "---\n"} {
		if got, err := load(text); err != nil || !got.Equal(config.Config{}) {
			t.Errorf("%q: got %+v %v", text, got, err)
		}
	}
}

func TestVariablesAreExpanded(t *testing.T) {
	for text, want := range map[string]string{
		`sqlite:${N}`:          "sqlite:7",
		`sqlite:/${N}/${N}.db`: "sqlite:/7/7.db",
		`sqlite:$${N}`:         "sqlite:${N}",
		`sqlite:$$${N}`:        "sqlite:$${N}",
		`sqlite:$N$`:           "sqlite:$N$",
		`sqlite:$${`:           "sqlite:${",
		`${NESTED}`:            "sqlite:${ADDRESS}",
	} {
		got, err := load("database: '" + text + "'\n")
		if err != nil || got.Database != want {
			t.Errorf("%s: got %q %v, want %q", text, got.Database, err, want)
		}
	}
}

func TestProblemsContainNoSecrets(t *testing.T) {
	for _, key := range []string{"listen", "public_url", "database"} {
		if _, err := load(key + ": ${SECRET}\n"); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", key, err)
		}
	}
	if _, err := load("limits: {asks_per_minute: \"${SECRET}\"}\nretention: {settled: \"${SECRET}\"}\n"); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// Files that differ in one setting are not equal, so a reload detects every change.
func TestEqualComparesEveryField(t *testing.T) {
	base := read(t, "testdata/askback.yaml")
	before, err := load(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"127.0.0.1:7575", "127.0.0.1:7576"},
		{"https://ask", "https://asks"},
		{"askback.db", "other.db"},
		{"127.0.0.1:6060", "127.0.0.1:6061"},
		{"name: ana", "name: anna"},
		{"ana@", "anna@"},
		{"U012AB3CD", "U012AB3CE"},
		{"Berlin", "Paris"},
		{"22:00", "23:00"},
		{"07:00", "08:00"},
		{"100", "101"},
		{"60", "61"},
		{"90d", "91d"},
		{"https://id.", "https://ids."},
		{"client_id: askback", "client_id: askbock"},
		{"${OIDC_SECRET}", "${SECRET}"},
		{"format: json", "format: text"},
		{"level: warn", "level: error"},
		{"./agents", "./agent"},
		{"claude-sonnet-4-5", "claude-sonnet-4-6"},
		{"max_tokens: 8000", "max_tokens: 8001"},
		{"stored: 3.75", "stored: 3.76"},
		{"script: poem", "script: poems"},
		{"LOG_LEVEL: debug", "LOG_LEVEL: info"},
		{"--root", "--roots"},
		{"Bearer ", "Basic "},
	} {
		now, err := load(strings.Replace(base, change[0], change[1], 1))
		if err != nil || now.Equal(before) || before.Equal(now) {
			t.Errorf("%v: got %+v %v", change, now, err)
		}
	}
	if again, err := load("\n" + base); err != nil || !again.Equal(before) {
		t.Errorf("got %+v %v", again, err)
	}
}

func TestReadErrorIsReturned(t *testing.T) {
	broken := errors.New("disk gone")
	if _, err := config.Load("x.yaml", iotest.ErrReader(broken), env); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "read x.yaml: ") {
		t.Errorf("got %v", err)
	}
	// Load does not read beyond the maximum size.
	if _, err := config.Load("x.yaml",
		io.MultiReader(strings.NewReader(strings.Repeat(" ", 1<<20+1)), iotest.ErrReader(broken)),
		env); errors.Is(err, broken) || err == nil {
		t.Errorf("got %v", err)
	}
}

// No file causes a panic. Each problem has a position in the file, and contains no secret
// (T5).
func FuzzLoad(f *testing.F) {
	for _, path := range []string{
		"testdata/askback.yaml", "testdata/everything.yaml", "testdata/problems.txt", "testdata/hosting_problems.txt",
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(b), "\n\n") {
			source, _, _ := strings.Cut(part, "\n----")
			f.Add(source)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := load(text)
		var bad settings.Invalid
		if err == nil {
			if again, err := load(text); err != nil || !again.Equal(c) {
				t.Errorf("%q: got %+v, then %+v %v", text, c, again, err)
			}
			return
		}
		if !errors.As(err, &bad) || len(bad.Problems) == 0 || len(bad.Problems) > 20 || !c.Equal(config.Config{}) {
			t.Fatalf("%q: got %+v %v", text, c, err)
		}
		lines := strings.Split(text, "\n")
		for _, p := range bad.Problems {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 {
				t.Errorf("%q: got %+v", text, p)
			}
		}
		if strings.Contains(err.Error(), "hunter2") && !strings.Contains(text, "hunter2") {
			t.Errorf("%q: the error has a secret: %v", text, err)
		}
	})
}

// The settings file of the packages for Linux changes nothing, and its examples are valid.
func TestSettingsOfPackagesAreValid(t *testing.T) {
	text := read(t, "../../../packaging/askback.yaml")
	if got, err := load(text); err != nil || !got.Equal(config.Config{}) {
		t.Errorf("got %+v, %v, want no settings", got, err)
	}
	got, err := load(regexp.MustCompile(`(?m)^#(  |\w)`).ReplaceAllString(text, "$1"))
	if err != nil {
		t.Error(err)
	}
	if len(got.People) != 2 || len(got.Routes) != 1 || got.Channels["post"] == nil || got.Retention.Settled == 0 {
		t.Errorf("got %+v, want each example", got)
	}
}
