// For LangChain (package langchain): interrupts of humanInTheLoopMiddleware.

import type { Askback, WaitOptions } from "./client.ts";
import { NotAnsweredError } from "./errors.ts";
import { callKey, verdict } from "./verdict.ts";
import type { Input } from "./wire.ts";

interface Action {
  name: string;
  args: Input;
  description?: string;
}

interface Interrupt {
  id?: string;
  value?: unknown;
}

type Decision =
  | { type: "approve" }
  | { type: "edit"; editedAction: { name: string; args: Input } }
  | { type: "reject"; message: string }
  | { type: "respond"; message: string };

/**
 * Asks people about the interrupts of a result, uses the approvals, and returns the value for
 * new Command({ resume }). Resume the agent immediately. run is your name for the run, such as the thread_id.
 * An action that allows only the decision "respond" is a question: the answer is the result of the tool.
 */
export async function resume(
  askback: Askback,
  result: object,
  run: string,
  options?: WaitOptions,
): Promise<{ [interrupt: string]: { decisions: Decision[] } }> {
  const { __interrupt__: interrupts = [] } = result as { __interrupt__?: Interrupt[] };
  const answers = await Promise.all(
    interrupts.map(({ id, value }) => decideAll(askback, value, callKey(run, id), options)),
  );
  return Object.fromEntries(
    await Promise.all(
      answers.map(async (all, i) => [interrupts[i]?.id, { decisions: await Promise.all(all.map((use) => use())) }]),
    ),
  );
}

async function decideAll(
  askback: Askback,
  value: unknown,
  key: string,
  options?: WaitOptions,
): Promise<(() => Promise<Decision>)[]> {
  const { actionRequests, reviewConfigs } = value as {
    actionRequests: Action[];
    reviewConfigs: { actionName: string; allowedDecisions: string[] }[];
  };
  return Promise.all(
    actionRequests.map(async ({ name, args, description }, i) => {
      const allowed = reviewConfigs.find((c) => c.actionName === name)?.allowedDecisions ?? [];
      if (allowed.includes("respond") && !allowed.includes("approve") && !allowed.includes("edit")) {
        const action = { name, args, ...(description && { description }) };
        const response = await respond(askback, action, `${key}/${i}`, options);
        const type = response.answered || !allowed.includes("reject") ? "respond" : "reject";
        return async () => ({ type, message: response.text });
      }
      const about = { ...(description && { description }), ...(!allowed.includes("edit") && { no_edit: true }) };
      const decided = await verdict(
        askback.decide({ tool_name: name, input: args, key: `${key}/${i}`, ...about }, options),
      );
      return async () => {
        const v = decided.approved ? await decided.spend() : decided;
        if (!v.approved) return { type: "reject", message: v.message };
        return v.edited ? { type: "edit", editedAction: { name, args: v.input } } : { type: "approve" };
      };
    }),
  );
}

/** Asks the question of an action: what its arguments ask, or else its description with the arguments. */
async function respond(
  askback: Askback,
  action: Action,
  key: string,
  options?: WaitOptions,
): Promise<{ answered: boolean; text: string }> {
  const { question, options: labels } = action.args;
  const asked = typeof question === "string" && question.trim() !== "";
  const listed = Array.isArray(labels) && labels.length > 1 && labels.every((l) => typeof l === "string");
  const request = asked
    ? { question, ...(listed && { options: labels }), key }
    : { question: action.description ?? action.name, context: action.args, key };
  try {
    const answered = await askback.ask(request, options);
    const notes = answered.outcome.answers[0]?.notes;
    const late = answered.defaultApplied ? " [no person answered in time; this is the default]" : "";
    return { answered: true, text: answered.text + (notes ? ` [notes: ${JSON.stringify(notes)}]` : "") + late };
  } catch (err) {
    if (!(err instanceof NotAnsweredError)) throw err;
    return { answered: false, text: `Not answered. ${err.message} This is not consent.` };
  }
}
