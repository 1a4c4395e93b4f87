package opencode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The model makes the ids of calls. If two calls have the same id, people are not asked about one call with
// the arguments of the other (T49).
func TestPluginShowsNoArgumentsOfAnotherCall(t *testing.T) {
	script := `
import fs from "node:fs"
import path from "node:path"
const program = path.join(path.dirname(process.argv[1]), "askback")
const seen = program + ".seen"
fs.writeFileSync(program, "#!/bin/sh\nread -r event\nprintf '%s\\n' \"$event\" >>'" + seen + "'\n", { mode: 0o755 })
const hooks = await plugin({ client: {}, directory: "/srv" }, { command: program })
const run = (sessionID, callID, args) => hooks["tool.execute.before"]({ tool: "bash", sessionID, callID }, { args })
const done = (sessionID, callID) => hooks["tool.execute.after"]({ tool: "bash", sessionID, callID }, {})
const idle = (sessionID) => hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
let n = 0
async function shown(sessionID, callID) {
  const id = "per_" + ++n
  const properties = { id, sessionID, permission: "bash", tool: { callID } }
  await hooks.event({ event: { type: "permission.asked", properties } })
  const lines = () => (fs.existsSync(seen) ? fs.readFileSync(seen, "utf8").trim().split("\n") : []).map((line) => JSON.parse(line))
  for (;;) {
    const found = lines().find((event) => event.properties.id === id)
    if (found) return JSON.stringify(found.args)
    await new Promise((ok) => setTimeout(ok, 20))
  }
}
await run("s", "x", { command: "rm" })
console.log(await shown("s", "x"))
await run("other", "x", { command: "date" })
console.log(await shown("s", "x"), await shown("other", "x"))
await run("s", "x", { command: "ls" })
console.log(await shown("s", "x"))
await done("s", "x")
await run("s", "x", { command: "pwd" })
console.log(await shown("s", "x"))
await idle("s")
await run("s", "x", { command: "id" })
console.log(await shown("s", "x"), await shown("other", "x"))
await done("s", "x")
await run("s", "x", { command: "wc" })
console.log(await shown("s", "x"))
await idle("s")
await idle("other")
`
	want := strings.Join([]string{
		`{"command":"rm"}`,
		`{"command":"rm"} {"command":"date"}`,
		"undefined", "undefined",
		`{"command":"id"} {"command":"date"}`,
		`{"command":"wc"}`,
	}, "\n")
	if diff := cmp.Diff(want, node(t, script)); diff != "" {
		t.Error(diff)
	}
}
