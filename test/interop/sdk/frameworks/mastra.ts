// An agent with Mastra that pauses for an approval. Its state is in a database.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { MockLanguageModelV4 } from "ai/test";
import { Askback } from "@askback/sdk";
import { settle } from "@askback/sdk/mastra";
import { z } from "zod";

const [state = "", , order = ""] = process.argv.slice(2);
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
const deploy = createTool({
  id: "deploy",
  description: "Deploy the shop",
  inputSchema: z.object({ to: z.string() }),
  requireApproval: true,
  execute: async (input) => {
    ran.push(input);
    return { done: "deployed" };
  },
});
const agent = new Agent({
  id: "shop",
  name: "shop",
  instructions: "Deploy the shop",
  model: model as never,
  tools: { deploy },
});
new Mastra({ agents: { agent }, storage: new LibSQLStore({ id: "state", url: `file:${state}.db` }), logger: false });

if (!existsSync(state)) {
  const { finishReason, runId, suspendPayload } = await agent.generate("Deploy the shop");
  writeFileSync(state, JSON.stringify({ finishReason, runId, suspendPayload }));
}
const result = await settle(askback, agent, JSON.parse(readFileSync(state, "utf8")));
console.log(JSON.stringify({ ran, text: result.text }));
