// An agent with the OpenAI Agents SDK that pauses for an approval. Its state is kept in a file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, type Model, run as runAgent, RunState, setTracingDisabled, tool, Usage } from "@openai/agents";
import { Askback } from "@askback/sdk";
import { gated, settle } from "@askback/sdk/openai-agents";
import { z } from "zod";

const [state = "", run = "", order = ""] = process.argv.slice(2);
setTracingDisabled(true);
const askback = new Askback();
const ran: unknown[] = [];
const model = {
  async getResponse({ input }) {
    const last = Array.isArray(input) ? input.at(-1) : undefined;
    const output =
      last?.type === "function_call_result"
        ? [
            {
              type: "message" as const,
              role: "assistant" as const,
              status: "completed" as const,
              content: [{ type: "output_text" as const, text: JSON.stringify(last.output) }],
            },
          ]
        : [
            {
              type: "function_call" as const,
              callId: "call-1",
              name: "deploy",
              arguments: order,
              status: "completed" as const,
            },
          ];
    return { usage: new Usage(), output };
  },
  getStreamedResponse: () => { throw new Error("not used"); },
} satisfies Model;
const deploy = tool({
  name: "deploy",
  description: "Deploy the shop",
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: gated(askback, async (input: { to: string }) => {
    ran.push(input);
    return "deployed";
  }, run),
});
const agent = new Agent({ name: "shop", model, tools: [deploy] });

if (!existsSync(state)) {
  const paused = await runAgent(agent, "Deploy the shop");
  writeFileSync(state, paused.state.toString());
}
const restored = await RunState.fromString(agent, readFileSync(state, "utf8"));
await settle(askback, { interruptions: restored.getInterruptions(), state: restored }, run);
const result = await runAgent(agent, restored);
console.log(JSON.stringify({ ran, text: result.finalOutput }));
