// Prints what the language service of GitHub finds in files: validate.mjs MODULES FILE...
// MODULES is the folder node_modules. Each file is named action.yml or is a workflow.
import { createRequire, register } from "node:module";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

register("./json-hook.mjs", import.meta.url);
const [modules, ...files] = process.argv.slice(2);
const { validate } = await import(pathToFileURL(join(modules, "@actions/languageservice/dist/index.js")));
const { TextDocument } = createRequire(join(modules, "index.js"))("vscode-languageserver-textdocument");

for (const [i, file] of files.entries()) {
  const name = basename(file) === "action.yml" ? "action.yml" : `.github/workflows/${basename(file)}`;
  const document = TextDocument.create(`file:///${i}/${name}`, "yaml", 1, readFileSync(file, "utf8"));
  for (const found of await validate(document, {})) {
    console.log(`${basename(file)}:${found.range.start.line + 1}: ${found.message}`);
  }
}
