import type { Decision } from "./client.ts";
import { BOUNDARY, ConsumedError, DigestError, InvalidError, NotAnsweredError } from "./errors.ts";
import type { Input } from "./wire.ts";

/** A decision as frameworks need it: every outcome except an approval is a denial, with its reason. */
export interface Verdict {
  approved: boolean;
  /** The arguments to run. */
  input: Input;
  edited: boolean;
  /** The text for a model. */
  message: string;
  /** Uses the approval; see Decision. */
  spend(input?: Input): Promise<Verdict>;
}

/**
 * Returns a decision. An ask without an answer, a used approval, other arguments and an invalid
 * request are denials. All other errors are thrown: they are no decision.
 */
export async function verdict(decided: Promise<Decision>): Promise<Verdict> {
  try {
    const d = await decided;
    const spend = (input?: Input) => verdict(d.spend(input).then(() => d));
    return { approved: d.approved, input: d.input, edited: d.edited, message: d.message, spend };
  } catch (err) {
    if (!denies(err)) throw err;
    const denied: Verdict = {
      approved: false,
      input: {},
      edited: false,
      message: explain(err),
      spend: async () => denied,
    };
    return denied;
  }
}

function denies(err: unknown): err is Error {
  return [NotAnsweredError, ConsumedError, DigestError, InvalidError].some((type) => err instanceof type);
}

function explain(err: Error): string {
  if (err instanceof ConsumedError)
    return (
      "This approval was used before, so the call may have run already. " +
      "Check that first; then it can be asked again."
    );
  return `Not approved: ${BOUNDARY}. ${err.message}`;
}

/** Returns the name of a call within a run, which makes sure that it is asked once. */
export function callKey(run: string, call: string | undefined): string {
  if (!call) throw new TypeError("the call has no id, so its ask would have no key");
  return `${run}/${call}`;
}
