/** Prints each event of a batch as the SDK of CloudEvents reads it. The arguments are the address and the API key. */

import { HTTP } from "cloudevents";

const [url, key] = process.argv.slice(2);
const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
const headers = Object.fromEntries(response.headers);
for (const event of HTTP.toEvent({ headers, body: await response.text() })) {
  event.validate();
  console.log(`data: ${event}`);
}
