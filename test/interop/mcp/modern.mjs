// A client of the TypeScript SDK 2.x, limited to protocol 2026-07-28.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { drive, elicit, elicited, headers, server } from "./drive.mjs";

let client, transport;

async function connect() {
  const pin = "2026-07-28";
  client = new Client(
    { name: server.name, version: "1" },
    { capabilities: server.capabilities, versionNegotiation: { mode: { pin } } },
  );
  if (server.capabilities.elicitation) client.setRequestHandler("elicitation/create", elicit);
  transport = server.command
    ? new StdioClientTransport({ command: server.command, args: ["mcp"], env: server.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
  await client.connect(transport);
}

// about describes the server and the connection.
const about = () => ({
  protocol: client.getNegotiatedProtocolVersion(),
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
  return client.callTool(params, timeout ? { timeout } : undefined);
}

drive({
  connect,
  about,
  call,
  tools: async () => (await client.listTools()).tools,
  sent: ({ input }) => JSON.stringify(JSON.parse(input)),
});
