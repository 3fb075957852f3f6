/** Prints the data of each event of a stream as it comes. The arguments are the address and the API key. */

import { EventSource } from "eventsource";

const [url, key] = process.argv.slice(2);
const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } }),
});
for (const type of ["PetCreated", "PetUpdated", "PetRemoved"]) {
  source.addEventListener(type, ({ data }) => console.log(`data: ${data}`));
}
// Node ends while the client waits to resume, because its timer keeps no process alive.
setInterval(() => {}, 60_000);
