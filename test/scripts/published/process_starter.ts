/** A worker that starts processes one after another, until it is terminated. It says when the first one has ended. */

/** The global scope of a worker. */
const scope = self as unknown as { postMessage(message: string): void };

await start();
scope.postMessage("started");
while (true) await start();

async function start(): Promise<void> {
  await new Deno.Command("true").output();
}
