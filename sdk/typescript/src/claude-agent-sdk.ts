// For @anthropic-ai/claude-agent-sdk: a callback for the option canUseTool, and the option hooks for runs that end
// while people decide.

import type { Answered, Askback, WaitOptions } from "./client.ts";
import { AskbackError, NotAnsweredError } from "./errors.ts";
import { callKey, verdict } from "./verdict.ts";
import type { Input, Question } from "./wire.ts";

interface Call {
  signal: AbortSignal;
  toolUseID: string;
  title?: string;
}

type Result = { behavior: "allow"; updatedInput: Record<string, unknown> } | { behavior: "deny"; message: string };

/**
 * Returns a callback that asks people for approvals, and asks them the questions of AskUserQuestion. run is your name
 * for the run.
 */
export function canUseTool(askback: Askback, run: string) {
  return (tool_name: string, input: Input, call: Call) => decide(askback, run, tool_name, input, call);
}

/**
 * Returns the option hooks, which asks in the same way about the tools that match (a regular expression, or
 * "*"), also about tools that are allowed otherwise. If there is no answer within waitMs, 10 seconds if not
 * given, the run ends, and its result has deferred_tool_use. Resume the session with the same run and the
 * prompt noMessage to ask for the answer again, also in another process.
 */
export function deferring(
  askback: Askback,
  run: string,
  matcher: string,
  { waitMs = 10_000 }: { waitMs?: number } = {},
) {
  const ask = async (event: object, toolUseID: string | undefined, { signal }: { signal: AbortSignal }) => {
    const { tool_name, tool_input } = event as { tool_name: string; tool_input: Input };
    try {
      const r = await decide(askback, run, tool_name, tool_input, { signal, toolUseID: toolUseID ?? "" }, { waitMs });
      return r.behavior === "allow"
        ? decision("allow", { updatedInput: r.updatedInput })
        : decision("deny", { permissionDecisionReason: r.message });
    } catch (err) {
      if (!(err instanceof AskbackError)) throw err; // onFailure blocks the call
      return decision("defer", { permissionDecisionReason: err.message });
    }
  };
  return { PreToolUse: [{ matcher, hooks: [ask], timeout: waitMs / 1000 + 90, onFailure: "block" as const }] };
}

/** Returns a prompt that has no message and does not end: it resumes a session without a turn of the model. */
export async function* noMessage(): AsyncGenerator<never, void> {
  await new Promise<never>(() => {});
}

function decision(
  permissionDecision: "allow" | "deny" | "defer",
  more: { updatedInput?: Input; permissionDecisionReason?: string },
) {
  return { hookSpecificOutput: { hookEventName: "PreToolUse" as const, permissionDecision, ...more } };
}

async function decide(
  askback: Askback,
  run: string,
  tool_name: string,
  input: Input,
  call: Call,
  options?: WaitOptions,
): Promise<Result> {
  const key = callKey(run, call.toolUseID);
  const waiting = { ...options, signal: call.signal };
  if (tool_name === "AskUserQuestion") return questions(askback, input, key, waiting);
  const description = call.title === undefined ? {} : { description: call.title };
  const v = await verdict(askback.confirm({ tool_name, input, key, ...description }, waiting));
  return v.approved ? { behavior: "allow", updatedInput: v.input } : { behavior: "deny", message: v.message };
}

async function questions(askback: Askback, input: Input, key: string, options: WaitOptions): Promise<Result> {
  const questions = (input.questions as Question[]).map(({ question, header, options, multiSelect }) => ({
    question, options: options ?? [], ...(header && { header }), ...(multiSelect && { multiSelect }),
  }));
  try {
    const answered = await askback.ask({ questions, key }, options);
    return { behavior: "allow", updatedInput: { ...input, answers: texts(answered) } };
  } catch (err) {
    if (err instanceof NotAnsweredError) return { behavior: "deny", message: err.message };
    throw err;
  }
}

function texts(answered: Answered): { [question: string]: string } {
  return Object.fromEntries(
    Object.entries(answered.answers).map(([q, a]) => [q, Array.isArray(a) ? a.join(", ") : (a ?? "")]),
  );
}
