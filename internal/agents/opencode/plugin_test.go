package opencode_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/agents/opencode"
)

// node runs a script and returns its output. The script can use the plugin as plugin. args are the arguments
// of opencode.
func node(t *testing.T, script string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("LEFT OUT: the plugin of OpenCode; node is missing")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.mjs": opencode.Plugin, "test.mjs": "import plugin from \"./plugin.mjs\"\n" + script,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{filepath.Join(dir, "test.mjs")}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// In opencode run, the gate changes rules to allow only for the tools that it asks about. A denied tool stays
// denied, and a rule that is not about one tool stays unchanged.
func TestGateAllowsOnlyToolsThatItAsksAbout(t *testing.T) {
	cases := []struct{ gate, rules, want string }{
		{`false`, `{"*":"ask"}`, `{"*":"ask"}`},
		{
			`true`, `{"bash":"ask","read":"ask","external_directory":"ask","doom_loop":"ask"}`,
			`{"bash":"allow","read":"ask","external_directory":"ask","doom_loop":"ask"}`,
		},
		{
			`true`, `{"bash":{"*":"ask","rm *":"deny","ls":"allow"}}`,
			`{"bash":{"*":"allow","rm *":"deny","ls":"allow"}}`,
		},
		{`true`, `"ask"`, `{"*":"ask","bash":{"*":"allow"},"codesearch":{"*":"allow"},"edit":{"*":"allow"},"webfetch":{"*":"allow"},"websearch":{"*":"allow"}}`},
		{`true`, `"deny"`, `{"*":"deny","bash":{"*":"deny"},"codesearch":{"*":"deny"},"edit":{"*":"deny"},"webfetch":{"*":"deny"},"websearch":{"*":"deny"}}`},
		{
			`["bash"]`, `{"*":"ask","edit":"ask","bash":{"rm *":"deny"}}`,
			`{"*":"ask","edit":"ask","bash":{"*":"allow","rm *":"deny"}}`,
		},
		// the last rule that matches applies
		{`["bash"]`, `{"bash":"deny","*":"ask"}`, `{"*":"ask","bash":{"*":"allow"}}`},
		{`["bash"]`, `{"*":"ask","bash":"deny"}`, `{"*":"ask","bash":"deny"}`},
		{
			`true`, `{"github_*":"ask","re*":"ask","github_merge":"deny"}`,
			`{"github_*":"allow","re*":"ask","github_merge":"deny"}`,
		},
		{`true`, `{"askback_*":"ask"}`, `{"askback_*":"ask"}`},
		{`true`, `null`, `null`},
		{`"false"`, `{"bash":"ask"}`, `{"bash":"allow"}`}, // any other value turns the gate on
		{`[7]`, `{"bash":"ask"}`, `{"bash":"allow"}`},
	}
	script := "const { opened, gateOf } = plugin.internals\n"
	for _, c := range cases {
		script += "console.log(JSON.stringify(opened(" + c.rules + ", gateOf(" + c.gate + "))))\n"
	}
	got := strings.Split(node(t, script), "\n")
	for i, c := range cases {
		// The order of the members is compared as well.
		if diff := cmp.Diff(c.want, got[i]); diff != "" {
			t.Errorf("gate %s, rules %s:\n%s", c.gate, c.rules, diff)
		}
	}
}

// The gate applies to tools that change something, and to unknown tools.
func TestGateAppliesToToolsThatChangeSomething(t *testing.T) {
	script := `const { isGated, gateOf } = plugin.internals
const tools = ["bash", "write", "edit", "apply_patch", "webfetch", "github_merge", "read", "grep", "task", "question", "askback_confirm_action", "askback_delete", "constructor"]
console.log(JSON.stringify([true, ["edit"], false, undefined].map((gate) => tools.filter((tool) => isGated(gateOf(gate), tool)))))`
	var got [][]string
	if err := json.Unmarshal([]byte(node(t, script)), &got); err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"bash", "write", "edit", "apply_patch", "webfetch", "github_merge", "askback_delete", "constructor"},
		{"write", "edit", "apply_patch"},
		{},
		{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever the program prints, a call of the gate runs only after its approval, and a permission is given
// only after an approval (T5).
func TestPluginApprovesOnlyApprovals(t *testing.T) {
	script := `
import childProcess from "node:child_process"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import path from "node:path"
const program = path.join(path.dirname(process.argv[1]), "askback")
const { spawn } = childProcess
let onEnd = () => {} // is called when the next program has ended, or could not be started
childProcess.spawn = (...args) => {
  const child = spawn(...args)
  for (const event of ["close", "error"]) child.on(event, onEnd)
  return child
}
syncBuiltinESMExports()
const running = setInterval(() => {}, 1000) // the timers of the plugin do not keep Node running
const posts = []
const client = { _client: { post: async ({ url, body }) => void posts.push(url + " " + JSON.stringify(body)) } }
const hooks = await plugin({ client, directory: "/srv" }, { gate: true, command: program })
const say = (text, code) => fs.writeFileSync(program, "#!/bin/sh\nread event\nprintf '%s' '" + text + "'\nexit " + code + "\n", { mode: 0o755 })
async function gate() {
  const output = { args: { command: "make", n: 1 } }
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
    return JSON.stringify(output.args)
  } catch (e) {
    return "blocked: " + e.message
  }
}
let n = 0
async function permission(type) {
  const id = "id_" + ++n
  const ended = new Promise((ok) => (onEnd = ok))
  await hooks.event({ event: { type, properties: { id, sessionID: "s" } } })
  await ended
  await new Promise((ok) => setImmediate(ok)) // the plugin posts its reply before
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
}
for (const [text, code] of [
  ['{"decision":"approved"}', 0], ['{"decision":"approved","args":{"command":"ls"}}', 0], ['{"decision":"denied","reason":"no"}', 0],
  ["", 0], ["", 2], ['{"decision":"approved"}', 2], ['{"decision":"yes"}', 0], ["approved", 0], ['["approved"]', 0], ["null", 0], ['{"reply":"once"}', 0],
]) {
  say(text, code)
  console.log(await gate())
}
fs.rmSync(program)
console.log((await gate()).includes("ENOENT"))
await permission("permission.asked")
for (const text of ['{"reply":"always"}', '{"reply":true}', '{"decision":"approved"}', "null", '{"answers":[["a"]]}', '{"reply":"once"}', '{"reply":"reject","message":"no"}']) {
  say(text, 0)
  await permission("permission.asked")
}
for (const text of ['{"reply":"once"}', '{"answers":"a"}', '{"answers":[["a"]]}', '{"rejected":true}']) {
  say(text, 0)
  await permission("question.asked")
}
console.log(posts.join("\n"))
clearInterval(running)
`
	const blocked = "blocked: This call was not run, because Askback could not ask a person about it."
	want := strings.Join([]string{
		`{"command":"make","n":1}`, `{"command":"ls"}`, "blocked: no",
		blocked, blocked, blocked, blocked, blocked, blocked, blocked, blocked, "true",
		`/permission/id_7/reply {"reply":"once"}`, `/permission/id_8/reply {"reply":"reject","message":"no"}`,
		`/question/id_11/reply {"answers":[["a"]]}`, `/question/id_12/reject {}`,
	}, "\n")
	if diff := cmp.Diff(want, node(t, script, "run")); diff != "" {
		t.Error(diff)
	}
}
