// A test controls a client with commands on stdin and replies on stdout, one
// per line. Commands run concurrently.
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

// server is the location of the server: an address and a token, or a program to
// start.
export const server = JSON.parse(process.argv[2]);

// headers are the headers that a user configures in an MCP client.
export const headers = { Authorization: `Bearer ${server.token}` };

// elicited counts the requests to show a page, and replies that the person
// agreed.
export const elicited = [];
export const elicit = async (request) => {
  elicited.push(request.params);
  return { action: server.looks ?? "accept" };
};
