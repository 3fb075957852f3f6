/** What only whole processes show: load, sudden death, and several processes on one store. */

import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { decodeEvent, GENESIS_HASH } from "../events/event.ts";
import { audit } from "../src/maintenance/audit.ts";
import { readHead } from "../src/log/head.ts";
import { sha256Hex } from "../src/encoding/sha256.ts";
import { permitted } from "./support/permitted.ts";
import { runTask } from "./support/run_task.ts";
import { ServiceProcess } from "./support/service_process.ts";
import { TempStore } from "./support/temp_store.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

Deno.test({
  name: "2,000 additions, 64 at a time, get the ids 1 to 2,000 in far fewer commits",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const added = await addMany(service, token, 2_000);
    assertEquals(added.map(({ status }) => status), Array(2_000).fill(201));
    const ids = added.map(({ id }) => id!).sort((one, other) => one - other);
    assertEquals(ids, Array.from({ length: 2_000 }, (_, index) => index + 1));
    assertEquals(await service.stop(), 0);
    assertSoundLog(await exportLog(temp), 2_001);
    await temp.use(async ({ store, runtime }) => {
      assertEquals((await audit({ store, runtime })).sound, true);
    });
    const commits = await countCommits(temp);
    assertLess(commits, 500);
  },
});

Deno.test({
  name: "every animal that was answered with 201 is there once after kill -9 under load",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    const acknowledged = new Map<number, string>();
    let attempted = 0;
    for (let life = 1; life <= 2; life++) {
      await using service = await ServiceProcess.start(temp.kvPath);
      const enough = acknowledged.size + 300;
      const added = addMany(service, token, 100_000, ({ id, name }) => {
        if (id !== undefined) acknowledged.set(id, name);
        return acknowledged.size < enough;
      });
      while (acknowledged.size < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      await service.stop("SIGKILL");
      attempted += (await added).length;
    }
    await using service = await ServiceProcess.start(temp.kvPath);
    const names = new Map<number, string>();
    for (let path: string | undefined = "/v1/pets?limit=100"; path !== undefined;) {
      const response: Response = await service.send(path, token);
      for (const { id, name } of await response.json()) {
        assert(!names.has(id), `pet ${id} is listed once`);
        names.set(id, name);
      }
      path = /^<(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    }
    assert(acknowledged.size >= 600 && names.size <= attempted);
    for (const [id, name] of acknowledged) assertEquals(names.get(id), name);
    assertEquals(new Set(names.values()).size, names.size, "no addition was stored twice");
    assertEquals(await service.add({ name: "Max", categoryId: 2 }, token), 201);
    assertEquals(await service.stop(), 0);
    assertSoundLog(await exportLog(temp), names.size + 2);
  },
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test({
    name: `${signal} under load: what was accepted is answered and stored, and the exit is 0`,
    ignore,
    async fn() {
      await using temp = await TempStore.make();
      const token = await temp.issueKey();
      await using service = await ServiceProcess.start(temp.kvPath);
      let isStopping = false;
      let stored = 0;
      const stopped: Promise<number>[] = [];
      const added = addMany(service, token, 100_000, ({ id }) => {
        if (id !== undefined) stored++;
        if (stored === 300 && !isStopping) {
          isStopping = true;
          stopped.push(service.stop(signal));
        }
        return !isStopping;
      });
      const answers = await added;
      assertEquals(await stopped[0], 0);
      // Those that came too late found nobody, or were told that the service is going.
      const statuses = new Set(answers.map(({ status }) => status));
      for (const status of statuses) assert([201, 503, undefined].includes(status), `${status}`);
      const lines = await exportLog(temp);
      assertSoundLog(lines, stored + 1);
      assertEquals(service.lines.map((line) => JSON.parse(line).event), [
        "listening",
        "shutting_down",
        "stopped",
      ]);
    },
  });
}

Deno.test({
  name: "two services and all tools work on one store file, and nobody meets a lock",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using one = await ServiceProcess.start(temp.kvPath);
    await using other = await ServiceProcess.start(temp.kvPath);
    const outcomes: Awaited<ReturnType<typeof runTask>>[] = [];
    let isBusy = true;
    const tools = ["keys issue --label hammer", "keys list", "log"].map(async (command) => {
      do {
        outcomes.push(await runTask(command.split(" "), { kvPath: temp.kvPath }));
      } while (isBusy);
    });
    const added = await Promise.all([addMany(one, token, 500), addMany(other, token, 500)]);
    isBusy = false;
    await Promise.all(tools);
    const ids = added.flat().map(({ id }) => id!).sort((a, b) => a - b);
    assertEquals(ids, Array.from({ length: 1_000 }, (_, index) => index + 1));
    for (const { code, stderr } of outcomes) {
      assertEquals(code, 0, stderr);
      assert(!stderr.includes("locked"), stderr);
    }
    assertEquals([await one.stop(), await other.stop()], [0, 0]);
    const said = [...one.lines, ...other.lines].filter((line) => line.includes("locked"));
    assertEquals(said, []);
    const issued = outcomes.filter(({ stdout }) => stdout.startsWith("pets_")).length;
    assertSoundLog(await exportLog(temp), 1_001 + issued);
  },
});

Deno.test({
  name: "keys that a tool issues and revokes count at the very next request of a running service",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const first = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const options = { kvPath: temp.kvPath };
    const statusOf = async (token: string) => {
      const response = await service.send("/v1/pets", token);
      await response.body?.cancel();
      return response.status;
    };
    const { stdout } = await runTask(["keys", "issue", "--label", "second"], options);
    const second = stdout.trim();
    assertEquals(await statusOf(second), 200);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 201);
    const { stdout: table } = await runTask(["keys", "list"], options);
    const id = /^(\S+) .* second$/m.exec(table)![1];
    assert(!table.includes(second) && !table.includes("pets_"), "a list shows no secret");
    assertEquals((await runTask(["keys", "revoke", id], options)).code, 0);
    assertEquals(await statusOf(second), 401);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 401);
    assertEquals(await statusOf(first), 200);
    assertMatch(
      (await runTask(["keys", "list"], options)).stdout,
      new RegExp(`^${id} +revoked`, "m"),
    );
    assertSoundLog(await exportLog(temp), 4);
  },
});

/** How many requests are under way at once. */
const PARALLEL = 64;

interface Addition {
  name: string;
  /** Absent where the request failed. */
  status?: number;
  /** Absent where no animal was added. */
  id?: number;
}

/** Adds animals, each with a name of its own, until all are added or `goOn` says no. */
async function addMany(
  service: ServiceProcess,
  token: string,
  count: number,
  goOn: (addition: Addition) => boolean = () => true,
): Promise<Addition[]> {
  const additions: Addition[] = [];
  let left = count;
  const headers = { "content-type": "application/json" };
  const workers = Array.from({ length: PARALLEL }, async () => {
    while (left-- > 0) {
      const addition: Addition = { name: crypto.randomUUID() };
      additions.push(addition);
      try {
        const body = JSON.stringify({ name: addition.name, categoryId: left, status: "available" });
        const response = await service.send("/v1/pets", token, { method: "POST", headers, body });
        const answer = await response.json();
        addition.status = response.status;
        if (response.status === 201) addition.id = answer.id;
      } catch {
        // The process is gone.
      }
      if (!goOn(addition)) left = 0;
    }
  });
  await Promise.all(workers);
  return additions;
}

/** The lines of the log, as `deno task log` prints them. */
async function exportLog({ kvPath }: TempStore): Promise<string[]> {
  const { code, stdout, stderr } = await runTask(["log"], { kvPath });
  assertEquals([code, stderr], [0, ""]);
  return stdout.split(/(?<=\n)/).map((line) => line.slice(0, -1));
}

/** Checks the log as anybody outside can: each line names the SHA-256 of the one before. */
function assertSoundLog(lines: string[], count: number): void {
  assertEquals(lines.length, count);
  let hash = GENESIS_HASH;
  let lastPetId = 0;
  for (const [index, line] of lines.entries()) {
    const { previoushash, sequence, type, data } = JSON.parse(line);
    assertEquals(previoushash, hash);
    assertEquals(sequence, String(index + 1).padStart(16, "0"));
    if (type === "PetCreated") assertEquals(data.id, ++lastPetId);
    assertEquals(decodeEvent(line).position, index + 1);
    hash = sha256Hex(line);
  }
}

/** How many commits wrote the log: all that one wrote bears the same versionstamp. */
function countCommits(temp: TempStore): Promise<number> {
  return temp.use(async ({ store }) => {
    const { head } = await readHead(store);
    const versionstamps = new Set<string>();
    for (let from = 1; from <= head.position; from += 1_000) {
      const entries = await store.list(
        { prefix: ["log"], start: ["log", from] },
        { limit: 1_000 },
      );
      for (const { versionstamp } of entries) versionstamps.add(versionstamp);
    }
    return versionstamps.size;
  });
}
