package arch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A violation is a small tree that violates one rule. The lines of want are all
// reported faults; the rest of the tree is permitted.
type violation struct {
	rule  string
	files map[string]string
	want  []string
}

var violations = []violation{
	{
		rule: "every package has a row",
		files: map[string]string{
			"engine/a.go":           "package engine",
			"test/bench/raw/a.go":   "package main",
			"notify/a.go":           "package notify",
			"notify/testdata/a.go":  "package other",
			"store/redis/a_test.go": "package redis",
		},
		want: []string{
			"package notify has no row in layers: add it to test/kit/arch/table_test.go",
			"package store/redis has no row in layers: add it to test/kit/arch/table_test.go",
		},
	},
	{
		rule: "merges are complete",
		files: map[string]string{
			"web/assets/a.css": "a {}\n" + strings.Repeat("<",
				7) + " HEAD\nb {}\n=======\nc {}\n" + strings.Repeat(">", 7) + " 1a2b3c4\n",
			"docs/a.md": "Title\n=======\n<<<<<<<<\n",
		},
		want: []string{
			"web/assets/a.css:2: a conflict of a merge is left",
			"web/assets/a.css:6: a conflict of a merge is left",
		},
	},
	{
		rule: "layers are kept",
		files: map[string]string{
			"engine/a.go":             `package engine; import _ "` + module + `/store"`,
			"engine/b.go":             `package engine; import _ "` + module + `/store/sqlite"`,
			"engine/b_test.go":        `package engine_test; import _ "` + module + `/store/sqlite"`,
			"internal/lifecycle/a.go": `package lifecycle; import _ "` + module + `"`,
			"store/a.go":              `package store; import _ "` + module + `"`,
			"terminal/a.go":           `package terminal; import _ "` + module + `/internal/text/view"`,
			"internal/pages/a.go":     `package pages; import _ "` + module + `/internal/text/safetext"`,
			"cmd/askback/a.go":        `package main; import _ "` + module + `/store/sqlite"`,

			"internal/agents/a.go":       `package agents; import _ "` + module + `/internal/agents/codex"`,
			"internal/agents/codex/a.go": `package codex; import _ "` + module + `/internal/agents/hook"`,
			"internal/agents/codex/b.go": `package codex; import _ "` + module + `/internal/agents/gemini"`,
			"internal/agents/hook/a.go":  `package hook; import _ "` + module + `/internal/agents/codex"`,
		},
		want: []string{
			"engine/b.go:1: engine must not import store/sqlite",
			"store/a.go:1: store must not import .",
			"internal/pages/a.go:1: internal/pages must not import internal/text/safetext",
			"internal/agents/codex/b.go:1: internal/agents/codex must not import internal/agents/gemini",
			"internal/agents/hook/a.go:1: internal/agents/hook must not import internal/agents/codex",
		},
	},
	{
		rule: "frontends are independent",
		files: map[string]string{
			"web/a_test.go":       `package web_test; import _ "` + module + `/httpapi"`,
			"web/a.go":            `package web; import _ "` + module + `/internal/pages"`,
			"mcpserver/a.go":      `package mcpserver; import _ "` + module + `/terminal"`,
			"mcpserver/a_test.go": `package mcpserver_test; import _ "` + module + `/asktool"`,
			"httpapi/a_test.go":   `package httpapi_test; import _ "` + module + `/askbacktest"`,
		},
		want: []string{
			"mcpserver/a.go:1: mcpserver must not import terminal: frontends are independent",
			"web/a_test.go:1: web must not import httpapi: frontends are independent",
		},
	},
	{
		rule: "channels are listed",
		files: map[string]string{
			"internal/channels/kinds/a.go": `package kinds; import ( _ "` + module + `/channel/slack"; _ "` +
				module + `/channel/webhook" )`,
			"channel/slack/a.go":       `package slack`,
			"channel/pigeon/a.go":      `package pigeon`,
			"channel/pigeon/b.go":      `package pigeon`,
			"channel/channeltest/a.go": `package channeltest; import _ "` + module + `/channel/slack"`,
			"cmd/askback/a.go": `package main; import ( _ "` + module + `/channel/slack"; _ "` +
				module + `/channel/webhook" )`,
			"cmd/askback/a_test.go": `package main; import _ "` + module + `/channel/slack"`,
			"test/faults/a.go":      `package main; import _ "` + module + `/channel/slack"`,
		},
		want: []string{
			"channel/pigeon is not in internal/channels/kinds",
			"cmd/askback/a.go:1: cmd/askback must not import channel/slack: it reads internal/channels/kinds",
		},
	},
	{
		rule: "libraries have owners",
		files: map[string]string{
			"store/sqlite/a.go":    `package sqlite; import _ "github.com/pressly/goose/v3/lock"`,
			"engine/a.go":          `package engine; import _ "modernc.org/sqlite"`,
			"engine/a_test.go":     `package engine_test; import ( _ "pgregory.net/rapid"; _ "modernc.org/sqlite/lib" )`,
			"store/storetest/a.go": `package storetest; import _ "github.com/google/go-cmp/cmp"`,
			"internal/access/a.go": `package access; import _ "github.com/google/go-cmp/cmp"`,
			"test/bench/raw/a.go":  `package main; import _ "modernc.org/sqlite"`,
			"internal/ids/a.go":    `package ids; import _ "github.com/google/uuid"`,
		},
		want: []string{
			"internal/access/a.go:1: internal/access does not own github.com/google/go-cmp/cmp: see owners in " +
				"test/kit/arch/table_test.go",
			"engine/a.go:1: engine does not own modernc.org/sqlite: see owners in test/kit/arch/table_test.go",
			"engine/a_test.go:1: engine does not own modernc.org/sqlite/lib: see owners in test/kit/arch/table_test.go",
			"internal/ids/a.go:1: internal/ids does not own github.com/google/uuid: see owners in " +
				"test/kit/arch/table_test.go",
		},
	},
	{
		rule:  "no dot imports",
		files: map[string]string{"engine/a.go": `package engine; import . "time"`},
		want:  []string{"engine/a.go:1: dot import of time"},
	},
	{
		rule: "pure imports only",
		files: map[string]string{
			"a.go": `package askback; import ( _ "strings"; _ "github.com/rivo/uniseg"; _ "os" )`,
			"internal/lifecycle/a.go": `package lifecycle; import ( _ "` + module +
				`"; _ "github.com/rivo/uniseg" )`,
			"internal/wire/jcs/a.go":      `package jcs; import _ "math/rand/v2"`,
			"internal/wire/jcs/a_test.go": `package canon_test; import _ "os"`,
			"engine/a.go":                 `package engine; import _ "os"`,
		},
		want: []string{
			"a.go:1: . is pure and must not import os",
			"internal/wire/jcs/a.go:1: internal/wire/jcs is pure and must not import math/rand/v2",
			"internal/lifecycle/a.go:1: internal/lifecycle is pure and must not import github.com/rivo/uniseg",
		},
	},
	{
		rule: "no clock in pure code",
		files: map[string]string{
			"a.go": `package askback
import ("fmt"; clock "time"; "context")
var now = clock.Now
func f(w int, t clock.Time) { fmt.Println(w); _ = fmt.Sprint(w); _ = t.After(t) }
var _ = clock.NewTimer
var _ = context.WithTimeoutCause
var _ clock.Duration = clock.Second`,
			"internal/lifecycle/a.go":      `package lifecycle; import "time"; var _, _ = time.LoadLocation("UTC")`,
			"internal/lifecycle/a_test.go": `package lifecycle; import "time"; var _ = time.Now()`,
			"engine/a.go":                  `package engine; import "time"; var _ = time.Now()`,
		},
		want: []string{
			"a.go:3: . is pure and must not use time.Now",
			"a.go:4: . is pure and must not use fmt.Println",
			"a.go:5: . is pure and must not use time.NewTimer",
			"a.go:6: . is pure and must not use context.WithTimeoutCause",
			"internal/lifecycle/a.go:1: internal/lifecycle is pure and must not use time.LoadLocation",
		},
	},
	{
		rule: "no concurrency in pure code",
		files: map[string]string{
			"internal/access/a.go": `package access
func f() { go f() }
func g(c chan int) {}
func h() { select {} }
func i() { x <- 1 }
func j() { <-x }
func k() { _ = -1 }`,
			"engine/a.go": `package engine; func f() { go f() }`,
		},
		want: []string{
			"internal/access/a.go:2: internal/access is pure and must not have a go statement",
			"internal/access/a.go:3: internal/access is pure and must not have a channel type",
			"internal/access/a.go:4: internal/access is pure and must not have a select",
			"internal/access/a.go:5: internal/access is pure and must not have a send",
			"internal/access/a.go:6: internal/access is pure and must not have a receive",
		},
	},
	{
		rule: "no changed package variables",
		files: map[string]string{
			"a.go": `package askback; var Limits = []int{1}; type Ask struct { N int }`,
			"internal/lifecycle/a.go": `package lifecycle
import ("strings"; "` + module + `")
var table = []int{1}
var last struct{ n int }
func a() { table[0] = 2 }
func b() { last.n++ }
func c() { askback.Limits = nil }
func d() { table := []int{}; table[0] = 2; _ = strings.ToUpper }
func e(ask askback.Ask) { ask.N = 2 }
func f() { for last.n = range 3 { } }
func g() { clear(table) }
func h() { for range 3 { } }`,
			"internal/lifecycle/a_test.go": `package lifecycle; func init() { table = nil }`,
			"engine/a.go":                  `package engine; var n int; func f() { n = 1 }`,
		},
		want: []string{
			"internal/lifecycle/a.go:10: internal/lifecycle is pure and must not change the package variable last",
			"internal/lifecycle/a.go:11: internal/lifecycle is pure and must not change the package variable table",
			"internal/lifecycle/a.go:5: internal/lifecycle is pure and must not change the package variable table",
			"internal/lifecycle/a.go:6: internal/lifecycle is pure and must not change the package variable last",
			"internal/lifecycle/a.go:7: internal/lifecycle is pure and must not change the package variable " +
				"askback.Limits",
		},
	},
	{
		rule: "no maps in the machines",
		files: map[string]string{
			"a.go": `package askback; type Votes map[string]bool; type Ask struct { Votes Votes }`,
			"internal/lifecycle/a.go": `package lifecycle
import ("maps"; "` + module + `")
type state struct { seen map[string]bool }
func f(ask askback.Ask) askback.Ask { return ask }
func g(ask askback.Ask) { for range ask.Votes { } }`,
			"internal/access/a.go": `package access; var table = map[string]bool{}`,
		},
		want: []string{
			"internal/lifecycle/a.go:2: internal/lifecycle must not import maps: their order is random",
			"internal/lifecycle/a.go:3: internal/lifecycle must not have a map: its order is random",
			"internal/lifecycle/a.go:5: internal/lifecycle must not have a map: its order is random",
		},
	},
	{
		rule: "packages have comments",
		files: map[string]string{
			"engine/a.go":               "// Package engine runs.\npackage engine",
			"engine/b.go":               "package engine",
			"internal/access/a.go":      "package access",
			"internal/access/a_test.go": "// Package access in a test says nothing.\npackage access",
			"web/a.go":                  "//go:build linux\n\npackage web",
			"cmd/askback/a.go":          "package main",
		},
		want: []string{
			"package internal/access has no package comment",
			"package cmd/askback has no package comment",
			"package web has no package comment",
		},
	},
	{
		rule: "exported names have comments",
		files: map[string]string{
			"engine/a.go": `package engine
// An Engine runs.
type Engine struct{ Silent int }
func (e *Engine) Run() {}
func New() {}
// Sizes of asks.
type ( A int
 // B is fine.
 B int )
// Kinds of asks.
const ( One = 1; Two = 2 )
var Limit = 1
var Small = 1 // the least
//go:noinline
func Marked() {}
type hidden[T any] struct{}
func (h *hidden[T]) Len() {}
type Box[T any] int
func (b Box[T]) Open() {}`,
			"engine/a_test.go":          "package engine\nfunc Helper() {}",
			"cmd/askback/a.go":          "package main\ntype Flags struct{}",
			"internal/pages/a_templ.go": "package pages\nfunc Page() {}",
		},
		want: []string{
			"engine/a.go:12: Limit has no comment",
			"engine/a.go:15: Marked has no comment",
			"engine/a.go:18: Box has no comment",
			"engine/a.go:19: Open has no comment",
			"engine/a.go:4: Run has no comment",
			"engine/a.go:5: New has no comment",
			"engine/a.go:7: A has no comment",
		},
	},
	{
		rule: "no init functions",
		files: map[string]string{
			"engine/a.go": "package engine\nfunc init() {}\ntype t int\nfunc (t) init() {}",
		},
		want: []string{"engine/a.go:2: init function in engine"},
	},
	{
		rule: "package names are clear",
		files: map[string]string{
			"a.go":               "package askback",
			"a_test.go":          "package askback_test",
			"cmd/askback/a.go":   "package main",
			"httpapi/a.go":       "package api",
			"internal/rand/a.go": "package rand",
			"internal/util/a.go": "package util",
			"models/x/a.go":      "package x",
		},
		want: []string{
			"httpapi/a.go:1: package api is in the folder httpapi",
			"internal/rand/a.go:1: package rand takes the name of math/rand/v2",
			"internal/util/a.go:1: the name util is vague",
			"models/x/a.go:1: the name models is vague",
		},
	},
	{
		rule: "file names are nouns",
		files: map[string]string{
			"engine/types.go":      "package engine",
			"engine/utils_test.go": "package engine",
			"engine/hub.go":        "package engine",
		},
		want: []string{
			"engine/types.go: name the file after the noun inside",
			"engine/utils_test.go: name the file after the noun inside",
		},
	},
	{
		rule: "files are short",
		files: map[string]string{
			"engine/a.go":               "package engine\n" + strings.Repeat("\n", maxLines-1),
			"engine/b.go":               "package engine\n" + strings.Repeat("\n", maxLines),
			"engine/a_test.go":          "package engine\n" + strings.Repeat("\n", maxTestLines-1),
			"engine/b_test.go":          "package engine\n" + strings.Repeat("\n", maxTestLines),
			"store/storetest/a.go":      "package storetest\n" + strings.Repeat("\n", maxTestLines-1),
			"internal/pages/a_templ.go": "package pages\n" + strings.Repeat("\n", maxLines),
		},
		want: []string{
			"engine/b.go has 451 lines, at most 450 are allowed",
			"engine/b_test.go has 601 lines, at most 600 are allowed",
		},
	},
	{
		rule: "signatures have one form",
		files: map[string]string{
			"web/a.go":          `package web; import "crypto/hmac"; var _, _ = hmac.New, hmac.Equal`,
			"web/a_test.go":     `package web; import "crypto/hmac"; var _ = hmac.New`,
			"internal/mac/a.go": `package mac; import "crypto/hmac"; var _ = hmac.New`,
		},
		want: []string{"web/a.go:1: web must sign with internal/mac"},
	},
	{
		rule: "the root is small",
		files: map[string]string{
			"a.go": "package askback; const (" + numbered("A%d = 1; ",
				maxRootNames-1) + "); var b = 1; func (t T) C() {}; type T int",
			"b.go":      "package askback; func F() {}",
			"a_test.go": "package askback; func G() {}",
			"web/a.go":  "package web; func H() {}",
		},
		want: []string{
			"the root exports 251 names, at most 250 are allowed: move the names that a program does not need",
		},
	},
	{
		rule:  "folders are small",
		files: crowded(),
		want: []string{
			"cmd/askback has 57 files, at most 56 are allowed",
			"internal has 21 folders, at most 20 are allowed: group what belongs together",
		},
	},
	{
		rule: "functions are short",
		files: map[string]string{
			"engine/a.go": "package engine\nfunc f() {" + strings.Repeat("\n", maxFunctionLines-1) + "}",
			"engine/b.go": "package engine\n\n// g is long.\nfunc g() {" + strings.Repeat("\n",
				maxFunctionLines) + "}",
			"engine/a_test.go":          "package engine\nfunc h() {" + strings.Repeat("\n", maxFunctionLines) + "}",
			"store/storetest/a.go":      "package storetest\nfunc i() {" + strings.Repeat("\n", maxFunctionLines) + "}",
			"internal/pages/a_templ.go": "package pages\nfunc j() {" + strings.Repeat("\n", maxFunctionLines) + "}",
		},
		want: []string{"engine/b.go:4: g has 61 lines, at most 60 are allowed"},
	},
	{
		rule: "tests do not sleep",
		files: map[string]string{
			"engine/a.go":          `package engine; import "time"; func f() { time.Sleep(1) }`,
			"engine/a_test.go":     `package engine; import t "time"; func f() { t.Sleep(1) }`,
			"store/storetest/a.go": `package storetest; import "time"; var nap = time.Sleep`,
		},
		want: []string{
			"engine/a_test.go:1: time.Sleep in a test: wait for a condition, with a deadline",
			"store/storetest/a.go:1: time.Sleep in a test: wait for a condition, with a deadline",
		},
	},
	{
		rule: "omitted tests are found",
		files: map[string]string{
			"web/a_test.go": "package web; import \"" + module + "/test/kit/racedetector\"\n" +
				"func TestA(t *testing.T) {\n\tracedetector.Omit(t)\n}\n" +
				"func TestB(t *testing.T) {\n\tt.Run(name, func(t *testing.T) { racedetector.Omit(t) })\n}\n" +
				"func helper(t *testing.T) {\n\tracedetector.Omit(t)\n}",
			"web/b_test.go": "package web; import other \"" + module + "/test/kit/racedetector\"\n" +
				"func TestC(t *testing.T) {\n\tother.Omit(t)\n}",
		},
		want: []string{
			"web/a_test.go:6: scripts/test.sh does not find this test: write racedetector.Omit(t) as a statement " +
				"of the test",
			"web/a_test.go:9: scripts/test.sh does not find this test: write racedetector.Omit(t) as a statement " +
				"of the test",
			"web/b_test.go:3: scripts/test.sh does not find this test: write racedetector.Omit(t) as a statement " +
				"of the test",
		},
	},
}

func TestRulesReportViolations(t *testing.T) {
	for _, tt := range slices.Concat(violations, references) {
		t.Run(tt.rule, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			tree, err := read(root)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(tt.want)
			got := slices.Sorted(slices.Values(tree.broken(rules[tt.rule])))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
		})
	}
}

// For each rule there is a tree of files that violates it.
func TestEveryRuleHasAViolation(t *testing.T) {
	for name := range rules {
		if !slices.ContainsFunc(slices.Concat(violations, references),
			func(v violation) bool { return v.rule == name && len(v.want) > 0 }) {
			t.Errorf("no tree breaks the rule %q", name)
		}
	}
}

func TestUnparsableFileIsAnError(t *testing.T) {
	if _, err := read(fstest.MapFS{"a.go": {Data: []byte("package")}}); err == nil {
		t.Error("got no error, want one")
	}
}

// numbered returns n repetitions of a format with a number from 0.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// crowded returns one file and one folder more than are allowed.
func crowded() map[string]string {
	files := map[string]string{"cmd/askback/a_test.go": "package main"}
	for i := range maxFiles["cmd/askback"] + 1 {
		files[fmt.Sprintf("cmd/askback/a%d.go", i)] = "package main"
	}
	for i := range maxFolders["internal"] + 1 {
		files[fmt.Sprintf("internal/a%d/b/b.go", i)] = "package b"
		files[fmt.Sprintf("internal/a%d/c/c.go", i)] = "package c"
	}
	return files
}
