// An agent of AG-UI over HTTP, which waits for an approval and for an answer, and a program that
// runs it with the SDK and resumes it with what Askback replies.
import { createServer } from "node:http";
import { ask, config, load, print } from "./dialect.mjs";

const { HttpAgent } = await load("@ag-ui/client");
const { RunAgentInputSchema, RunFinishedEventSchema } = await load("@ag-ui/core/schemas");

const interrupts = [
  {
    id: "i1",
    reason: "tool_call",
    toolCallId: "c1",
    message: "Deploy the shop?",
    responseSchema: {
      type: "object",
      required: ["approved"],
      properties: { approved: { type: "boolean" }, editedArgs: { type: "object" } },
    },
  },
  {
    id: "i2",
    reason: "input_required",
    message: "Which region?",
    responseSchema: { type: "string", enum: ["eu", "us"] },
  },
].slice(0, config.interrupts);

// events returns the events of a run. A resumed run makes the call only if it is approved.
function events({ threadId, runId, resume }) {
  const started = { type: "RUN_STARTED", threadId, runId };
  if (!resume) {
    return [
      started,
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "deploy", parentMessageId: "m1" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"to":' },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '"prod"}' },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      { type: "RUN_FINISHED", threadId, runId, outcome: { type: "interrupt", interrupts } },
    ];
  }
  const entries = Object.fromEntries(resume.map((entry) => [entry.interruptId, entry]));
  if (interrupts.some(({ id }) => !entries[id]))
    return [started, { type: "RUN_ERROR", message: "an interrupt has no entry" }];
  const { status, payload } = entries.i1;
  const ran = status === "resolved" && payload.approved === true ? payload.editedArgs ?? { to: "prod" } : null;
  return [
    started,
    { type: "TOOL_CALL_RESULT", messageId: "m2", toolCallId: "c1", content: JSON.stringify({ ran }) },
    {
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome: { type: "success" },
      result: { ran, region: entries.i2?.payload ?? null },
    },
  ];
}

const server = createServer(async (req, res) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const input = RunAgentInputSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events(input)) res.write(`data: ${JSON.stringify(event)}\n\n`);
  res.end();
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const agent = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}`, threadId: "t1" });
let finished;
agent.subscribe({ onRunFinishedEvent: ({ event }) => { finished = event; } });
await agent.runAgent({ runId: "r1" });

const event = RunFinishedEventSchema.parse(finished);
const { status, reply } = await ask("ag-ui", { ...event, messages: agent.messages });
if (status !== 200 || !reply.resume) {
  print({ status, reply });
} else {
  await agent.runAgent({ runId: "r2", resume: reply.resume });
  print({ status, reply, result: finished.result });
}
server.close();
