/**
 * Measures what webhooks cost, with 100 endpoints of which 50 never answer: the delays of deliveries at 20 additions per
 * second, and then the rates of requests, in turns with a service without endpoints.
 *
 *     deno run --allow-all --lock=test/deno.lock test/bench/webhooks.ts [SECONDS] [ROUNDS]
 */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { TempStore } from "../support/temp_store.ts";
import { measure, type Operation } from "./operations.ts";
import { fillByCheckout, ROOT, type ServerProcess, startService } from "./processes.ts";

const ENDPOINTS = 100;
const PETS = 10_000;
const ADDITIONS = { perSecond: 20, seconds: 20 };

const ADDED = '{"name":"Rex the dog","categoryId":12,"status":"available"}';

const WORKLOADS: Operation[] = [
  { name: "read by id", connections: 64, method: "GET", path: "/v1/pets/{id}", ids: 500 },
  { name: "create, c=64", connections: 64, method: "POST", path: "/v1/pets", body: ADDED },
  { name: "create, c=1", connections: 1, method: "POST", path: "/v1/pets", body: ADDED },
];

const [seconds = 4, rounds = 3] = Deno.args.map(Number);

await using temp = await TempStore.make();
const [plainPath, calledPath] = ["plain", "called"].map((name) => `${temp.folder}/${name}.sqlite3`);
const plainToken = await fillByCheckout(ROOT, plainPath, PETS);
const calledToken = await fillByCheckout(ROOT, calledPath, PETS);
await using receivers = startReceivers();
const receiversPort = Number(await receivers.nextLine());
const env = { WEBHOOK_KEY: randomBytes(32).toString("base64"), WEBHOOK_ALLOW: "127.0.0.1" };
await using plain = await startService(plainPath, { root: ROOT }, env);
await using called = await startService(calledPath, { root: ROOT }, env);
for (let number = 0; number < ENDPOINTS; number++) {
  const url = `http://127.0.0.1:${receiversPort}/${number}`;
  const response = await post(called, calledToken, "/v1/webhooks", JSON.stringify({ url }));
  if (response.status !== 201) throw new Error(await response.text());
  await response.body?.cancel();
}

const end = Date.now() + ADDITIONS.seconds * 1_000;
while (Date.now() < end) {
  const response = await post(called, calledToken, "/v1/pets", ADDED);
  await response.body?.cancel();
  await new Promise((resolve) => setTimeout(resolve, 1_000 / ADDITIONS.perSecond));
}
await new Promise((resolve) => setTimeout(resolve, 2_000));
const delays = (await receivers.delays()).sort((one, other) => one - other);
const at = (share: number) => delays[Math.floor(share * (delays.length - 1))];
console.log(
  `  ${delays.length} deliveries at ${ADDITIONS.perSecond} additions per second: ` +
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms\n`,
);

console.log(
  `\nWith ${ENDPOINTS} endpoints, of which half never answer, against none (1 is no loss)\n`,
);
for (const workload of WORKLOADS) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const own = await measure(called, calledToken, workload, seconds * 1_000, PETS);
    const other = await measure(plain, plainToken, workload, seconds * 1_000, PETS);
    if (own.failures + other.failures > 0) throw new Error("A response was an error");
    ratios.push(own.perSecond / other.perSecond);
  }
  const shown = ratios.toSorted((one, other) => one - other).map((ratio) => ratio.toFixed(2));
  console.log(`  ${workload.name.padEnd(14)} ${shown.join("  ")}`);
}
console.log(
  `\n  memory: ${called.memoryMiB().toFixed(0)} MiB, ${plain.memoryMiB().toFixed(0)} without`,
);

function post({ port }: ServerProcess, token: string, path: string, body: string) {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
}

function startReceivers() {
  const script = new URL("webhook_receivers.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-net", script],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  const reader = lines.getReader();
  let text = "";
  const nextLine = async () => {
    while (!text.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error("The receivers have ended");
      text += value;
    }
    const [line] = text.split("\n", 1);
    text = text.slice(line.length + 1);
    return line;
  };
  return {
    nextLine,
    async delays(): Promise<number[]> {
      await input.write(Buffer.from("\n"));
      return JSON.parse(await nextLine());
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      child.kill();
      await child.status;
    },
  };
}
