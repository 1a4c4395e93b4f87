// An agent with the AI SDK that pauses for an approval. Its messages are kept in a file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { generateText, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Askback } from "@askback/sdk";
import { approvals, gated } from "@askback/sdk/ai-sdk";
import { z } from "zod";

const [state = "", run = "", order = ""] = process.argv.slice(2);
const askback = new Askback();
const ran: unknown[] = [];
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const last = prompt.at(-1);
    const content = last?.role === "tool"
      ? [{ type: "text" as const, text: JSON.stringify(last.content) }]
      : [{ type: "tool-call" as const, toolCallId: "call-1", toolName: "deploy", input: order }];
    return {
      content,
      finishReason: { unified: last?.role === "tool" ? "stop" : "tool-calls", raw: undefined },
      usage,
      warnings: [],
    };
  },
});
const deploy = tool({
  description: "Deploy the shop",
  inputSchema: z.object({ to: z.string() }),
  execute: async (input) => {
    ran.push(input);
    return "deployed";
  },
});
const options = {
  model,
  tools: { deploy: gated(askback, "deploy", deploy, run) },
  toolApproval: { deploy: "user-approval" },
} as const;

let messages: ModelMessage[] = [{ role: "user", content: "Deploy the shop" }];
let content: Parameters<typeof approvals>[1] = [];
if (existsSync(state)) {
  ({ messages, content } = JSON.parse(readFileSync(state, "utf8")));
} else {
  const paused = await generateText({ ...options, messages });
  messages.push(...paused.response.messages);
  content = paused.content;
  writeFileSync(state, JSON.stringify({ messages, content }));
}
messages.push({ role: "tool", content: await approvals(askback, content, run) });
const { text } = await generateText({ ...options, messages });
console.log(JSON.stringify({ ran, text }));
