// For @anthropic-ai/claude-agent-sdk: a callback for the option canUseTool.

import type { Answered, Askback } from "./client.ts";
import { NotAnsweredError } from "./errors.ts";
import { callKey, verdict } from "./verdict.ts";
import type { Input, Question } from "./wire.ts";

type Result = { behavior: "allow"; updatedInput: Record<string, unknown> } | { behavior: "deny"; message: string };

/** Returns a callback that asks people for approvals, and asks them the questions of AskUserQuestion. run is your name for the run. */
export function canUseTool(askback: Askback, run: string) {
  return async (tool_name: string, input: Input, options: { signal: AbortSignal; toolUseID: string; title?: string }): Promise<Result> => {
    const key = callKey(run, options.toolUseID);
    if (tool_name === "AskUserQuestion") return questions(askback, input, key, options.signal);
    const description = options.title === undefined ? {} : { description: options.title };
    const v = await verdict(askback.confirm({ tool_name, input, key, ...description }, { signal: options.signal }));
    return v.approved ? { behavior: "allow", updatedInput: v.input } : { behavior: "deny", message: v.message };
  };
}

async function questions(askback: Askback, input: Input, key: string, signal: AbortSignal): Promise<Result> {
  const questions = (input.questions as Question[]).map(({ question, header, options, multiSelect }) => ({
    question, options: options ?? [], ...(header && { header }), ...(multiSelect && { multiSelect }),
  }));
  try {
    const answered = await askback.ask({ questions, key }, { signal });
    return { behavior: "allow", updatedInput: { ...input, answers: texts(answered) } };
  } catch (err) {
    if (err instanceof NotAnsweredError) return { behavior: "deny", message: err.message };
    throw err;
  }
}

function texts(answered: Answered): { [question: string]: string } {
  return Object.fromEntries(Object.entries(answered.answers).map(([q, a]) => [q, Array.isArray(a) ? a.join(", ") : (a ?? "")]));
}
