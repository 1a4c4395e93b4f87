// A client of the TypeScript SDK 1.x with its OAuth.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { drive, server } from "./drive.mjs";
import { commands, Memory } from "./provider.mjs";

const memory = new Memory(server);

drive(
  commands({
    memory,
    unauthorized: UnauthorizedError,
    clientOf: () => new Client({ name: "tester", version: "1" }),
    transportOf: () => new StreamableHTTPClientTransport(new URL(server.url), { authProvider: memory }),
    call: (client, params, options) => client.callTool(params, undefined, options),
  }),
);
