export * from "./client.ts";
export * from "./errors.ts";
export type * from "./wire.ts";
export { callKey, verdict, type Verdict } from "./verdict.ts";
export { canonical, digest } from "./digest.ts";
