/** A service whose store file cannot be written for a while, or is lost. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { buildDisk } from "../support/disk.ts";
import { LINUX, NOT_WINDOWS, permissions, testNeeding } from "../support/test_needing.ts";
import { LoadClient } from "../support/load_client.ts";
import { until } from "../support/until.ts";
import { runTask } from "../support/run_task.ts";
import { fillDisk, mountDisk } from "../support/small_disk.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { expectDone, install } from "../support/third_party_tools.ts";

const PERMITTED = permissions("env", "net", "read", "run", "write", "sys");
const test = testNeeding(PERMITTED, NOT_WINDOWS);
const testOnLinux = testNeeding(PERMITTED, LINUX);

const COMPILER = await install("a C compiler", () => expectDone("cc", ["--version"]));
const SMALL_DISK = await install("a disk of its own, which root can mount", async () => {
  await using _disk = await mountDisk();
});

const CONNECTIONS = 8;

/** A service on a store file, and clients that have added some pets and continue until `stop()`. */
async function startLoad(store: TempStore, name = store.kvPath) {
  const token = await store.issueApiKey();
  const service = await ServiceProcess.start(name);
  const load = new LoadClient({
    services: () => [service],
    token,
    connections: CONNECTIONS,
    faults: "store",
  });
  let isOver = false;
  const running = load.run(() => isOver);
  const moreAdditions = () => {
    const { size } = load.acknowledged;
    return until(() => load.acknowledged.size > size + 50);
  };
  await moreAdditions();
  /** Every pet is where it must be. */
  const stop = async () => {
    isOver = true;
    await running;
    await load.expectServed(service);
  };
  const dispose = async () => {
    isOver = true;
    await service.stop("SIGKILL");
  };
  return { token, service, load, moreAdditions, stop, [Symbol.asyncDispose]: dispose };
}

testNeeding(PERMITTED, SMALL_DISK)(
  "while the disk is full, additions get 503, lists 200, and the service recovers by itself",
  async () => {
    await using disk = await mountDisk();
    await using store = await TempStore.make(disk.folder);
    await using loaded = await startLoad(store);
    const { token, service, load, moreAdditions } = loaded;
    await fillDisk(disk.folder);
    const { size: before } = load.refused;
    try {
      await until(() => load.refused.size > before + CONNECTIONS);
      const response = await service.send("/v1/pets?limit=1", token);
      await response.body?.cancel();
      assertEquals(response.status, 200);
      assertEquals(await readinessOf(service), 503);
    } finally {
      await Deno.remove(`${disk.folder}/filler`);
    }
    await moreAdditions();
    await loaded.stop();
    await store.use((operator) => load.expectLogged(operator));
    const outcomes = { created: load.acknowledged.size, storage_full: load.refused.size };
    assertEquals([load.outcomes, load.unclear.size], [outcomes, 0]);
    assertEquals(await readinessOf(service), 200);
    assertEquals(await service.stop(), 0);
    const events = service.lines.map((line) => JSON.parse(line).event);
    const reports = events.filter((event) => event.startsWith("storage_"));
    assertEquals(reports[0], "storage_full");
    assertEquals(events, ["listening", ...reports, "shutting_down", "stopped"]);
  },
);

async function readinessOf(service: ServiceProcess): Promise<number> {
  const response = await fetch(`${service.address}/readyz`);
  await response.body?.cancel();
  return response.status;
}

testNeeding(PERMITTED, LINUX, COMPILER)(
  "while the file system is read-only, additions are refused at once after the first, with one line and the remedy",
  async () => {
    await using store = await TempStore.make();
    await using built = await TempStore.make();
    const token = await store.issueApiKey();
    const isReadOnly = `${built.folder}/is-read-only`;
    const env = { ...await buildDisk(built.folder), READ_ONLY_IF: isReadOnly };
    await using service = await ServiceProcess.start(store.kvPath, env);
    const add = async () => {
      const response = await service.client(token).add({ name: "Rex", categoryId: 1 });
      return [response.status, (await response.json()).code];
    };
    assertEquals(await add(), [201, undefined]);
    await Deno.writeTextFile(isReadOnly, "");
    assertEquals(await add(), [503, "outcome_unknown"]);
    for (let number = 0; number < 20; number++) {
      assertEquals(await add(), [503, "store_unavailable"]);
    }
    assertEquals(await readinessOf(service), 503);
    await Deno.remove(isReadOnly);
    await until(async () => await readinessOf(service) === 200);
    assertEquals(await add(), [201, undefined]);
    await service.stop();
    const lines = service.lines.map((line) => JSON.parse(line));
    const [failing, ...others] = lines.filter(({ level }) => level === "error");
    assertEquals([failing.event, others], ["storage_failing", []]);
    assertMatch(failing.remedy, /turned read-only/);
    assertEquals(lines.filter(({ event }) => event === "commit_failed"), []);
  },
);

testNeeding(PERMITTED, SMALL_DISK)(
  "a service does not start on a read-only or full file system, commands that read do, and each names the remedy",
  async () => {
    await using disk = await mountDisk();
    const kvPath = `${disk.folder}/pets.sqlite3`;
    const run = (args: string[]) =>
      runTask(args, { kvPath, env: { PORT: "0", HOST: "127.0.0.1" } });
    assertEquals((await run(["keys", "issue", "--label", "test"])).code, 0);
    const expectRefused = async (args: string[], reason: RegExp) => {
      const { code, stderr } = await run(args);
      assertEquals(code, 2, stderr);
      assertMatch(stderr, reason);
      assertEquals(stderr.trim().split("\n").length, 1, stderr);
    };
    const readOnly =
      /\(KV_PATH\): its file, its folder or its file system is read-only; the file system of \S+ is read-only for the user \S+: as root, mount -o remount,rw /;
    const remount = (mode: string) => expectDone("mount", ["-o", `remount,${mode}`, disk.folder]);
    await remount("ro");
    for (const args of [["start"], ["audit"]]) await expectRefused(args, readOnly);
    await remount("rw");
    // A process that is killed leaves the files without which SQLite cannot read here.
    const service = await ServiceProcess.start(kvPath);
    await service.stop("SIGKILL");
    await remount("ro");
    await expectRefused(["start"], readOnly);
    for (const args of [["audit"], ["log"], ["keys", "list"]]) {
      assertEquals((await run(args)).code, 0, args.join(" "));
    }
    await remount("rw");
    await fillDisk(disk.folder);
    await expectRefused(
      ["start"],
      /its disk is full; free space on the disk of \S+, or let the user \S+ use more of it: df -h \//,
    );
    // The start has removed the files next to the store. Without space for them, SQLite calls the disk failing.
    await fillDisk(disk.folder);
    for (const args of [["start"], ["audit"], ["keys", "list"]]) {
      await expectRefused(
        args,
        /its disk is full; free space on the disk of \S+, or let the user \S+ use more of it: df -h \//,
      );
    }
    await Deno.remove(`${disk.folder}/filler`);
    assertEquals((await run(["audit"])).code, 0);
  },
);

/** Ways to lose the file of a running service. */
const LOSSES: Record<string, (store: TempStore) => Promise<void>> = {
  "deleted with its folder": ({ folder }) => Deno.remove(folder, { recursive: true }),
  replaced: async ({ kvPath }) => {
    await Deno.copyFile(kvPath, `${kvPath}.new`);
    await Deno.rename(`${kvPath}.new`, kvPath);
  },
};

for (const [name, lose] of Object.entries(LOSSES)) {
  testOnLinux(
    `if the store's file is ${name}, additions stop, and the logged command saves every pet`,
    async () => {
      // A shell gives a blank and a quote other meanings.
      await using parent = await TempStore.make();
      const folder = `${parent.folder}/Ann's store`;
      await Deno.mkdir(folder);
      await using store = await TempStore.make(folder);
      await using loaded = await startLoad(store);
      const { token, service, load } = loaded;
      await lose(store);
      await until(() => load.refused.size > 0);
      const { begun } = load;
      await until(() => load.refused.size > 5 * CONNECTIONS);
      const numbers = [...load.acknowledged.values()].map((text) => JSON.parse(text).categoryId);
      assertEquals(numbers.filter((number) => number > begun), [], "additions after the refusal");
      assertEquals(await readinessOf(service), 503);
      await loaded.stop();

      const [, line, ...others] = service.lines;
      const { event, saveCommand, remedy } = JSON.parse(line);
      assertEquals([event, others], ["store_file_lost", []]);
      // The folder in which an operator runs it does not matter.
      await expectDone("sh", ["-c", `cd /; ${saveCommand}`]);
      const kvPath = savedPathIn(saveCommand);
      assert(kvPath.startsWith(`${store.kvPath}.saved-20`), kvPath);
      const [, named] = /check the copy: KV_PATH=('.*') deno task audit\. /.exec(remedy)!;
      assertEquals(await expectDone("sh", ["-c", `printf %s ${named}`]), kvPath);
      assertEquals((await runTask(["audit"], { kvPath })).code, 0);
      assertEquals(await service.stop(), 0);
      await using successor = await ServiceProcess.start(kvPath);
      await load.expectServed(successor);
      assertEquals(await successor.add({ name: "Rex", categoryId: 1 }, token), 201);
    },
  );
}

testOnLinux(
  "behind a link, additions stop when the log beside the file is lost, and the logged command saves every pet, also when the link moves",
  async () => {
    await using volume = await TempStore.make();
    await using other = await TempStore.make();
    const link = other.kvPath;
    await Deno.symlink(volume.kvPath, link);
    await using loaded = await startLoad(volume, link);
    const { token, service, load, moreAdditions } = loaded;
    const [first] = service.lines.map((line) => JSON.parse(line));
    assertEquals([first.event, first.store, first.link], ["listening", volume.kvPath, link]);
    await Deno.remove(link);
    const events = () => service.lines.map((line) => JSON.parse(line).event);
    await until(() => events().includes("store_link_moved"));
    await moreAdditions();
    await Deno.remove(`${volume.kvPath}-wal`);
    await until(() => load.refused.size > 0);
    await loaded.stop();
    assertEquals(await readinessOf(service), 503);
    assertEquals(events(), ["listening", "store_link_moved", "store_file_lost"]);
    const { saveCommand, reason } = JSON.parse(service.lines[2]);
    // An operator pastes it from the line.
    assert(service.lines[2].includes(`"saveCommand":"${saveCommand}"`));
    assertEquals(reason, `${volume.kvPath}-wal was deleted or moved`);
    await expectDone("sh", ["-c", saveCommand]);
    await service.stop("SIGKILL");
    const kvPath = savedPathIn(saveCommand);
    assertEquals((await runTask(["audit"], { kvPath })).code, 0);
    await using successor = await ServiceProcess.start(kvPath);
    await load.expectServed(successor);
    assertEquals(await successor.add({ name: "Rex", categoryId: 1 }, token), 201);
  },
);

test("a store with two names is refused by every program, and used again when one is gone", async () => {
  await using store = await TempStore.make();
  await store.issueApiKey();
  const second = `${store.folder}/second.sqlite3`;
  await Deno.link(store.kvPath, second);
  const env = { PORT: "0", HOST: "127.0.0.1" };
  const backup = ["backup", `${store.folder}/log.jsonl`];
  const commands = [["start"], ["audit"], ["log"], backup, ["replay"], ["keys", "list"]];
  for (const [index, args] of commands.entries()) {
    const kvPath = index % 2 === 0 ? store.kvPath : second;
    const { code, stdout, stderr } = await runTask(args, { kvPath, env });
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertMatch(stderr, /\(KV_PATH\): its file has 2 names \(hard links\), .*\n$/);
    assertEquals(stderr.trim().split("\n").length, 1, stderr);
  }
  await Deno.remove(second);
  const { code, stderr } = await runTask(["keys", "list"], { kvPath: store.kvPath });
  assertEquals(code, 0, stderr);
});

testOnLinux(
  "the logged command fails if it does not find the store's files, or cannot copy them, and the service continues",
  async () => {
    await using store = await TempStore.make();
    await using loaded = await startLoad(store);
    const { service } = loaded;
    for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(store.kvPath + suffix);
    await until(() => service.lines.length > 1);
    await loaded.stop();
    const { saveCommand } = JSON.parse(service.lines[1]);
    const [, device, inode] = /found (\d+):(\d+)\)/.exec(saveCommand)!;
    const { dev, ino } = await Deno.stat("/dev/null");
    const commands = [
      // The inode of another file, which the process has open on another device.
      saveCommand.replace(`found ${device}:${inode})`, `found ${device}:${ino})`),
      saveCommand.replaceAll(savedPathIn(saveCommand), `${store.folder}/none/saved`),
      // Its bytes are not those of a copy that is there already.
      saveCommand.replace("cp --remove-destination $1 $2", `ln -s ${store.folder} $2`),
    ];
    assert(Number(device) !== dev);
    for (const command of commands) {
      assert(command !== saveCommand);
      const { success } = await new Deno.Command("sh", { args: ["-c", command] }).output();
      assertEquals(success, false, command);
      const rest = Array.from(Deno.readDirSync(store.folder), ({ name }) => name);
      assertEquals(rest.filter((name) => name.includes("saved")), [], "no part of a copy stays");
      assertEquals((await fetch(`${service.address}/healthz`)).status, 200);
    }
    assertEquals(await service.stop(), 0);
  },
);

test("only the owner may read the files of a new store, and existing files keep their mode", async () => {
  await using store = await TempStore.make();
  const modes = () =>
    store.use(async () =>
      (await Array.fromAsync(Deno.readDir(store.folder)))
        .map(({ name }) => Deno.statSync(`${store.folder}/${name}`).mode! & 0o777)
    );
  assertEquals(await modes(), [0o600, 0o600, 0o600]);
  await Deno.chmod(store.kvPath, 0o640);
  assertEquals(await modes(), [0o640, 0o640, 0o640]);
});

/** The path of the copy of the store that a logged command makes: its last word. */
function savedPathIn(saveCommand: string): string {
  const [, quoted, plain] = /(?:'((?:[^']|'\\'')+)'|([^\s']+))$/.exec(saveCommand)!;
  return (quoted ?? plain).replaceAll("'\\''", "'");
}
