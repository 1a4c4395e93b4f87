// An agent with the Claude Agent SDK and a scripted model. It makes one call, and prints what the model gets back.
// With the word "deferring", the run ends while it waits, and the next start resumes its session.
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { Askback } from "@askback/sdk";
import { canUseTool, deferring, noMessage } from "@askback/sdk/claude-agent-sdk";

const [folder = "", run = "", ...rest] = process.argv.slice(2);
const order = rest.pop() ?? "";
const call = JSON.parse(order) as { name: string; input: object };
let result: unknown = null;

const model = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { messages = [], tools = [] } =
    request.url?.startsWith("/v1/messages") && !request.url.includes("count_tokens") ? JSON.parse(text) : {};
  for (const block of messages.flatMap((m: { content: unknown }) => (Array.isArray(m.content) ? m.content : []))) {
    if (block.type === "tool_result") result = block.content;
  }
  const calls = tools.length > 0 && result === null;
  response.setHeader("Content-Type", "text/event-stream");
  const send = (type: string, v: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...v })}\n\n`);
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = {
    id: `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model: "scripted",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  send("message_start", { message });
  send("content_block_start", {
    index: 0,
    content_block: calls ? { type: "tool_use", id: "toolu_1", name: call.name, input: {} } : { type: "text", text: "" },
  });
  send("content_block_delta", {
    index: 0,
    delta: calls
      ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
      : { type: "text_delta", text: "done" },
  });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
}).listen(0, "127.0.0.1");
await once(model, "listening");

const outside = "http://127.0.0.1:9"; // other machines are not to be reached
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  SHELL: "/bin/bash",
  NO_PROXY: "127.0.0.1",
  HTTP_PROXY: outside,
  HTTPS_PROXY: outside,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
  ANTHROPIC_API_KEY: "none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
};
const askback = new Askback();
const options: Options = { cwd: folder, env, settingSources: [] };
const session = `${folder}/session`;
if (rest[0] !== "deferring") options.canUseTool = canUseTool(askback, run);
else options.hooks = deferring(askback, run, "Bash|AskUserQuestion", { waitMs: 1000 });
if (existsSync(session)) options.resume = readFileSync(session, "utf8");
let deferred: unknown = null;
for await (const message of query({ prompt: existsSync(session) ? noMessage() : "Do it", options })) {
  if (message.type !== "result") continue;
  if (message.subtype === "success") deferred = message.deferred_tool_use ?? null;
  writeFileSync(session, message.session_id);
  break;
}
console.log(JSON.stringify({ ran: deferred === null ? [] : [deferred], text: JSON.stringify(result) }));
process.exit();
