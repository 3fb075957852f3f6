import { assert, assertEquals } from "@std/assert";
import { readConsumers } from "eventstore-less/tools";
import { consumersKey } from "../../../src/eventstore_less/keyspace.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { book, openBookings } from "../tools/bookings.ts";

const PROGRAM = `${ROOT}test/eventstore_less/consumers/consuming_program.ts`;

/** A process with a consumer, and the positions that it has printed. */
class ConsumingProcess {
  readonly got: number[] = [];
  readonly #process: Deno.ChildProcess;
  readonly #output: Promise<void>;

  constructor(location: string, onGot: (position: number) => void) {
    const args = ["run", "--quiet", "--no-check", "--allow-all", PROGRAM, location];
    this.#process = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdout: "piped" }).spawn();
    this.#output = this.#read(onGot);
  }

  async #read(onGot: (position: number) => void): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const position of lines.map(Number)) {
        this.got.push(position);
        onGot(position);
      }
    }
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await Promise.all([this.#process.status, this.#output]);
  }
}

testNeeding(PROCESSES)(
  "a consumer goes on in another process after kill -9, with the first event that no place has",
  async () => {
    const folder = await Deno.makeTempDir();
    const location = `${folder}/bookings.sqlite3`;
    const all: number[] = [];
    const start = () => new ConsumingProcess(location, (position) => all.push(position));
    const processes = [];
    try {
      await using store = await openBookings(location);
      processes.push(start());
      // A consumer begins by itself only in a store without events.
      await until(async () => await store.store.get(consumersKey("printer")) !== null);
      processes.push(start());
      const placeOf = async () => (await readConsumers(store))[0].position!;
      let added = 0;
      for (let round = 0; round < 2; round++) {
        for (let count = 0; count < 20; count++) {
          await book(store);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        added += 20;
        await until(() => all.includes(added - 10));
        const stored = await placeOf();
        const known = all.length;
        const holder = processes.findLast(({ got }) => got.includes(all.at(-1)!))!;
        await holder.kill();
        processes.push(start());
        await until(() => all.includes(added));
        const [again] = all.slice(known);
        assert(again === undefined || again > stored, `${again} after ${stored}`);
      }
      await until(async () => await placeOf() === added);
      const inOrder = Array.from({ length: added }, (_, index) => index + 1);
      assertEquals([...new Set(all)], inOrder);
    } finally {
      await Promise.all(processes.map((process) => process.kill().catch(() => {})));
      await Deno.remove(folder, { recursive: true });
    }
  },
);
