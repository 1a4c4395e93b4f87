// Makes one call of the package, and prints its result as JSON. A test controls it.
import { Askback, canonical } from "@askback/sdk";

const { call, request, input, waitMs, patienceMs } = JSON.parse(process.argv[2]);
const wait = waitMs === undefined ? {} : { waitMs };

async function run() {
  if (call === "canonical") return { canonical: request.map(canonical) };
  const askback = new Askback({ ...(patienceMs !== undefined && { patienceMs }), defaults: { session_key: "run-1" } });
  switch (call) {
    case "ask": {
      const a = await askback.ask(request, wait);
      return { text: a.text, answers: a.answers, defaultApplied: a.defaultApplied };
    }
    case "confirm": {
      const d = await askback.confirm(request, wait);
      return { approved: d.approved, input: d.input, edited: d.edited, reason: d.reason, message: d.message };
    }
    case "spend": {
      const d = await askback.decide(request, wait);
      await d.spend(input);
      return { approved: d.approved, input };
    }
    case "cancel":
      return { status: (await askback.cancel(await askback.open(request), "not needed")).status };
  }
}

let result;
try {
  result = await run();
} catch (err) {
  result = { error: err.name, message: err.message, pointer: err.pointer, status: err.status, reason: err.reason };
}
console.log(JSON.stringify(result));
