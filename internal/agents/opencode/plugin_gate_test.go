package opencode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A gate with a list asks about every call that it allows in the rules. A call that OpenCode would have
// rejected does not run without an approval (T49).
func TestGateAsksAboutEveryToolThatItAllows(t *testing.T) {
	script := `
const gates = [["github_*"], ["github_*", "external_directory"], ["*"], ["write"], ["doom_?oop"], ["bash", "mcp_*"], [" edit"]]
const tools = ["bash", "write", "edit", "webfetch", "github_delete_repo", "mcp_x", "gitlab_x"]
const { gateOf, isGated, opened } = plugin.internals
for (const option of gates) {
  const gate = gateOf(option)
  const rules = opened({ "*": "ask" }, gate)
  const permission = (tool) => ({ write: "edit" })[tool] ?? tool
  const action = (name) => {
    let found
    for (const [pattern, rule] of Object.entries(rules)) {
      if (plugin.internals.matches(pattern, name)) found = typeof rule === "string" ? rule : rule["*"]
    }
    return found
  }
  const open = tools.filter((tool) => action(permission(tool)) === "allow")
  const ungated = open.filter((tool) => !isGated(gate, tool))
  const general = ["external_directory", "doom_loop"].filter((name) => action(name) === "allow")
  console.log(JSON.stringify([open, ungated, general]))
}
`
	want := strings.Join([]string{
		`[["github_delete_repo"],[],[]]`,
		`[["bash","write","edit","webfetch"],[],[]]`, // the same as for true
		`[["bash","write","edit","webfetch"],[],[]]`,
		`[["write","edit"],[],[]]`,
		`[["bash","write","edit","webfetch"],[],[]]`,
		`[["bash","mcp_x"],[],[]]`,
		`[[],[],[]]`,
	}, "\n")
	if diff := cmp.Diff(want, node(t, script)); diff != "" {
		t.Error(diff)
	}
}

// Only the arguments that a person saw are used, even if they are changed while the person decides (F7).
func TestGateRunsOnlyTheArgumentsThatWereShown(t *testing.T) {
	script := `
import fs from "node:fs"
import path from "node:path"
const program = path.join(path.dirname(process.argv[1]), "askback")
const go = program + ".go"
fs.writeFileSync(program, "#!/bin/sh\nread -r event\nuntil test -e '" + go + "'; do sleep 0.02; done\nprintf '%s' '{\"decision\":\"approved\"}'\n", { mode: 0o755 })
const hooks = await plugin({ client: {}, directory: "/srv" }, { gate: true, command: program })
const output = { args: { command: "ls", deep: { n: 1 } } }
const done = hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
output.args.command = "rm -rf /"
output.args.deep.n = 2
output.args.more = true
fs.writeFileSync(go, "")
await done
console.log(JSON.stringify(output.args))
`
	if got, want := node(t, script, "run"), `{"command":"ls","deep":{"n":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The plugin keeps a limited number of calls. Beyond this number, people are not asked about a call with the
// arguments of another call with the same id (T49).
func TestPluginShowsNoArgumentsWhenItIsFull(t *testing.T) {
	script := `
import fs from "node:fs"
import path from "node:path"
const program = path.join(path.dirname(process.argv[1]), "askback")
const seen = program + ".seen"
fs.writeFileSync(program, "#!/bin/sh\nread -r event\nprintf '%s\\n' \"$event\" >>'" + seen + "'\n", { mode: 0o755 })
const hooks = await plugin({ client: {}, directory: "/srv" }, { command: program })
const run = (callID, args) => hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID }, { args })
const done = (callID) => hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID }, {})
for (let i = 0; i < 1000; i++) await run("c" + i, { command: "true" })
await run("x", { command: "rm -rf /" })
await done("c0")
await run("x", { command: "ls" })
const properties = { id: "per_1", sessionID: "s", permission: "bash", tool: { callID: "x" } }
await hooks.event({ event: { type: "permission.asked", properties } })
const lines = () => (fs.existsSync(seen) ? fs.readFileSync(seen, "utf8").trim().split("\n").filter(Boolean) : [])
while (lines().length === 0) await new Promise((ok) => setTimeout(ok, 20))
console.log(JSON.stringify(JSON.parse(lines()[0]).args))
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
`
	if got := node(t, script); got != "undefined" {
		t.Errorf("a person is shown %s", got)
	}
}
