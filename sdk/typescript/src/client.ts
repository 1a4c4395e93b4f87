import { canonical, digest } from "./digest.ts";
import { AskbackError, BOUNDARY, NotAnsweredError, PendingError, UnreachableError } from "./errors.ts";
import { type Call, needed, sleep, Transport, variable } from "./transport.ts";
import type { Ask, AskRequest, ConfirmRequest, Input, Outcome, QuestionAnswer } from "./wire.ts";

export interface AskbackOptions {
  /** The address of the server. The default is ASKBACK_URL. */
  url?: string;
  /** The token of an agent. The default is ASKBACK_TOKEN. */
  token?: string;
  /** Sends requests instead of the global fetch. */
  fetch?: typeof fetch;
  /**
   * How long a request is repeated while the server cannot be reached, in milliseconds: 30 000 if not given. A wait for
   * a person has no such limit.
   */
  patienceMs?: number;
  /** Default values for the fields of each request. */
  defaults?: { session_key?: string; agent?: string; to?: readonly string[]; tags?: readonly string[] };
}

export interface WaitOptions {
  /**
   * How long to wait for a person, in milliseconds. Then the call throws a PendingError, and the ask stays open.
   * Without it, as long as it takes.
   */
  waitMs?: number;
  /** Ends the wait. The ask stays open. */
  signal?: AbortSignal;
}

/** How long one poll waits, in seconds: shorter than the usual time-outs of proxies. */
const pollTime = 50;

/** The answer of a person to the questions of an ask. */
export class Answered {
  readonly ask: Ask;
  readonly outcome: Outcome;

  constructor(ask: Ask, outcome: Outcome) {
    this.ask = ask;
    this.outcome = outcome;
  }

  /** The answers by the texts of the questions: labels or texts, a list for a multi-select, null without an answer. */
  get answers(): { [question: string]: string | string[] | null } {
    const multi = new Map(this.ask.questions.map((q) => [q.id, q.multiSelect]));
    return Object.fromEntries(
      this.outcome.answers.map((a) => [a.question, multi.get(a.id) ? values(a) : (values(a)[0] ?? null)]),
    );
  }

  /** The answer to the first question as a text, or "" without an answer. */
  get text(): string {
    return this.outcome.answers[0] ? values(this.outcome.answers[0]).join(", ") : "";
  }

  /** Reports whether a timer applied the defaults, so that no person answered. */
  get defaultApplied(): boolean {
    return this.outcome.default_applied;
  }
}

function values(a: QuestionAnswer): string[] {
  return a.other === null ? [...a.selected] : [...a.selected, a.other];
}

/** The decision of a person about a call. */
export class Decision {
  readonly ask: Ask;
  readonly outcome: Outcome;
  readonly #spend: (input: Input) => Promise<void>;

  constructor(ask: Ask, outcome: Outcome, spend: (input: Input) => Promise<void>) {
    this.ask = ask;
    this.outcome = outcome;
    this.#spend = spend;
  }

  /** Reports whether the call was approved. The approval is used by spend. */
  get approved(): boolean {
    const { status, decision, digest } = this.outcome;
    return status === "answered" && (decision === "approved" || decision === "approve_all") && !!digest;
  }

  /** The arguments to run: the arguments of the request, or the changed arguments of a person. */
  get input(): Input {
    return this.outcome.input ?? this.ask.confirmation?.input ?? {};
  }

  /** Reports whether a person changed the arguments. */
  get edited(): boolean {
    return this.outcome.input !== null;
  }

  get reason(): string | null {
    return this.outcome.reason;
  }

  /** The decision in words for a model. */
  get message(): string {
    const name = JSON.stringify(this.outcome.by.name);
    const reason = this.reason ? ` Reason: ${JSON.stringify(this.reason)}.` : "";
    return this.approved ? `Approved by ${name}.${reason}` : `Denied by ${name}: ${BOUNDARY}.${reason}`;
  }

  /**
   * Uses the approval for a call with the given arguments. Run the call right after it, and only
   * if it does not throw: it throws a DigestError if a person approved other arguments, and a
   * ConsumedError if the approval was used before.
   */
  async spend(input: Input = this.input): Promise<void> {
    if (!this.approved) throw new AskbackError(this.message);
    await this.#spend(input);
  }
}

/** Asks people through an Askback server, with the token of an agent. */
export class Askback {
  readonly #transport: Transport;
  readonly #patience: number;
  readonly #defaults: { [key: string]: unknown };

  constructor(options: AskbackOptions = {}) {
    const url = needed(options.url ?? variable("ASKBACK_URL"), "ASKBACK_URL");
    const token = needed(options.token ?? variable("ASKBACK_TOKEN"), "ASKBACK_TOKEN");
    this.#transport = new Transport(url, token, options.fetch ?? fetch);
    this.#patience = options.patienceMs ?? 30_000;
    this.#defaults = { ...options.defaults };
  }

  /**
   * Asks a question, or up to four, and waits for the answer of a person. With a key, the same call
   * continues to wait for the same ask, also in another process. Without an answer it throws a NotAnsweredError.
   */
  async ask(request: AskRequest, options: WaitOptions = {}): Promise<Answered> {
    if ("confirmation" in request) throw new AskbackError("use confirm for a confirmation");
    const ask = await this.wait(await this.open(request, options.signal), options);
    const o = ask.outcome;
    if (!o || (o.status !== "answered" && !(o.status === "expired" && o.default_applied)))
      throw new NotAnsweredError(ask);
    await this.#ack(ask, options.signal);
    return new Answered(ask, o);
  }

  /**
   * Asks for the approval of a call, waits for the decision, and uses the approval. If the decision
   * is approved, run the call immediately, with the input of the decision. A denial is a decision.
   * Without a decision it throws a NotAnsweredError.
   */
  async confirm(request: ConfirmRequest, options: WaitOptions = {}): Promise<Decision> {
    const decision = await this.decide(request, options);
    if (decision.approved) await decision.spend();
    return decision;
  }

  /** Asks for the approval of a call as confirm does, but leaves its use to spend, or to confirm with the same key. */
  async decide(request: ConfirmRequest, options: WaitOptions = {}): Promise<Decision> {
    const ask = await this.wait(await this.openConfirmation(request, options.signal), options);
    const o = ask.outcome;
    if (!o || o.status !== "answered" || ask.kind !== "confirmation") throw new NotAnsweredError(ask);
    const decision = new Decision(ask, o, (input) => this.#consume(ask, input, options.signal));
    if (!decision.approved) await this.#ack(ask, options.signal);
    return decision;
  }

  /** Opens an ask without waiting. */
  async open(request: AskRequest, signal?: AbortSignal): Promise<Ask> {
    return this.#create({ ...request }, signal);
  }

  /** Opens a confirmation without waiting. */
  async openConfirmation(request: ConfirmRequest, signal?: AbortSignal): Promise<Ask> {
    const { tool_name, input, server, description, input_preview, dangerous, no_edit, context, ...common } = request;
    const confirmation = {
      tool_name,
      input: input ?? {},
      server,
      description,
      input_preview,
      dangerous,
      no_edit,
      context,
    };
    return this.#create({ ...common, confirmation }, signal);
  }

  /** Waits until an ask is settled, also through restarts of the server, and returns it. */
  async wait(ask: Ask | string, options: WaitOptions = {}): Promise<Ask> {
    const end = Date.now() + (options.waitMs ?? Infinity);
    let last = typeof ask === "string" ? await this.get(ask, options.signal) : ask;
    for (let early = 0; last.status === "pending"; ) {
      const left = end - Date.now();
      if (left <= 0) throw new PendingError(last);
      const begun = Date.now();
      const wait = Math.max(1, Math.ceil(Math.min(pollTime, left / 1000)));
      last = await this.#poll(last, wait, left, options.signal);
      early = Date.now() - begun < 1000 ? early + 1 : 0;
      if (early && last.status === "pending")
        await sleep(Math.min(2000, 50 * 2 ** early, Math.max(0, end - Date.now())), options.signal);
    }
    return last;
  }

  /** Returns an ask. */
  async get(id: string, signal?: AbortSignal): Promise<Ask> {
    return asAsk(await this.#transport.repeat({ method: "GET", path: askPath(id) }, this.#patience, signal), id);
  }

  /** Withdraws an ask that is no longer needed. A settled ask is a ProblemError of type "settled". */
  async cancel(ask: Ask | string, reason?: string): Promise<Ask> {
    const id = typeof ask === "string" ? ask : ask.id;
    const body = reason === undefined ? {} : { reason };
    return asAsk(
      await this.#transport.repeat({ method: "POST", path: askPath(id, "/cancel"), body }, this.#patience),
      id,
    );
  }

  async #create(body: { [key: string]: unknown }, signal?: AbortSignal): Promise<Ask> {
    const call: Call = { method: "POST", path: "/asks", body: { ...this.#defaults, ...body } };
    if (body.key === undefined) call.key = crypto.randomUUID(); // so that the request can be repeated
    return asAsk(await this.#transport.repeat(call, this.#patience, signal));
  }

  /**
   * Polls once. While the server is away it repeats the poll, and at the end of the wait it returns the ask of the last
   * poll.
   */
  async #poll(last: Ask, wait: number, left: number, signal?: AbortSignal): Promise<Ask> {
    try {
      const limit = Math.min(30_000, left + 2000);
      return asAsk(
        await this.#transport.repeat({ method: "GET", path: askPath(last.id), wait, limit }, left, signal),
        last.id,
      );
    } catch (err) {
      if (left !== Infinity && err instanceof UnreachableError) throw new PendingError(last);
      throw err;
    }
  }

  async #consume(ask: Ask, input: Input, signal?: AbortSignal): Promise<void> {
    const { server, tool_name } = ask.confirmation ?? { server: null, tool_name: "" };
    const body = { digest: await digest(ask.agent, server, tool_name, input) };
    asAsk(
      await this.#transport.repeat({ method: "POST", path: askPath(ask.id, "/consume"), body }, this.#patience, signal),
      ask.id,
    );
  }

  /** Records that the agent has the outcome. It is shown to people, and nothing depends on it. */
  async #ack(ask: Ask, signal?: AbortSignal): Promise<void> {
    if (ask.acked_at) return;
    try {
      await this.#transport.send({ method: "POST", path: askPath(ask.id, "/ack"), body: {} }, signal);
    } catch (err) {
      if (!(err instanceof AskbackError)) throw err;
    }
  }
}

function askPath(id: string, resource = ""): string {
  return `/asks/${encodeURIComponent(id)}${resource}`;
}

/** Returns a reply as an ask. A reply that is not an ask, or is another ask, is an error. */
function asAsk(reply: unknown, id?: string): Ask {
  const ask = (typeof reply === "object" && reply !== null ? reply : {}) as Partial<Ask>;
  if (typeof ask.id !== "string" || typeof ask.status !== "string" || (id !== undefined && ask.id !== id)) {
    throw new UnreachableError(
      `the reply is not the ask${id ? " " + id : ""}: ${canonical(reply ?? null).slice(0, 200)}`,
    );
  }
  return ask as Ask;
}
