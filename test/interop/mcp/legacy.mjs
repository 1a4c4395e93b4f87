// A client of the TypeScript SDK 1.x, for the revisions with sessions.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { drive, elicit, elicited, headers, server } from "./drive.mjs";

let client, transport;

async function connect() {
  client = new Client({ name: server.name, version: "1" }, { capabilities: server.capabilities });
  if (server.capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, elicit);
  transport = server.command
    ? new StdioClientTransport({ command: server.command, args: ["mcp"], env: server.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
  await client.connect(transport);
}

// about returns the result of the handshake.
const about = () => ({
  protocol: transport.protocolVersion ?? "",
  session: transport.sessionId ?? "",
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  process: transport.pid ?? 0,
  elicited,
});

// call sends the call of a model unchanged. The default timeout is the
// default of the SDK.
async function call({ tool, input, timeout, meta }) {
  const params = { name: tool, arguments: JSON.parse(input), ...(meta && { _meta: meta }) };
  return client.request({ method: "tools/call", params }, CallToolResultSchema, timeout ? { timeout } : undefined);
}

drive({
  connect,
  about,
  call,
  tools: async () => (await client.listTools()).tools,
  sent: ({ input }) => JSON.stringify(JSON.parse(input)),
});
