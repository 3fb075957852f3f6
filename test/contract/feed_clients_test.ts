/**
 * Clients of event streams and of CloudEvents that others wrote follow a service unchanged. If they cannot be installed,
 * their tests are ignored with one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { fillStore } from "../support/fill_store.ts";
import { freePort } from "../support/free_port.ts";
import { until } from "../support/until.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { install, run } from "../support/third_party_tools.ts";
import {
  HERE,
  installNodePackages,
  installPythonTools,
  NODE_FOLDER,
  PYTHON_BIN,
} from "./contract_tools.ts";
import { guides } from "../../src/http/docs/guides.ts";
import { type Need, testNeeding } from "../support/test_needing.ts";

/** The number of pets before a client connects: more than one read of the log. */
const PETS = 1_000;

const withPython = await install("tools from PyPI", installPythonTools);
const withNode = await install("packages from npm", installNodePackages);

// Node finds packages from the folder of the script.
if (withNode.isMet) {
  await Deno.copyFile(`${HERE}/clients/cloud_events.mjs`, `${NODE_FOLDER}/cloud_events.mjs`);
}

/** The command that follows a stream of the interface at that address, from the event `lastId` on. */
type CommandOf = (base: string, lastId: string) => Promise<string[]>;

const CLIENTS: [name: string, need: Need, commandOf: CommandOf][] = [
  ["eventsource, npm", withNode, async (base, lastId) => {
    return ["node", await writeProgram(base, "javascript", `${NODE_FOLDER}/follow.mjs`), lastId];
  }],
  ["httpx-sse, PyPI", withPython, async (base, lastId) => {
    const program = await writeProgram(base, "python", `${PYTHON_BIN}/follow.py`);
    return [`${PYTHON_BIN}/python`, program, lastId];
  }],
];

/** Writes the program of the guide for streams in a language to a file, and resolves to its path. */
async function writeProgram(base: string, mark: string, path: string): Promise<string> {
  const { description } = guides(base).find(({ name }) => name === "Follow by a stream")!;
  const [, program] = new RegExp(`\`\`\`${mark}\n([^]+?)\`\`\``).exec(description)!;
  await Deno.writeTextFile(path, program);
  return path;
}

for (const [name, need, commandOf] of CLIENTS) {
  testNeeding(need)(
    `${name}: misses and doubles nothing while the service ends and is killed`,
    async () => {
      await using temp = await TempStore.make();
      const key = await fillStore(temp.kvPath, PETS);
      const env = { PORT: `${freePort()}` };
      let service = await ServiceProcess.start(temp.kvPath, env);
      const events = (await readAll(service, key)).slice(0, 1);
      let process!: Deno.ChildProcess;
      let isOver = false;
      const following = (async () => {
        while (!isOver) {
          const base = `${service.address}/v1`;
          const [program, ...args] = await commandOf(base, events.at(-1)!.id);
          const options = { args, env: { KEY: key }, stdout: "piped", stderr: "null" } as const;
          process = new Deno.Command(program, options).spawn();
          await readLines(process.stdout, (line) => {
            const data = /^(?:data: )?(\{.*)$/.exec(line)?.[1];
            if (data !== undefined) events.push(JSON.parse(data));
          });
          await process.status;
        }
      })();
      try {
        for (const [round, signal] of ([undefined, "SIGTERM", "SIGKILL"] as const).entries()) {
          if (signal !== undefined) {
            await service.stop(signal);
            service = await ServiceProcess.start(temp.kvPath, env);
          }
          assertEquals(await service.add({ name: "Rex", categoryId: 1 }, key), 201);
          assertEquals((await service.client(key).remove(round + 1)).status, 204);
          await until(() => events.length >= PETS + 2 * (round + 1));
        }
        assertEquals(events, await readAll(service, key));
      } finally {
        isOver = true;
        process.kill("SIGKILL");
        await following;
        await service.stop("SIGKILL");
      }
    },
  );
}

testNeeding(withNode)("cloudevents, npm: reads and validates a batch", async () => {
  await using temp = await TempStore.make();
  const key = await fillStore(temp.kvPath, PETS);
  await using service = await ServiceProcess.start(temp.kvPath);
  const events = await readAll(service, key);
  const { id } = events[PETS - 26];
  const url = `${service.address}/v1/events?limit=20&lastEventId=${id}`;
  const args = [`${NODE_FOLDER}/cloud_events.mjs`, url, key];
  const { output } = await run("node", args);
  const read = output.trimEnd().split("\n").map((line) => JSON.parse(line.slice(6)));
  assertEquals(read, events.slice(PETS - 25, PETS - 5));
});

async function readAll({ address }: ServiceProcess, key: string): Promise<{ id: string }[]> {
  const events = [];
  for (let url = `${address}/v1/events?limit=1000`;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const batch = await response.json();
    if (batch.length === 0) return events;
    events.push(...batch);
    url = /^<(.+)>; rel="next"$/.exec(response.headers.get("link")!)![1];
  }
}
