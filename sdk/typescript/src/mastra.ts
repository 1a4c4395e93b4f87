// For Mastra (package @mastra/core): tools with requireApproval.

import type { Askback, WaitOptions } from "./client.ts";
import { AskbackError } from "./errors.ts";
import { callKey, verdict } from "./verdict.ts";
import type { Input } from "./wire.ts";

interface Suspended {
  finishReason?: string | undefined;
  runId?: string | undefined;
  suspendPayload?: { toolCallId: string; toolName: string; args: Input };
}

interface Agent<O> {
  getMastraInstance?(): { getStorage(): unknown } | undefined;
  approveToolCallGenerate(options: { runId: string; toolCallId: string }): Promise<O>;
  declineToolCallGenerate(options: { runId: string; toolCallId: string; reason: string }): Promise<O>;
}

/**
 * Asks people about the calls for which an agent is suspended, uses the approvals, and continues until the agent ends.
 * Without a storage, Mastra cannot continue an agent. Then settle throws before it asks, and uses no approval.
 */
export async function settle<O extends Suspended>(
  askback: Askback,
  agent: Agent<O>,
  output: O,
  options?: WaitOptions,
): Promise<O> {
  let last = output;
  while (last.finishReason === "suspended" && last.suspendPayload) {
    if (agent.getMastraInstance && !agent.getMastraInstance()?.getStorage())
      throw new AskbackError("the agent has no storage to continue from: new Mastra({ agents: { agent }, storage })");
    const { toolCallId, toolName: tool_name, args } = last.suspendPayload;
    const runId = last.runId ?? "";
    const v = await verdict(
      askback.confirm({ tool_name, input: args, key: callKey(runId, toolCallId), no_edit: true }, options),
    );
    last = v.approved
      ? await agent.approveToolCallGenerate({ runId, toolCallId })
      : await agent.declineToolCallGenerate({ runId, toolCallId, reason: v.message });
  }
  return last;
}
