// A test drives a client: one command a line comes in, one reply a line goes out,
// so that the test decides what happens when. Commands run beside each other.
import { createInterface } from "node:readline";

export function drive(commands) {
  const reply = (line) => process.stdout.write(JSON.stringify(line) + "\n");
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const { id, command, with: what } = JSON.parse(line);
    try {
      reply({ id, result: (await commands[command](what ?? {})) ?? null });
    } catch (error) {
      reply({ id, error: { code: String(error.code ?? ""), message: String(error.message ?? error) } });
    }
  });
  lines.on("close", () => process.exit(0));
}

// server says where the server is: an address and a token, or a program to start.
export const server = JSON.parse(process.argv[2]);

// headers are what a user of an MCP client writes into its configuration.
export const headers = { Authorization: `Bearer ${server.token}` };

// elicited counts what the server asked this client to show, and says that the
// person agreed to look.
export const elicited = [];
export const elicit = async (request) => {
  elicited.push(request.params);
  return { action: server.looks ?? "accept" };
};
