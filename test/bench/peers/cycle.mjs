// cycle.mjs runs the cycles of a peer that is written in JavaScript: ask, wait and answer. README.md describes
// the lines that it reads and writes.
import { createServer, request, Agent } from "node:http";
import { createInterface } from "node:readline";

export const question = JSON.stringify({
  question: "Deploy build 4711 to production?",
  run: "0123456789abcdef",
  options: ["yes", "no", "later"],
  context: "x".repeat(160),
});
export const answer = JSON.stringify({ answer: "yes", by: "ann@example.com", note: "checked the dashboards" });

// The functions to call when a run begins to wait, and when it has its answer, by the id of the run.
const onWaiting = new Map();
const onResumed = new Map();

function take(calls, id, ...args) {
  const call = calls.get(id);
  calls.delete(id);
  call?.(...args);
}

// waiting and resumed are called by the code of a run: before it waits, and when it has its answer.
export const waiting = (id) => take(onWaiting, id);
export const resumed = (id) => take(onResumed, id, performance.now());

// Idle connections are closed after two seconds: between measurements the server may close them, too.
const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: 2000 });

// post sends a JSON body to a path on loopback. It returns the body of the reply, or throws if the status is not 2xx.
export function post(port, path, body) {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method: "POST", path, headers }, (reply) => {
      let text = "";
      reply.on("data", (part) => { text += part; });
      reply.on("end", () => {
        if (reply.statusCode < 300) resolve(text);
        else reject(new Error(`POST ${path}: ${reply.statusCode} ${text}`));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

// freePort returns a loopback port that was free a moment ago.
export async function freePort() {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

// listen starts a server on a free loopback port and returns the port.
export async function listen(server) {
  await new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return server.address().port;
}

// serveAnswers starts the server to which answers are posted.
function serveAnswers(peer) {
  return listen(createServer((sent, reply) => {
    let body = "";
    sent.on("data", (part) => { body += part; });
    sent.on("end", async () => {
      try {
        await peer.answer(new URL(sent.url, "http://localhost").searchParams.get("id"), body);
        reply.end('{"ok":true}');
      } catch (error) {
        reply.statusCode = 500;
        reply.end(String(error));
      }
    });
  }));
}

const print = (value) => console.log(JSON.stringify(value));

// serve runs cycles of a peer until stdin ends. A peer has these fields:
//   version        its version, or the versions of its parts
//   ask(id, text)  returns when the question is durable
//   answer(id, text)  returns when the answer is durable
//   waits          whether the run calls waiting; else it waits when ask returns
//   close()        ends its servers; optional
export async function serve(peer) {
  const port = await serveAnswers(peer);
  const started = Date.now().toString(36);
  let last = 0;

  // cycle runs one cycle. It returns the milliseconds from sending the answer until the run has it.
  async function cycle() {
    const id = `${started}-${last += 1}`;
    const waits = peer.waits ? new Promise((resolve) => { onWaiting.set(id, resolve); }) : undefined;
    await peer.ask(id, question);
    await waits;
    const has = new Promise((resolve) => { onResumed.set(id, resolve); });
    const sent = performance.now();
    const [at] = await Promise.all([has, post(port, `/answer?id=${encodeURIComponent(id)}`, answer)]);
    return at - sent;
  }

  // measure runs cycles for some milliseconds, with a number of concurrent runs.
  async function measure({ runs, ms }) {
    const latencies = [];
    const start = performance.now();
    await Promise.all(Array.from({ length: runs }, async () => {
      while (performance.now() < start + ms) latencies.push(await cycle());
    }));
    const seconds = (performance.now() - start) / 1000;
    latencies.sort((a, b) => a - b);
    const percentile = (p) => latencies[Math.max(0, Math.ceil(p * latencies.length) - 1)];
    return { cycles: latencies.length, seconds, p50_ms: percentile(0.5), p99_ms: percentile(0.99) };
  }

  print({ ready: true, version: peer.version });
  try {
    for await (const line of createInterface({ input: process.stdin })) print(await measure(JSON.parse(line)));
  } catch (error) {
    print({ error: String(error?.stack ?? error) });
  }
  await peer.close?.();
  process.exit(0);
}
