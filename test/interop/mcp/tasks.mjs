// A client of the tasks extension: the package ext-tasks on top of the SDK 2.x.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient, DispatchError } from "@modelcontextprotocol/ext-tasks/client";
import { contributeTaskFilterV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { drive, headers, server } from "./drive.mjs";

const clientInfo = { name: server.name, version: "1" };
const clientCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const protocolVersion = "2026-07-28";

let session;
let client;
let polls = 0; // requests of tasks/get

async function connect() {
  const transport = server.command
    ? new StdioClientTransport({ command: server.command, args: ["mcp"], env: server.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
  client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: { pin: protocolVersion } },
  });
  await client.connect(transport);
  session = createTaskSessionFromClient(client, {
    endpointId: "askback",
    rawDispatch: past(transport),
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
  });
  return { process: transport.pid ?? 0 };
}

// past sends requests that bypass the client of the SDK on its connection: the
// SDK rejects results that are tasks.
function past(transport) {
  const waiting = new Map();
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const take = waiting.get(message.id);
    if (!take) return receive(message, extra);
    waiting.delete(message.id);
    take("error" in message ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  let last = 0;
  return (request, options) => {
    if (request.method === "tasks/get") polls++;
    const id = `task-${++last}`;
    return new Promise((take, fail) => {
      waiting.set(id, take);
      transport.send({ jsonrpc: "2.0", id, ...request }).catch((error) => {
        waiting.delete(id);
        fail(new DispatchError(error.message, true, { cause: error }));
      });
      options?.signal?.addEventListener("abort", () => fail(options.signal.reason), { once: true });
    });
  };
}

// Executions by the id of their task.
const running = new Map();

// start calls a tool. The client stores the reference, to continue after a
// restart.
async function start({ tool, input }) {
  const execution = await session.callTool(tool, JSON.parse(input));
  if (execution.kind !== "task") return { kind: execution.kind, outcome: await execution.result() };
  running.set(execution.handle.taskId, execution);
  return { kind: execution.kind, task: execution.handle.taskId, reference: execution.serializeReference() };
}

async function resume({ reference }) {
  const execution = await session.resumeTask(reference);
  running.set(reference.taskId, execution);
}

// listen subscribes to a task with the SDK. The package reads the notifications.
const notified = new Map();
async function listen({ task }) {
  const handle = client.fallbackNotificationHandler;
  notified.set(task, new Promise((done) => {
    client.fallbackNotificationHandler = async (notification) => {
      await handle?.(notification);
      if (notification.method === "notifications/tasks" && notification.params.taskId === task)
        done(notification.params.status);
    };
  }));
  await client.listen(contributeTaskFilterV2({ notifications: {} }, [task]).notifications);
}

drive({
  connect,
  listen,
  // notified waits for a notification about the end of a task, and then for its outcome.
  notified: async ({ task }) => {
    const status = await notified.get(task);
    return { status, outcome: (await running.get(task).settle()).outcome, polls };
  },
  start,
  resume,
  // settle polls at the interval of the server until there is an outcome.
  settle: async ({ task }) => (await running.get(task).settle()).outcome,
  look: async ({ task }) => session.task(task).snapshot(),
  cancel: async ({ task }) => running.get(task).cancel(),
});
