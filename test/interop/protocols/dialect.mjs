// What the scripts of this folder have in common: modules of the packages, and the call of
// Askback that a program makes until there is an answer.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// config is the folder of the packages, the address and the token of Askback, and a key.
export const config = JSON.parse(process.argv[2]);

const require = createRequire(join(config.modules, "index.js"));
export const load = (name) => import(pathToFileURL(require.resolve(name)));

export async function ask(dialect, body) {
  for (;;) {
    try {
      const res = await fetch(`${config.url}/api/v1/dialects/${dialect}/ask?wait=2s`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${config.token}`,
          "content-type": "application/json",
          "idempotency-key": config.key,
        },
        body: JSON.stringify(body),
      });
      const reply = await res.json();
      if (res.status !== 202) return { status: res.status, reply };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the server is away
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}

export const print = (result) => process.stdout.write(JSON.stringify(result) + "\n");
