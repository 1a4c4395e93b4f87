// For the OpenAI Agents SDK (package @openai/agents): tools with needsApproval.

import type { Askback, WaitOptions } from "./client.ts";
import { callKey, verdict } from "./verdict.ts";
import type { ConfirmRequest, Input } from "./wire.ts";

interface Item {
  name?: string | undefined;
  arguments?: string | undefined;
  rawItem: object;
}

interface Paused<I> {
  interruptions: I[];
  state: { approve(item: I): void; reject(item: I, options?: { message?: string }): void };
}

type Details = { toolCall?: { callId: string; name: string; arguments: string } };

function request(name: string, args: string, call: string | undefined, run: string): ConfirmRequest {
  return { tool_name: name, input: JSON.parse(args || "{}") as Input, key: callKey(run, call), no_edit: true };
}

/**
 * Asks people about the interruptions of a result, and settles them in its state, with which the agent can then be run.
 */
export async function settle<I extends Item>(
  askback: Askback,
  result: Paused<I>,
  run: string,
  options?: WaitOptions,
): Promise<void> {
  const decided = result.interruptions.map(async (item) => {
    const { callId } = item.rawItem as { callId?: string };
    return {
      item,
      v: await verdict(askback.decide(request(item.name ?? "", item.arguments ?? "", callId, run), options)),
    };
  });
  for (const { item, v } of await Promise.all(decided)) {
    if (v.approved) result.state.approve(item);
    else result.state.reject(item, { message: v.message });
  }
}

/**
 * Returns an execute function that uses the approval of its call right before it runs. Without one it returns the
 * reason.
 */
export function gated<A, C, R>(askback: Askback, execute: (input: A, context?: C) => R | Promise<R>, run: string) {
  return async (input: A, context?: C, details?: Details): Promise<R | string> => {
    const call = details?.toolCall;
    const v = await verdict(askback.confirm(request(call?.name ?? "", call?.arguments ?? "", call?.callId, run)));
    if (!v.approved) return v.message;
    return execute(input, context);
  };
}
