package arch_test

import "strings"

// references are violations of the rules for references in comments and
// documents.
var references = []violation{
	{
		rule: "cited rows exist",
		files: map[string]string{
			"docs/features.md": "A row is cited as in `(F9)`.\n\n| row |\n|---|\n| A1 | asks |\n| F7 | digests |\n\n" +
				"See F8.\n",
			"docs/threats.md": "| T1 | an agent answers |\n| W1 | in the wrong table |\n",
			"docs/cli.md":     "```\nF9\n```\n",
			"engine/a.go": `// Package engine keeps asks (A1, F7).
package engine

// first is held (T1),
// and so is the next: T2 to T3, but not
// F9.
const first = "F9" // G13; U+E000, 0xF5 and C0 are no rows

/* A2 */`,
			"internal/pages/a.templ":  "package pages\n\n// Page shows (F6).\ntempl Page() { <b>F5</b> }\n",
			"web/a.js":                "x = 'F4'\n  // nothing (F3)\n",
			"web/testdata/story.txt":  "# A story (F2).\nF4\n",
			"web/testdata/talk.txtar": "A talk (F1).\n\n-- reply --\nF4\n",
			"web/testdata/fuzz/x.txt": "# F4\n",
		},
		want: []string{
			"docs/features.md:8: F8 is not a row of docs/features.md",
			"docs/threats.md:2: W1 is not a row of docs/malformed.md",
			"engine/a.go:5: T2 is not a row of docs/threats.md",
			"engine/a.go:5: T3 is not a row of docs/threats.md",
			"engine/a.go:6: F9 is not a row of docs/features.md",
			"engine/a.go:7: no document has rows like G13",
			"engine/a.go:9: A2 is not a row of docs/features.md",
			"web/a.js:2: F3 is not a row of docs/features.md",
			"internal/pages/a.templ:3: F6 is not a row of docs/features.md",
			"web/testdata/story.txt:1: F2 is not a row of docs/features.md",
			"web/testdata/talk.txtar:1: F1 is not a row of docs/features.md",
		},
	},
	{
		rule: "rows are complete",
		files: map[string]string{
			"docs/features.md": "| A1 | asks | works | `engine.TestAsk` |\n" +
				"| A3 | waits | partly: no end | `engine.ExampleWait` |\n" +
				"| B1 | flies | Not built yet: no wings | |\n" +
				"| B2 | swims | works | |\n" +
				"| B3 | sinks | `engine.TestSink` |\n",
			"docs/cli.md": "| A7 | a row of no table |\n",
		},
		want: []string{
			"docs/features.md:2: row A3 comes where A2 was expected",
			"docs/features.md:4: row B2 names no test",
			"docs/features.md:5: row B3 has 3 cells, not 4",
		},
	},
	{
		rule: "cited tests exist",
		files: map[string]string{
			"docs/features.md": "`engine.TestAsk`, `engine.TestGone`,\n`askback.Example`, " +
				"`askback.FuzzAsk`, `engine.TestHelper`, `internal/pages.ExamplePage`",
			"a_test.go":        "package askback_test\nfunc Example() {}",
			"engine/a_test.go": "package engine_test\nfunc TestAsk() {}\nfunc (s) TestGone() {}",
			"engine/a.go": "package engine\n// `engine.TestGone` is not cited by a document.\nfunc " +
				"TestHelper() {}",
			"internal/pages/x_test.go": "package pages\nfunc ExamplePage() {}",
		},
		want: []string{
			"docs/features.md:1: there is no test TestGone in engine",
			"docs/features.md:2: there is no test FuzzAsk in askback",
			"docs/features.md:2: there is no test TestHelper in engine",
		},
	},
	{
		rule: "cited sections exist",
		files: map[string]string{
			"docs/wire.md":         "# The wire\n\n## 1. Words\n\n```\n## 3. Code\n```\n",
			"docs/design.md":       "## A grant\n\nSee docs/wire.md, section 4, and `other.md`. `docs/wire.md` §5.\n",
			"docs/design/store.md": "## Faults\n\nSee `design/gone.md`, design.md and wire.md §2.\n",
			"engine/b.go": `package engine

// See docs/design/store.md, "Faults", docs/design/store.md#faults, design/store.md
// "Files", design/store.md#files, design/local-instance.md and agents/poem.md.
const help = "docs/design/store.md and docs/design/hosted-runs.md" + "docs/wire.md#words"
`,
			"engine/b_test.go":     "package engine\nconst test = `docs/none.md`\n",
			"internal/a.templ":     "package pages\ntempl Page() { <code>docs/phone.md</code> }\n",
			"test/bench/README.md": "See [notes.md](notes.md).\n",
			"test/bench/notes.md":  "",
			"engine/a.go": `// Package engine is described in docs/design.md, "A grant", and wire.md §1,
// and in wire.md
// §2, in wire.md section 1 and 3, and in docs/design.md "An ask". RFC 8785 §9.
package engine // see docs/gone.md, AGENTS.md and https://example.com/a.md`,
		},
		want: []string{
			"docs/design.md:3: docs/wire.md has no section 4",
			"docs/design.md:3: docs/wire.md has no section 5",
			"docs/design.md:3: there is no other.md",
			"docs/design/store.md:3: docs/wire.md has no section 2",
			"docs/design/store.md:3: there is no design/gone.md",
			"engine/a.go:2: docs/wire.md has no section 2",
			"engine/a.go:3: docs/design.md has no heading \"An ask\"",
			"engine/a.go:3: docs/wire.md has no section 3",
			"engine/a.go:4: there is no docs/gone.md",
			"engine/b.go:3: docs/design/store.md has no heading \"Files\"",
			"engine/b.go:4: docs/design/store.md has no anchor #files",
			"engine/b.go:4: there is no design/local-instance.md",
			"engine/b.go:5: docs/wire.md has no anchor #words",
			"engine/b.go:5: there is no docs/design/hosted-runs.md",
			"internal/a.templ:2: there is no docs/phone.md",
		},
	},
	{
		rule: "cited files exist",
		files: map[string]string{
			"docs/cli.md": "`engine/a.go`, `engine/b.go`, engine/*.go, engine/testdata/*.txt, (docs/cli.md), " +
				"`engine.TestA`, `engine/x.TestA`.\n" +
				"`encoding/json`, /engine/none, https://example.com/engine/none, testdata/none.\n`go test -race " +
				"./engine`, `go test ./gone`.\n\n```\nengine/none\n```\n",
			"engine/a.go": `package engine

// See engine/hub. It is like store/sqlite.
const a = "engine/none"

// b.go is beside engine/testdata/one.txt.
`,
			"engine/testdata/one.txt": "# engine/two.go tells.\nengine/none\n",
			".gitignore":              "/bin/\n/askback\n",
			"askback":                 "a program",
			"docs/design.md":          "A page of askback/askback.\n",
		},
		want: []string{
			"docs/cli.md:1: there is no file engine/b.go",
			"docs/cli.md:1: there is no file engine/x",
			"docs/cli.md:3: there is no package ./gone",
			"engine/a.go:3: there is no file engine/hub",
			"engine/testdata/one.txt:1: there is no file engine/two.go",
		},
	},
	{
		rule: "nothing outside is cited",
		files: map[string]string{
			"engine/a.go": `package engine

// The words of seed 004, and of seeds 000
// and 001 (001). The seeds of chance are fine, and so are 10 000, 1,000 and 0.001.
// See issue 12, design "Running it", the mission, the permission (mission
// F2), and what research found. An agent that does research is fine.
const a = "seed 004"

// 003 is a document of its own.
const b = 1`,
			"docs/api.md": "The routes of the seeds. `seed 004` is code.\n",
		},
		want: []string{
			`docs/api.md:1: "the seeds" refers to something that is not in the repository`,
			`engine/a.go:3: "seed 004" refers to something that is not in the repository`,
			`engine/a.go:3: "seeds 000" refers to something that is not in the repository`,
			`engine/a.go:4: "001" refers to something that is not in the repository`,
			`engine/a.go:5: "design \"" refers to something that is not in the repository`,
			`engine/a.go:5: "issue 12" refers to something that is not in the repository`,
			`engine/a.go:5: "mission" refers to something that is not in the repository`,
			`engine/a.go:6: "research found" refers to something that is not in the repository`,
			`engine/a.go:9: "003" refers to something that is not in the repository`,
		},
	},
	{
		rule: "links resolve",
		files: map[string]string{
			"README.md": "[a](docs/cli.md), [b](docs/cli.md#askback-ask), [c](docs/gone.md), " +
				"[d](docs/cli.md#askback-run),\n" +
				"[e](https://example.com/x.md), [f](#words), [g](#none), `[h](none.md)`\n[i]: docs/other.md\n<img " +
				"src=\"docs/a.gif\"> <a href=\"docs/cli.md\">\n\n## Words\n\n```\n# none\n[i](none.md)\n```\n",
			"docs/cli.md": "### `askback` ask\n\n[up](../README.md#words) [folder](../docs)\n",
		},
		want: []string{
			"README.md:1: the link docs/cli.md#askback-run leads to no heading",
			"README.md:1: the link docs/gone.md leads to no file",
			"README.md:2: the link #none leads to no heading",
			"README.md:3: the link docs/other.md leads to no file",
			"README.md:4: the link docs/a.gif leads to no file",
		},
	},
	{
		rule: "documents are listed",
		files: map[string]string{
			"README.md": strings.Repeat("\n", 131),
			"docs/README.md": "[a](cli.md), [b](api.md), [b](api.md#asks), [c](design.md), " +
				"[d](bench/README.md), [up](../README.md)\n",
			"docs/api.md":           "",
			"docs/bench/a.svg":      "",
			"docs/bench/README.md":  "",
			"docs/cli.md":           "[wire](wire.md)",
			"docs/design.md":        "[a](design/store.md), [a](design/store.md#files)",
			"docs/design/engine.md": "[store](store.md)",
			"docs/design/store.md":  "",
			"docs/wire.md":          "",
		},
		want: []string{
			"README.md: has more than 130 lines",
			"docs/README.md: links docs/api.md 2 times, want once",
			"docs/README.md: links docs/wire.md 0 times, want once",
			"docs/design.md: does not link docs/design/engine.md",
		},
	},
	{
		rule: "doc links resolve",
		files: map[string]string{
			"a.go": "package askback\ntype Ask struct{ ID string }\nfunc (a *Ask) Settled() {}\ntype Asker " +
				"interface { Wait() }\nvar A, B int",
			"engine/a.go": `package engine

import ("net/http"; "` + module + `")

// New makes an [Engine] for an [askback.Ask], an [askback.Asker.Wait] and an
// [askback.Answer]; see [Engine.Run], [*Engine] and
// [Engine.Stop]. It is no [http.Handler], no [json.Decoder], no array[Index] and no
// [Link](docs/cli.md); [lower] is prose.
func New(http.Handler, askback.Ask) *Engine

type Engine struct{}`,
			"engine/b.go": "package engine\n\n// Run reads [Ask], [askback.Ask.ID], [askback.Ask.Settled] and " +
				"[askback.B].\nfunc (e *Engine) Run() {}",
		},
		want: []string{
			"engine/a.go:6: [askback.Answer] names nothing",
			"engine/a.go:7: [Engine.Stop] names nothing",
			"engine/a.go:7: [json.Decoder] names nothing",
			"engine/b.go:3: [Ask] names nothing",
		},
	},
	{
		rule: "spellings are current",
		files: map[string]string{
			"cmd/askback/spelling.go": "package main\n\nvar oldSpellings = [][2]string{{\"token create\", \"token " +
				"add\"}, {\"notify\", \"channel\"}}\n",
			"README.md": "`token create` and `askback --db x notify`; `notify` is a word.\n\n```sh\na=$(askback " +
				"token\ncreate --kind agent)\n" +
				"askback token add\naskback token created\n```\n",
			"web/a.go": "package web\n\n// The token creates. Run askback notify test.\nconst a = \"run askback " +
				"token create\"\n",
			"web/a.templ":  "package web\n\ntempl Page() {\n\t<b>askback token create</b>\n}\n",
			"CHANGELOG.md": "`askback token create` is now `askback token add`.\n",
		},
		want: []string{
			`README.md:1: "notify" is an old spelling; cmd/askback/spelling.go has the new one`,
			`README.md:1: "token create" is an old spelling; cmd/askback/spelling.go has the new one`,
			`README.md:4: "token create" is an old spelling; cmd/askback/spelling.go has the new one`,
			`web/a.go:3: "notify" is an old spelling; cmd/askback/spelling.go has the new one`,
			`web/a.go:4: "token create" is an old spelling; cmd/askback/spelling.go has the new one`,
			`web/a.templ:4: "token create" is an old spelling; cmd/askback/spelling.go has the new one`,
		},
	},
	{
		rule: "wording is plain",
		files: map[string]string{
			"a.go": `package askback

// Valid says
// whether nobody asks. If there is none, somebody
/* is none. There are
none. */
const text = "a page of ours" + "of hours, Whoever"

var long = ` + "`one\nsays whether`" + `

// B is that of A, and one that
// those who read those of C know.
const B = "those that"
`,
			"internal/access/a_test.go":                "package access_test\n\n// The row beside it.\n",
			"README.md":                                "Beside it. `nobody`\n",
			"internal/lifecycle/testdata/one.txt":      "# Nobody answers.\nnobody\n",
			"internal/wire/openapi/schemas/A.json":     `{"description": "Null if there is none."}`,
			"internal/wire/openapi/schemas/gen/A.json": `{"description": "Null if there is none."}`,
			"store/a.templ": "package store\n\n// A page.\ntempl Page() {\n" +
				"\t<b>Nobody</b>\n}\n",
			"internal/pages/a_templ.go": "package pages\n\n// nobody\n",
		},
		want: []string{
			`README.md:1: "Beside it" has a plainer form`,
			`a.go:10: "says whether" has a plainer form`,
			`a.go:3: "says whether" has a plainer form`,
			`a.go:12: "one that" has a plainer form`,
			`a.go:12: "that of" has a plainer form`,
			`a.go:13: "those of" has a plainer form`,
			`a.go:13: "those who" has a plainer form`,
			`a.go:14: "those that" has a plainer form`,
			`a.go:4: "is none" has a plainer form`,
			`a.go:4: "nobody" has a plainer form`,
			`a.go:4: "somebody" has a plainer form`,
			`a.go:5: "are none" has a plainer form`,
			`a.go:5: "is none" has a plainer form`,
			`a.go:7: "Whoever" has a plainer form`,
			`a.go:7: "of ours" has a plainer form`,
			`internal/access/a_test.go:3: "beside it" has a plainer form`,
			`internal/wire/openapi/schemas/A.json:1: "is none" has a plainer form`,
			`internal/lifecycle/testdata/one.txt:1: "Nobody" has a plainer form`,
			`store/a.templ:5: "Nobody" has a plainer form`,
		},
	},
	{
		rule: "lines are narrow",
		files: map[string]string{
			"a.go": "package askback\n\n" +
				"// A" + strings.Repeat(" word", 24) + "\n" +
				"const A = 1 // " + strings.Repeat("é", 105) + "\n" +
				"var B = `" + strings.Repeat("x", 120) + "`\n" +
				"func f() {\n" + strings.Repeat("\t", 31) + "\n}\n" +
				"const D = \"a key: " + strings.Repeat("x", 110) + "\"\n" +
				"const C = `one\n" + strings.Repeat("x", 121) + "\n`\n",
			"web/a.templ":      "package web\n\n" + strings.Repeat("<b> ", 31) + "\n",
			"testdata/a.templ": strings.Repeat("<b> ", 31) + "\n",
			"SKILL.md":         "---\ndescription: One" + strings.Repeat(" word", 24) + "\n---\n",
			"README.md": "One" + strings.Repeat(" word", 24) + "\n" +
				"- [" + strings.Repeat("x", 120) + "](a.md)\n" +
				"|" + strings.Repeat(" word", 24) + " |\n" +
				"```\n" + strings.Repeat("word ", 25) + "\n```\n" +
				"# " + strings.Repeat("word ", 25) + "\n" +
				"1. One" + strings.Repeat(" word", 24) + "\n",
		},
		want: []string{
			"README.md:1: the line has more than 120 columns",
			"README.md:8: the line has more than 120 columns",
			"a.go:3: the line has more than 120 columns",
			"a.go:7: the line has more than 120 columns",
			"web/a.templ:3: the line has more than 120 columns",
		},
	},
}
