import { AskbackError } from "./errors.ts";

/**
 * Returns the canonical JSON of a value (RFC 8785). A value that JSON cannot hold is an error,
 * except for properties that are undefined, which JSON leaves out.
 */
export function canonical(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return text(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== "object") throw new AskbackError(`${String(value)} cannot be sent as JSON`);
  if ("toJSON" in value && typeof value.toJSON === "function") return canonical(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((v) => canonical(v ?? null)).join(",")}]`;
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1)); // by UTF-16 code units
  return `{${members.map(([k, v]) => `${text(k)}:${canonical(v)}`).join(",")}}`;
}

function text(value: null | boolean | string): string {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new AskbackError("a text with half of a surrogate pair cannot be sent as JSON");
  }
  return JSON.stringify(value);
}

/** Returns the digest of a call. An approval of exactly this call has the same digest. */
export async function digest(agent: string, server: string | null, tool_name: string, input: unknown): Promise<string> {
  const raw = new TextEncoder().encode(canonical({ agent, server: server ?? "", tool_name, input }));
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", raw));
  return "sha256:" + Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("");
}
