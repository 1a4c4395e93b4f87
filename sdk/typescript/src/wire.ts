// The JSON of the HTTP API, as far as an agent needs it. Fields have the names of docs/api.md.
// Later servers may send more fields.

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The arguments of a tool. */
export type Input = { [key: string]: unknown };

export interface Option {
  label: string;
  description?: string;
  preview?: string;
}

/** One question of a form. Options: 2 to 50, or none for free text. */
export interface Question {
  question: string;
  header?: string;
  options?: readonly (string | Option)[];
  multiSelect?: boolean;
  allow_custom?: boolean;
  required?: boolean;
  default?: string | number | readonly (string | number)[];
  format?: string;
}

/** The common fields of questions and confirmations. */
export interface Common {
  /**
   * The name of this ask. The same key with the same content is the same ask, also after a
   * restart of the caller. Without a key, each call is another ask.
   */
  key?: string;
  /** The caller's own name for its run. */
  session_key?: string;
  session_id?: string;
  /** A label for people. */
  agent?: string;
  title?: string;
  /** People, and groups of them after "@". */
  to?: readonly string[];
  tags?: readonly string[];
  started_by?: string;
  /** How long the ask stays open, as "2h" or a number of seconds. Without it, there is no limit. */
  timeout?: string | number;
  /** The end of that time, in RFC 3339 format. */
  deadline?: string;
  /** The effect of its end. A timer never approves a confirmation. */
  on_timeout?: "fail" | "decline" | "default" | "wait";
  callback_url?: string;
}

/** One question in the flat form, or one to four questions. */
export type AskRequest = Common & { context?: string | { [key: string]: unknown } } & (
    Question | { questions: readonly Question[] }
  );

/** A call that needs an approval. */
export interface ConfirmRequest extends Common {
  tool_name: string;
  input?: Input;
  /** The MCP server of the tool. */
  server?: string;
  /** The effect of the call, in the agent's own words. */
  description?: string;
  input_preview?: string;
  dangerous?: boolean;
  /** True if edited arguments cannot be run. */
  no_edit?: boolean;
  context?: string;
  /** How many people must approve. */
  quorum?: number;
}

export interface QuestionAnswer {
  id: string;
  question: string;
  selected: string[];
  other: string | null;
  notes: string | null;
}

export interface Actor {
  kind: "person" | "timer" | "policy" | "agent" | (string & {});
  name: string;
}

export interface Outcome {
  status: Exclude<Status, "pending">;
  answers: QuestionAnswer[];
  comment: string | null;
  decision: "approved" | "denied" | "approve_all" | null;
  input: Input | null;
  digest: string | null;
  grant_id: string | null;
  reason: string | null;
  by: Actor;
  via: string | null;
  at: string;
  default_applied: boolean;
}

export type Status = "pending" | "answered" | "declined" | "cancelled" | "expired";

/** An ask. The server may send further fields. */
export interface Ask {
  id: string;
  session_id: string;
  agent: string;
  kind: "questions" | "confirmation";
  questions: { id: string; question: string; multiSelect: boolean }[];
  confirmation: { tool_name: string; server: string | null; input: Input; digest: string } | null;
  status: Status;
  created_at: string;
  deadline: string | null;
  /** The page on which people answer. */
  page_url: string;
  warnings: { pointer: string; detail: string; fix: string | null }[];
  outcome: Outcome | null;
  acked_at: string | null;
  consumed_at: string | null;
}

/** A mistake in a request: its place, the problem, and the fix. */
export interface Mistake {
  pointer: string;
  detail: string;
  fix?: string | null;
}
