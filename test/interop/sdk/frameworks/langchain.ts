// An agent with LangChain that pauses for an approval. Its checkpoints are kept in a file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { Askback } from "@askback/sdk";
import { resume } from "@askback/sdk/langchain";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";

const [state = "", run = "", order = ""] = process.argv.slice(2);
const askback = new Askback();
const ran: unknown[] = [];

class Scripted extends BaseChatModel {
  _llmType() { return "scripted"; }
  override bindTools() { return this; }
  async _generate(messages: BaseMessage[]) {
    const last = messages.at(-1);
    const message = last?.type === "tool"
      ? new AIMessage(String(last.content))
      : new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "deploy", args: JSON.parse(order) }] });
    return { generations: [{ message, text: message.text }] };
  }
}
const deploy = tool(async (input: { to: string }) => {
  ran.push(input);
  return "deployed";
}, { name: "deploy", description: "Deploy the shop", schema: z.object({ to: z.string() }) });

const checkpointer = new MemorySaver();
if (existsSync(state)) Object.assign(checkpointer, deserialize(readFileSync(state)));
const agent = createAgent({
  model: new Scripted({}),
  tools: [deploy],
  middleware: [
    humanInTheLoopMiddleware({ interruptOn: { deploy: { allowedDecisions: ["approve", "edit", "reject"] } } }),
  ],
  checkpointer,
});
const config = { configurable: { thread_id: run } };

if (!existsSync(state)) {
  await agent.invoke({ messages: [{ role: "user", content: "Deploy the shop" }] }, config);
  writeFileSync(state, serialize({ storage: checkpointer.storage, writes: checkpointer.writes }));
}
const { tasks } = await agent.graph.getState(config);
const paused = { __interrupt__: tasks.flatMap((t) => t.interrupts) };
const result = await agent.invoke(new Command({ resume: await resume(askback, paused, run) }), config);
console.log(JSON.stringify({ ran, text: result.messages.at(-1)?.text }));
