// A client of the TypeScript SDK 2.x with its OAuth, limited to protocol
// 2026-07-28.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { drive, server } from "./drive.mjs";
import { commands, Memory } from "./provider.mjs";

const memory = new Memory(server);

drive(
  commands({
    memory,
    unauthorized: UnauthorizedError,
    clientOf: () =>
      new Client({ name: "tester", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    transportOf: () => new StreamableHTTPClientTransport(new URL(server.url), { authProvider: memory }),
    call: (client, params, options) => client.callTool(params, options),
  }),
);
