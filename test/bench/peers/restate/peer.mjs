// Restate: a service asks with an awakeable. The answer is a POST that resolves the awakeable at the server.
// The server runs on its own, with its defaults for durability.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http2";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, listen, post, resumed, serve, waiting } from "../cycle.mjs";

// The SDK needs Promise.withResolvers, which Node.js has from version 22 on.
Promise.withResolvers ??= () => {
  const all = {};
  all.promise = new Promise((fulfil, reject) => { Object.assign(all, { resolve: fulfil, reject }); });
  return all;
};
process.env.RESTATE_LOGGING ??= "ERROR";
const restate = await import("@restatedev/restate-sdk");

const folder = (name) => fileURLToPath(new URL(`node_modules/@restatedev/${name}`, import.meta.url));
const version = (name) => JSON.parse(readFileSync(join(folder(name), "package.json"))).version;

const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
const server = spawn(
  join(folder(`restate-server-${process.platform}-${process.arch}`), "bin/restate-server"),
  ["--base-dir", resolve(process.env.PEER_DATA ?? ".", "restate")],
  {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: "true", DO_NOT_TRACK: "1", RESTATE_LOG_FILTER: "error,octocrab=off",
      RESTATE_BIND_IP: "127.0.0.1", RESTATE_ADVERTISED_HOST: "127.0.0.1",
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`, RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`, RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    },
  },
);
server.on("exit", (code, signal) => {
  console.error(`restate-server has ended: ${signal ?? `exit code ${code}`}`);
  process.exit(1);
});

const awakeables = new Map(); // the ids of the awakeables by run
const service = restate.service({
  name: "bench",
  handlers: {
    ask: async (context, { id }) => {
      const awakeable = context.awakeable();
      await context.run("publish", () => { awakeables.set(id, awakeable.id); }); // stores the id of the awakeable
      waiting(id);
      const answer = await awakeable.promise;
      resumed(id);
      return answer;
    },
  },
});
const endpoint = await listen(createServer(restate.createEndpointHandler({ services: [service] })));

// register registers the service. It tries again until the server listens; the benchmark ends a peer that
// does not start.
async function register() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await post(admin, "/deployments", JSON.stringify({ uri: `http://127.0.0.1:${endpoint}` }));
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((later) => { setTimeout(later, 200); });
    }
  }
}
await register();

await serve({
  version: `${version("restate-server")}, SDK ${version("restate-sdk")}`,
  waits: true,
  ask: (id, question) => post(ingress, "/bench/ask/send", JSON.stringify({ id, question: JSON.parse(question) })),
  answer: (id, text) => {
    const awakeable = awakeables.get(id);
    awakeables.delete(id);
    return post(ingress, `/restate/awakeables/${awakeable}/resolve`, text);
  },
  close: async () => {
    server.removeAllListeners("exit");
    const ended = new Promise((then) => { server.on("exit", then); });
    server.kill("SIGKILL"); // its data is not needed any more
    await ended;
  },
});
