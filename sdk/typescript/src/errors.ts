import type { Ask, Mistake, Outcome } from "./wire.ts";

/** The base of all errors of this package. None of them is an approval. */
export class AskbackError extends Error {
  override name = "AskbackError";
}

/** The server cannot be reached, or its reply cannot be read. */
export class UnreachableError extends AskbackError {
  override name = "UnreachableError";
}

/** The wait ended before a person answered. The ask stays open: wait again with the same key. */
export class PendingError extends AskbackError {
  override name = "PendingError";
  readonly ask: Ask;

  constructor(ask: Ask) {
    super(`${ask.id} is still open: no person has answered yet (${ask.page_url})`);
    this.ask = ask;
  }
}

/** The ask ended without an answer: it was declined or cancelled, or it expired. */
export class NotAnsweredError extends AskbackError {
  override name = "NotAnsweredError";
  readonly ask: Ask;
  readonly status: string;
  readonly reason: string | null;

  constructor(ask: Ask) {
    super(notAnswered(ask));
    this.ask = ask;
    this.status = ask.status;
    this.reason = ask.outcome?.reason ?? null;
  }
}

/** Forbids an action that has no consent, and other means to the same end. */
export const BOUNDARY =
  "do not do this, and do not reach the same end in another way, such as with another tool or command";

function notAnswered(ask: Ask): string {
  const o = ask.outcome;
  const kind = o?.by?.kind;
  const person = kind === "operator" ? "An operator" : "A person";
  const name = kind === "person" && o?.by?.name ? JSON.stringify(o.by.name) : person;
  const reason = o?.reason && kind !== "timer" ? ` Reason: ${JSON.stringify(o.reason)}.` : "";
  const what: { [status: string]: string } = {
    declined: `${name} declined to answer.`,
    cancelled: `${name} cancelled this request before it was answered.`,
    expired: "There was no answer in time: the deadline passed.",
  };
  if (kind === "agent") what.cancelled = "The agent withdrew this request before it was answered.";
  if (kind === "timer") what.cancelled = "The session of this request failed before it was answered.";
  if (kind === "timer" && o?.reason === "no one could be reached in time")
    what.expired = "No one could be reached: no message about this request was delivered before the deadline.";
  const ended = what[ask.status] ?? `The ask ended with an unknown status, ${JSON.stringify(ask.status)}.`;
  return `${ended}${reason} This is not consent${ask.confirmation ? `: ${BOUNDARY}` : ""}.`;
}

/** The body of a reply with an error: a problem (RFC 9457). */
export interface Problem {
  /** The last word of the type, such as "invalid"; docs/problems.md lists them. */
  type: string;
  status: number;
  detail: string;
  errors: Mistake[];
  outcome: Outcome | null;
  /** Seconds until the same request may succeed, from Retry-After. */
  retryAfter: number | null;
}

/** The server rejected the request. The message is from the server. */
export class ProblemError extends AskbackError {
  override name = "ProblemError";
  readonly type: string;
  readonly status: number;
  /** All mistakes, each with the place in the request. */
  readonly errors: Mistake[];
  readonly outcome: Outcome | null;
  readonly retryAfter: number | null;

  constructor(p: Problem) {
    super(p.detail);
    this.type = p.type;
    this.status = p.status;
    this.errors = p.errors;
    this.outcome = p.outcome;
    this.retryAfter = p.retryAfter;
  }

  /** The place of the first mistake (RFC 6901), or null. */
  get pointer(): string | null {
    return this.errors[0]?.pointer ?? null;
  }
}

/** The request has invalid values, at the places in errors. */
export class InvalidError extends ProblemError {
  override name = "InvalidError";
}

/** The token is unknown, expired or revoked, or must not do this. */
export class AccessError extends ProblemError {
  override name = "AccessError";
}

/** The key was used for another request. */
export class KeyReusedError extends ProblemError {
  override name = "KeyReusedError";
}

/**
 * The approval was used before. The call may have run then: do not run it now. To run it again,
 * ask with another key.
 */
export class ConsumedError extends ProblemError {
  override name = "ConsumedError";
}

/** The arguments differ from the approved arguments: do not run the call. */
export class DigestError extends ProblemError {
  override name = "DigestError";
}

const classes: { [type: string]: typeof ProblemError } = {
  invalid: InvalidError,
  unauthorized: AccessError,
  forbidden: AccessError,
  "key-reused": KeyReusedError,
  consumed: ConsumedError,
  digest: DigestError,
};

/** Returns the error for a reply with the given status and body. */
export function problemError(status: number, body: unknown, retryAfter: string | null): ProblemError {
  const b = (typeof body === "object" && body !== null ? body : {}) as { [key: string]: unknown };
  const type = typeof b.type === "string" ? b.type.replace("urn:askback:problem:", "") : "unknown";
  const seconds = Number(retryAfter ?? NaN);
  return new (classes[type] ?? ProblemError)({
    type,
    status,
    detail: typeof b.detail === "string" ? b.detail : `the server replied with status ${status}`,
    errors: Array.isArray(b.errors) ? (b.errors as Mistake[]) : [],
    outcome: (b.outcome as Outcome | null | undefined) ?? null,
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}
