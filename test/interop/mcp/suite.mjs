// Loaded before the conformance suite if Node has no fs.globSync (before 22).
// The suite imports it for a command that is not used here.
import * as fs from "node:fs";
import { register } from "node:module";

const module = (code) => "data:text/javascript," + encodeURIComponent(code);
const more = module('export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;');
if (!fs.globSync) {
  register(module(`export const resolve = (name, context, next) =>
    name === "fs" ? { url: ${JSON.stringify(more)}, shortCircuit: true } : next(name, context);`));
}
