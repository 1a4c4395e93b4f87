// Verifies messages with the library of Standard Webhooks. Reads a list of {secret, headers,
// body} from standard input, and writes a list with "" for each message that is valid, and the
// error for each other.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const results = JSON.parse(readFileSync(0, "utf8")).map(({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return "";
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
});
process.stdout.write(JSON.stringify(results));
