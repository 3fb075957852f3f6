/** Services on a store file that is shared, or cannot be written for a while. */

import { assert, assertEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { LoadClient } from "../support/load_client.ts";
import { type Outcome, runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { Disk, run } from "./disk.ts";

const isPermitted = permitted("env", "net", "read", "run", "write", "sys");
const isRoot = isPermitted && Deno.build.os === "linux" && Deno.uid() === 0;

const CONNECTIONS = 8;

/** How long the store cannot be written, and how long a step may take, in milliseconds. */
const TROUBLE_MS = 2_500;
const LIMIT_MS = 20_000;

/** Prevents writes to the store, and permits them again. */
interface Trouble {
  begin(service: ServiceProcess, store: TempStore): Promise<void>;
  end(service: ServiceProcess, store: TempStore): Promise<void>;
}

const FULL = "the disk is full";

const TROUBLES: Record<string, Trouble> = {
  [FULL]: {
    // It fails when the disk is full.
    begin: (_service, { folder }) =>
      run("dd", "if=/dev/zero", `of=${folder}/filler`, "bs=4096", "status=none").catch(() => {}),
    end: (_service, { folder }) => Deno.remove(`${folder}/filler`),
  },
  "the store's files cannot grow": {
    begin: ({ pid }) => run("prlimit", `--pid=${pid}`, "--fsize=4096:unlimited"),
    end: ({ pid }) => run("prlimit", `--pid=${pid}`, "--fsize=unlimited:unlimited"),
  },
  "the store's files are read-only": {
    begin: (_service, { folder }) => setImmutable(folder, "+i"),
    end: (_service, { folder }) => setImmutable(folder, "-i"),
  },
};

/** Mounts and file attributes need root; without it, these tests are ignored. */
const canMount = isRoot &&
  await works(async () => await (await Disk.mount())[Symbol.asyncDispose]());
const canSetImmutable = isRoot && await works(async () => {
  await using store = await TempStore.make();
  await Deno.writeTextFile(store.kvPath, "");
  await setImmutable(store.folder, "+i");
  await setImmutable(store.folder, "-i");
});

for (const [name, trouble] of Object.entries(TROUBLES)) {
  Deno.test({
    name: `while ${name}, additions get 503, and the service recovers by itself`,
    ignore: !canMount || !canSetImmutable,
    async fn() {
      await using disk = name === FULL ? await Disk.mount() : undefined;
      await using store = await TempStore.make(disk?.folder);
      const token = await store.issueKey();
      await using service = await ServiceProcess.start(store.kvPath);
      const load = loadOf([service], token);
      let isOver = false;
      const running = load.run(() => isOver);
      await until("additions", () => load.acknowledged.size > 50);

      await trouble.begin(service, store);
      const failed = () => load.refused.size + load.unclear.size;
      const before = failed();
      try {
        await until("refusals", () => failed() > before + CONNECTIONS);
        await pause(TROUBLE_MS);
        const response = await service.send("/v1/pets?limit=1", token);
        await response.body?.cancel();
        assert([200, 503].includes(response.status), `a list gets ${response.status}`);
        if (name === FULL) {
          assertEquals(response.status, 200);
          assertEquals(await readinessOf(service), 503);
        }
      } finally {
        await trouble.end(service, store);
      }

      const kept = load.acknowledged.size;
      await until("additions again", () => load.acknowledged.size > kept + 50);
      isOver = true;
      await running;
      await load.expectServed(service);
      await store.use((operator) => load.expectLogged(operator));
      if (name === FULL) {
        assertEquals(load.outcomes, { created: load.acknowledged.size, storage_full: failed() });
        assertEquals(load.unclear.size, 0);
        assertEquals(await readinessOf(service), 200);
      }
      assertEquals(await service.stop(), 0);
      if (name === FULL) {
        const events = service.lines.map((line) => JSON.parse(line).event);
        const reports = events.filter((event) => event.startsWith("storage_"));
        assertEquals(reports[0], "storage_full");
        assertEquals(events, ["listening", ...reports, "shutting_down", "stopped"]);
      }
    },
  });
}

async function readinessOf(service: ServiceProcess): Promise<number> {
  const response = await fetch(`${service.address}/readyz`);
  await response.body?.cancel();
  return response.status;
}

/** Ways to lose the file of a running service. */
const LOSSES: Record<string, (store: TempStore) => Promise<void>> = {
  deleted: async ({ kvPath }) => {
    for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(kvPath + suffix);
  },
  replaced: async ({ kvPath }) => {
    await Deno.copyFile(kvPath, `${kvPath}.new`);
    await Deno.rename(`${kvPath}.new`, kvPath);
  },
  moved: ({ kvPath }) => Deno.rename(kvPath, `${kvPath}.old`),
};

for (const [name, lose] of Object.entries(LOSSES)) {
  Deno.test({
    name: `if the store's file is ${name}, additions stop, and the logged command saves every pet`,
    ignore: !isPermitted || Deno.build.os !== "linux",
    async fn() {
      await using store = await TempStore.make();
      await using copy = await TempStore.make();
      const token = await store.issueKey();
      await using service = await ServiceProcess.start(store.kvPath);
      const load = loadOf([service], token);
      let isOver = false;
      const running = load.run(() => isOver);
      await until("additions", () => load.acknowledged.size > 50);
      await lose(store);
      await until("a refusal", () => load.refused.size > 0);
      const kept = load.acknowledged.size;
      await until("refusals", () => load.refused.size > 5 * CONNECTIONS);
      assertEquals(load.acknowledged.size, kept);
      assertEquals(await readinessOf(service), 503);
      isOver = true;
      await running;
      await load.expectServed(service);

      const [, line, ...others] = service.lines;
      const { event, saveCommand, remedy } = JSON.parse(line);
      assertEquals([event, others], ["store_file_lost", []]);
      await run("sh", "-c", `cd ${copy.folder}; ${saveCommand}`);
      const saved = /KV_PATH=(\S+) deno task audit/.exec(remedy)![1];
      const kvPath = `${copy.folder}/${saved}`;
      assertEquals((await runTask(["audit"], { kvPath })).code, 0);
      assertEquals(await service.stop(), 0);
      await using successor = await ServiceProcess.start(kvPath);
      await load.expectServed(successor);
      assertEquals(await successor.add({ name: "Rex", categoryId: 1 }, token), 201);
    },
  });
}

Deno.test({
  name: "only the owner may read the files of a new store, and existing files keep their mode",
  ignore: !isPermitted || Deno.build.os === "windows",
  async fn() {
    await using store = await TempStore.make();
    const modes = () =>
      store.use(async () =>
        (await Array.fromAsync(Deno.readDir(store.folder)))
          .map(({ name }) => Deno.statSync(`${store.folder}/${name}`).mode! & 0o777)
      );
    assertEquals(await modes(), [0o600, 0o600, 0o600]);
    await Deno.chmod(store.kvPath, 0o640);
    assertEquals(await modes(), [0o640, 0o640, 0o640]);
  },
});

Deno.test({
  name: "two services and all tools work on one store file at once, and none reports a lock",
  ignore: !isPermitted,
  async fn() {
    await using store = await TempStore.make();
    const token = await store.issueKey();
    await using one = await ServiceProcess.start(store.kvPath);
    await using other = await ServiceProcess.start(store.kvPath);
    const load = new LoadClient({
      services: () => [one, other],
      token,
      connections: 64,
      faults: "none",
    });
    const outcomes: Outcome[] = [];
    let isBusy = true;
    const tools = ["keys issue --label second", "keys list", "log"].map(async (command) => {
      do {
        outcomes.push(await runTask(command.split(" "), { kvPath: store.kvPath }));
      } while (isBusy);
    });
    await load.run(() => load.begun >= 1_000);
    isBusy = false;
    await Promise.all(tools);
    for (const { code, stderr } of outcomes) {
      assertEquals(code, 0, stderr);
      assert(!stderr.includes("locked"), stderr);
    }
    assertEquals([await one.stop(), await other.stop()], [0, 0]);
    const lockReports = [...one.lines, ...other.lines].filter((line) => line.includes("locked"));
    assertEquals(lockReports, []);
    assertEquals(load.acknowledged.size, 1_000);
    await store.use(async (operator) => {
      await load.expectLogged(operator);
      const issued = outcomes.filter(({ stdout }) => stdout.startsWith("pets_")).length;
      assertEquals((await operator.heads.fresh()).head.position, 1_001 + issued);
    });
  },
});

Deno.test({
  name: "a service that was paused by SIGSTOP continues while another one writes",
  ignore: !isPermitted || Deno.build.os === "windows",
  async fn() {
    await using store = await TempStore.make();
    const token = await store.issueKey();
    await using paused = await ServiceProcess.start(store.kvPath);
    await using other = await ServiceProcess.start(store.kvPath);
    const load = loadOf([paused, other], token);
    let isOver = false;
    const running = load.run(() => isOver);
    for (let round = 0; round < 3; round++) {
      await pause(200 + Math.random() * 300);
      paused.signal("SIGSTOP");
      await pause(TROUBLE_MS);
      const before = load.acknowledged.size;
      paused.signal("SIGCONT");
      await until("additions again", () => load.acknowledged.size > before + 50);
    }
    isOver = true;
    await running;
    for (const service of [paused, other]) await load.expectServed(service);
    await store.use((operator) => load.expectLogged(operator));
    assertEquals([await paused.stop(), await other.stop()], [0, 0]);
  },
});

function loadOf(services: ServiceProcess[], token: string): LoadClient {
  return new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "store",
  });
}

/** Skips the index of SQLite's write-ahead log: a refused write to its shared memory ends the process with SIGBUS. */
function setImmutable(folder: string, change: "+i" | "-i"): Promise<void> {
  const files = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`)
    .filter((path) => !path.endsWith("-shm"));
  return run("chattr", change, ...files);
}

async function until(awaited: string, condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; !condition();) {
    assert(Date.now() < deadline, `no ${awaited} within ${LIMIT_MS} ms`);
    await pause(10);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function works(attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch {
    return false;
  }
}
