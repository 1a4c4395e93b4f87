// DBOS Transact: a workflow waits for a message. The answer is a POST that sends the message. Everything is
// stored in PostgreSQL.
import { readFileSync } from "node:fs";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { resumed, serve, waiting } from "../cycle.mjs";
import { startPostgres } from "./postgres.mjs";

const { version } = JSON.parse(readFileSync(new URL("node_modules/@dbos-inc/dbos-sdk/package.json", import.meta.url)));

const patience = 3600; // seconds that a workflow waits for its message
const workflow = DBOS.registerWorkflow(async (id) => {
  waiting(id);
  const answer = await DBOS.recv("answer", patience);
  resumed(id);
  return answer;
}, { name: "ask" });

const postgres = await startPostgres();
DBOS.setConfig({
  name: "bench", systemDatabaseUrl: `${postgres.url}/dbos`, systemDatabasePoolSize: 20,
  runAdminServer: false, logLevel: "error", enableOTLP: false,
});
await DBOS.launch();

await serve({
  version: `${version}, PostgreSQL ${postgres.version}`,
  waits: true,
  ask: (id, question) => DBOS.startWorkflow(workflow, { workflowID: id })(id, question),
  answer: (id, text) => DBOS.send(id, text, "answer"),
  close: () => postgres.stop(),
});
