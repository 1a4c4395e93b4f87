// An agent of A2A over JSON-RPC, which needs an answer, and a program that sends it a message with
// the SDK and then what Askback replies.
import { createServer } from "node:http";
import { ask, config, load, print } from "./dialect.mjs";

const { Message, Role, SendMessageRequest, Task, TaskState, AgentCard } = await load("@a2a-js/sdk");
const {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  UnauthenticatedUser,
} = await load("@a2a-js/sdk/server");
const { ClientFactory } = await load("@a2a-js/sdk/client");

const text = (value) => ({ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" });
const said = (role, parts, of) => Message.fromJSON({ messageId: crypto.randomUUID(), role, parts, ...of });

// executor asks in its first turn, and completes the task with the answer in the next.
const executor = {
  async execute(context, bus) {
    const of = { taskId: context.taskId, contextId: context.contextId };
    const again = context.task !== undefined;
    const parts = again
      ? [{ text: `done: ${JSON.stringify(Message.toJSON(context.userMessage).parts)}` }]
      : config.parts;
    const task = Task.fromJSON({
      id: of.taskId,
      contextId: of.contextId,
      status: {
        state: again ? "TASK_STATE_COMPLETED" : "TASK_STATE_INPUT_REQUIRED",
        message: Message.toJSON(said("ROLE_AGENT", parts, of)),
      },
    });
    bus.publish(AgentEvent.task(task));
    bus.finished();
  },
  async cancelTask() {},
};

const server = createServer(async (req, res) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: "1.0" });
  const reply = await handler.handle(Buffer.concat(chunks).toString(), context);
  res.writeHead(200, { "content-type": "application/json" });
  res.end(JSON.stringify(reply));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const card = AgentCard.fromJSON({
  name: "deployer",
  description: "Deploys.",
  version: "1",
  defaultInputModes: ["text/plain", "application/json"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  capabilities: {},
  supportedInterfaces: [
    { url: `http://127.0.0.1:${server.address().port}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
});
const handler = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor));

const client = await new ClientFactory().createFromAgentCard(card);
const task = await client.sendMessage(
  SendMessageRequest.fromJSON({ message: Message.toJSON(said("ROLE_USER", [{ text: "deploy" }])) }),
);
if (task.status.state !== TaskState.TASK_STATE_INPUT_REQUIRED) throw new Error("the task does not wait");

const { status, reply } = await ask("a2a", Task.toJSON(task));
if (status !== 200 || !reply.message) {
  print({ status, reply });
} else {
  const end = await client.sendMessage(SendMessageRequest.fromJSON(reply));
  print({
    status,
    reply,
    same: end.id === task.id,
    state: Task.toJSON(end).status.state,
    result: end.status.message.parts[0].content.value,
  });
}
server.close();
