// LangGraph: the node of a graph interrupts, and its checkpoint is stored in SQLite. An answer is a
// POST that resumes the graph with a command.
// SQLite syncs each commit (synchronous=FULL), as Askback does; the default of the checkpointer does not.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Annotation, Command, END, START, StateGraph, interrupt } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { resumed, serve } from "../cycle.mjs";

const { version } = JSON.parse(
  readFileSync(new URL("node_modules/@langchain/langgraph/package.json", import.meta.url)),
);

const checkpointer = SqliteSaver.fromConnString(join(process.env.PEER_DATA ?? ".", "langgraph.db"));
const state = Annotation.Root({ id: Annotation(), question: Annotation(), answer: Annotation() });
const graph = new StateGraph(state)
  .addNode("ask", ({ id, question }) => {
    const answer = interrupt({ id, question });
    resumed(id);
    return { answer };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile({ checkpointer });

// options selects the thread of a run. With durability "sync" a checkpoint is stored before the next step.
const options = (id) => ({ configurable: { thread_id: id }, durability: "sync" });

await graph.invoke({ id: "setup", question: "" }, options("setup")); // creates the tables
checkpointer.db.pragma("synchronous = FULL");
if (checkpointer.db.pragma("journal_mode", { simple: true }) !== "wal")
  throw new Error("the database does not use WAL");

await serve({
  version,
  waits: false,
  ask: (id, question) => graph.invoke({ id, question }, options(id)),
  answer: (id, text) => graph.invoke(new Command({ resume: JSON.parse(text) }), options(id)),
});
