// Askback's plugin for OpenCode, written by askback init opencode.
//
// Askback also asks the questions and permissions that OpenCode shows at its terminal, and the first
// reply counts. Each question and each permission starts "askback hook opencode", which withdraws the ask when its
// standard input ends. Without the program askback the plugin does nothing.
//
// Options, in opencode.json: "plugin": [["./.askback/opencode.js", {"gate": true}]]
//   gate     true, or a list of permissions such as ["bash", "edit", "github_*"]. In opencode run,
//            which has no dialog, each call with these permissions needs an approval in Askback.
//            Without one, the call does not run.
//   command  the program instead of askback.
import { spawn } from "node:child_process"

// OpenCode may reply immediately, as opencode run does. Only a request that is still open after this time is asked.
const grace = 250 // milliseconds
const maxReply = 8 << 20
const maxCalls = 1000

// Tools that need no approval: Askback's own, and tools that only read or only ask. The
// calls of a subagent (task) need their own approvals.
const free = [
  "glob", "grep", "invalid", "list", "list_mcp_resource_templates", "list_mcp_resources", "lsp", "plan_enter",
  "plan_exit", "question", "read", "skill", "task", "todoread", "todowrite",
  "askback_ask_user_question", "askback_confirm_action", "askback_get_answer", "askback_list_open_questions",
  "askback_permission_prompt", "askback_wait_for_answer", "askback_withdraw_question",
]
// Permissions that are not about one tool.
const general = ["doom_loop", "external_directory"]
const gatedByDefault = ["bash", "codesearch", "edit", "webfetch", "websearch"]
const permissions = { apply_patch: "edit", multiedit: "edit", patch: "edit", write: "edit" }

// OpenCode loads the file twice if the user and the project configure it.
const shared = (globalThis[Symbol.for("askback.opencode")] ??= { requests: new Map(), approved: new WeakSet() })

// hook asks about an event. done resolves to the reply, or to undefined without a decision.
function hook(command, event) {
  let out = ""
  let error = ""
  const child = spawn(command, ["hook", "opencode"], { windowsHide: true })
  child.stdin.on("error", () => {})
  child.stdin.write(JSON.stringify(event) + "\n")
  child.stdout.setEncoding("utf8").on("data", (text) => (out += out.length < maxReply ? text : ""))
  child.stderr.setEncoding("utf8").on("data", (text) => (error += error.length < 2000 ? text : ""))
  const done = new Promise((resolve) => {
    child.on("error", (e) => resolve({ error: e.message }))
    child.on("close", (code) => {
      try {
        resolve({ reply: code === 0 ? JSON.parse(out) : undefined, error })
      } catch {
        resolve({ error })
      }
    })
  })
  return { done, stop: () => child.stdin.end() }
}

// answer sends the reply to OpenCode. It never sends an approval of later calls.
async function answer(client, type, id, reply) {
  const post = (url, body) => client._client.post({ url, body, headers: { "Content-Type": "application/json" } })
  const at = encodeURIComponent(id)
  if (type === "question.asked" && Array.isArray(reply.answers))
    await post(`/question/${at}/reply`, { answers: reply.answers })
  if (type === "question.asked" && reply.rejected === true) await post(`/question/${at}/reject`, {})
  if (type !== "permission.asked") return
  if (reply.reply === "once") await post(`/permission/${at}/reply`, { reply: "once" })
  if (reply.reply === "reject") await post(`/permission/${at}/reply`, { reply: "reject", message: reply.message })
}

// matches reports whether a name matches a pattern of OpenCode's rules.
function matches(pattern, name) {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")
  return new RegExp(`^${source}$`, "s").test(name)
}

const permissionOf = (tool) => (Object.hasOwn(permissions, tool) ? permissions[tool] : tool)

// gateOf reads the option gate: a list of permissions, true for all, or false. A list with
// another value, or with a permission that is not about one tool, counts as true.
function gateOf(option) {
  const isTool = (name) => typeof name === "string" && !general.some((one) => matches(name, one))
  if (Array.isArray(option) && option.every(isTool)) return option.map(permissionOf)
  return Boolean(option)
}

function isGated(gate, tool) {
  if (Array.isArray(gate)) return gate.some((name) => matches(name, permissionOf(tool)))
  return gate && !free.includes(tool)
}

const callName = (session, id) => JSON.stringify([session, id])

const asPatterns = (rule) => (typeof rule === "string" ? { "*": rule } : rule)

// allowed returns a rule with "allow" in place of "ask".
function allowed(rule) {
  if (typeof rule === "string") return rule === "ask" ? "allow" : rule
  return Object.fromEntries(Object.entries(rule).map(([pattern, action]) => [pattern, allowed(action)]))
}

// opened returns the rules for opencode run, which rejects every call that it would ask about. Calls
// that the gate asks about are allowed instead, because they do not run without an approval. Denied
// calls stay denied.
function opened(rules, gate) {
  if (typeof rules === "string") rules = { "*": rules }
  if (!gate || rules === null || typeof rules !== "object") return rules
  const out = {}
  const set = (name, rule) => {
    const before = out[name]
    delete out[name] // the last rule that matches applies
    out[name] = before === undefined || typeof rule === "string" ? rule : { ...asPatterns(before), ...rule }
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (!/[*?]/.test(name)) {
      set(name, isGated(gate, name) && !general.includes(name) ? allowed(rule) : rule)
    } else if (gate === true && ![...free, ...general].some((one) => matches(name, one))) {
      set(name, allowed(rule))
    } else {
      set(name, rule)
      for (const one of gate === true ? gatedByDefault : gate) {
        if (matches(name, one)) set(one, allowed(asPatterns(rule)))
      }
    }
  }
  return out
}

const Askback = async ({ client, directory }, options = {}) => {
  const command = typeof options.command === "string" ? options.command : "askback"
  const gate = process.argv.slice(2).includes("run") && gateOf(options.gate)
  // The arguments of the calls that run, or null if different calls of a session have one id. The
  // model makes the ids, and a person would see the arguments of another call.
  const calls = new Map()
  const full = new Set() // the sessions with calls that are not in calls, because it was full
  const own = new Set() // the requests that this instance asks about

  function begin(type, properties) {
    const id = properties.id
    if (typeof id !== "string" || shared.requests.has(id)) return
    const request = { session: properties.sessionID, stop: () => clearTimeout(timer) }
    shared.requests.set(id, request)
    own.add(id)
    const timer = setTimeout(async () => {
      try {
        const known = !full.has(properties.sessionID)
        const args = known
          ? (calls.get(callName(properties.sessionID, properties.tool?.callID)) ?? undefined)
          : undefined
        const asking = hook(command, { type, directory, properties, args })
        request.stop = asking.stop
        const { reply } = await asking.done
        if (reply && shared.requests.get(id) === request) await answer(client, type, id, reply)
      } catch {
        // the dialog of OpenCode decides
      }
    }, grace)
    timer.unref?.()
  }

  function end(id) {
    shared.requests.get(id)?.stop()
    shared.requests.delete(id)
    own.delete(id)
  }

  // ask waits for the approval of a call, and returns the arguments that were approved.
  async function ask({ tool, sessionID, callID }, args) {
    const sent = JSON.stringify(args) // another plugin may change them while a person decides
    const event = {
      type: "tool.execute.before",
      directory,
      properties: { tool, sessionID, callID, args: JSON.parse(sent) },
    }
    const { reply, error } = await hook(command, event).done
    if (reply?.decision === "approved") return reply.args ?? JSON.parse(sent)
    if (reply?.decision === "denied") throw new Error(reply.reason || "Denied in Askback.")
    throw new Error(`This call was not run, because Askback could not ask a person about it. ${error ?? ""}`.trim())
  }

  return {
    config: async (config) => {
      if (!gate) return
      if (config.permission !== undefined) config.permission = opened(config.permission, gate)
      for (const agent of Object.values({ ...config.agent, ...config.mode })) {
        if (agent?.permission !== undefined) agent.permission = opened(agent.permission, gate)
      }
    },
    event: async ({ event }) => {
      const p = event.properties ?? {}
      if (event.type === "question.asked" || event.type === "permission.asked") begin(event.type, p)
      if (["question.replied", "question.rejected", "permission.replied"].includes(event.type)) end(p.requestID)
      if (event.type === "session.idle" || event.type === "session.deleted") {
        const session = p.sessionID ?? p.info?.id
        full.delete(session)
        for (const name of calls.keys()) if (JSON.parse(name)[0] === session) calls.delete(name)
        for (const [id, request] of shared.requests) if (request.session === session) end(id)
      }
    },
    "tool.execute.before": async (input, output) => {
      const name = callName(input.sessionID, input.callID)
      if (calls.has(name) && calls.get(name) !== output.args) calls.set(name, null)
      else if (calls.size < maxCalls) calls.set(name, output.args)
      else if (!calls.has(name)) full.add(input.sessionID)
      if (!isGated(gate, input.tool) || shared.approved.has(output)) return
      const args = await ask(input, output.args)
      // The tool gets this object, so its members are replaced.
      for (const name of Object.keys(output.args)) delete output.args[name]
      Object.assign(output.args, args)
      shared.approved.add(output)
    },
    "tool.execute.after": async (input) => {
      const name = callName(input.sessionID, input.callID)
      if (calls.get(name) !== null) calls.delete(name) // else, until the session is idle
    },
    dispose: async () => {
      for (const id of own) end(id)
    },
  }
}

// OpenCode calls every export, so the functions for tests are members.
Askback.internals = { gateOf, isGated, matches, opened, free }
export default Askback
