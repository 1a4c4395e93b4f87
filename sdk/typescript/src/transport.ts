import { canonical } from "./digest.ts";
import { AskbackError, problemError, ProblemError, UnreachableError } from "./errors.ts";

/** How long a reply may take in addition to the time that the server was asked to wait, in milliseconds. */
const replyTime = 30_000;

/** Statuses after which the same request may succeed. */
const transient = new Set([408, 429, 502, 503, 504]);

/** One request to the server. */
export interface Call {
  method: "GET" | "POST";
  path: string;
  body?: { [key: string]: unknown };
  /** The idempotency key, if the body has none. */
  key?: string;
  /** How long the server may wait, in seconds. */
  wait?: number;
  /** How long the reply may take in addition, in milliseconds, if not replyTime. */
  limit?: number;
}

/** Sends requests, and repeats failed requests for a while. */
export class Transport {
  readonly #base: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;

  constructor(url: string, token: string, send: typeof fetch) {
    this.#base = url.replace(/\/+$/, "") + "/api/v1";
    this.#token = token;
    this.#fetch = send;
  }

  /**
   * Sends a request until it gets a reply, for at most patience milliseconds. The request must be
   * safe to repeat. It throws the reason of signal when signal is aborted.
   */
  async repeat(call: Call, patience: number, signal?: AbortSignal): Promise<unknown> {
    const end = Date.now() + patience;
    for (let failures = 0; ; failures++) {
      try {
        return await this.send(call, signal);
      } catch (err) {
        const pause = pauseAfter(err, failures);
        if (pause === null || Date.now() + pause > end) throw err;
        await sleep(pause, signal);
      }
    }
  }

  /** Sends a request once, and returns the JSON of the reply. */
  async send({ method, path, body, key, wait, limit: more = replyTime }: Call, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(more + (wait ?? 0) * 1000);
    const request: RequestInit = {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        ...(body && { "Content-Type": "application/json" }),
        ...(key && { "Idempotency-Key": key }),
      },
      redirect: "manual", // another address must not get the token
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    };
    if (body) request.body = canonical(body);
    const query = wait === undefined ? "" : `?wait=${Math.ceil(wait)}`;
    let reply: Response, text: string;
    try {
      reply = await this.#fetch.call(undefined, this.#base + path + query, request);
      text = await reply.text();
    } catch (err) {
      signal?.throwIfAborted();
      throw new UnreachableError(`the server cannot be reached: ${describe(err)}`, { cause: err });
    }
    return parse(reply, text);
  }
}

function parse(reply: Response, text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy replied, or the reply was cut off.
  }
  if (!reply.ok) throw problemError(reply.status, body, reply.headers.get("Retry-After"));
  if (body === undefined) throw new UnreachableError(`the reply with status ${reply.status} is not JSON`);
  return body;
}

/** Returns the pause in milliseconds before a request is repeated, or null if it must not be repeated. */
function pauseAfter(err: unknown, failures: number): number | null {
  const backoff = Math.min(2000, 100 * 2 ** failures) * (0.75 + Math.random() / 2);
  if (err instanceof ProblemError)
    return transient.has(err.status) ? Math.max(backoff, (err.retryAfter ?? 0) * 1000) : null;
  return err instanceof UnreachableError ? backoff : null;
}

function describe(err: unknown): string {
  const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

/** Waits some milliseconds. It throws the reason of signal when signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Returns a variable of the environment, if there is one. */
export function variable(name: string): string {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return process?.env?.[name] ?? "";
}

/** Returns the value of a variable, or throws an error that names the variable to set. */
export function needed(value: string, name: "ASKBACK_URL" | "ASKBACK_TOKEN"): string {
  const source = {
    ASKBACK_URL: "the address of a server on this machine is http://127.0.0.1:7575",
    ASKBACK_TOKEN: '"askback token add --kind agent --name NAME" makes a token',
  };
  if (!value) throw new AskbackError(`set ${name}, or pass it to new Askback(…); ${source[name]}`);
  return value;
}
