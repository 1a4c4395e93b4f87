// For the AI SDK (package ai): tools with toolApproval: "user-approval".

import type { Askback, WaitOptions } from "./client.ts";
import { callKey, verdict } from "./verdict.ts";
import type { ConfirmRequest, Input } from "./wire.ts";

type Part = {
  type: string;
  approvalId?: string;
  isAutomatic?: boolean;
  toolCall?: { toolCallId: string; toolName: string; input: unknown };
};

interface Response {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason: string;
}

function request(tool_name: string, input: unknown, call: string, run: string): ConfirmRequest {
  return { tool_name, input: input as Input, key: callKey(run, call), no_edit: true };
}

/**
 * Asks people about the approval requests in the content of a result, and returns the content of the next message,
 * of role tool.
 */
export async function approvals(
  askback: Askback,
  content: readonly Part[],
  run: string,
  options?: WaitOptions,
): Promise<Response[]> {
  return Promise.all(
    content.flatMap(({ type, approvalId, isAutomatic, toolCall: call }) =>
      type !== "tool-approval-request" || isAutomatic || !call || !approvalId
        ? []
        : verdict(askback.decide(request(call.toolName, call.input, call.toolCallId, run), options)).then(
            ({ approved, message }) => ({
              type: "tool-approval-response" as const,
              approvalId,
              approved,
              reason: message,
            }),
          ),
    ),
  );
}

/** Returns a tool that uses the approval of its call right before it runs, and does not run without one. */
export function gated<T extends object>(askback: Askback, tool_name: string, tool: T, run: string): T {
  const { execute } = tool as { execute(input: unknown, options: { toolCallId: string }): unknown };
  return {
    ...tool,
    async execute(input: unknown, options: { toolCallId: string }) {
      const v = await verdict(askback.confirm(request(tool_name, input, options.toolCallId, run)));
      if (!v.approved) throw new Error(v.message);
      return execute(input, options);
    },
  };
}
