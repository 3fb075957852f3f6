import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { permitted } from "../../support/permitted.ts";
import { runTask, spawnTask } from "../../support/run_task.ts";
import { readLines } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** A module of the service, relative to the project. */
const SOURCE = "src/encoding/sha256.ts";

/** Maximum duration of a start, a restart or a type check on a machine that is busy with other tests. */
const WAIT_LIMIT_MS = 60_000;

Deno.test({
  name: "dev prints a curl line that works, keeps its key over a restart, and ends when told to",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      await using dev = startDev(project, temp.kvPath);
      const first = await dev.nextBanner();
      assertEquals(await answerTo(first.curl), "[]");
      await edit(project, (source) => `${source}\n`);
      const second = await dev.nextBanner();
      assertEquals(second.token, first.token);
      assertEquals(await answerTo(second.curl), "[]");
      await revokeAllKeys(temp.kvPath);
      await edit(project, (source) => `${source}\n`);
      const third = await dev.nextBanner();
      assertNotEquals(third.token, first.token, "a revoked key is not a development key");
      assertEquals(await answerTo(third.curl), "[]");
      assertEquals(await dev.stop(), 0);
      await temp.use(async ({ heads }) => {
        assertEquals((await heads.fresh()).head.lastPetId, 0);
      });
    }),
});

Deno.test({
  name:
    "dev prints the same key in every run on a store, in two runs at once, and keeps it private",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      const banners = [];
      {
        await using one = startDev(project, temp.kvPath);
        await using other = startDev(project, temp.kvPath);
        banners.push(...await Promise.all([one.nextBanner(), other.nextBanner()]));
        assertNotEquals(banners[0].address, banners[1].address);
        for (const { curl } of banners) assertEquals(await answerTo(curl), "[]");
      }
      await using later = startDev(project, temp.kvPath);
      banners.push(await later.nextBanner());
      assertEquals(await answerTo(banners[2].curl), "[]");
      const tokens = new Set(banners.map(({ token }) => token));
      assertEquals(tokens.size, 1);
      assertEquals((await listApiKeys(temp.kvPath)).length, 1);
      const file = `${temp.kvPath}.dev_key`;
      assertEquals(await Deno.readTextFile(file), `${banners[0].token}\n`);
      if (Deno.build.os !== "windows") assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    }),
});

Deno.test({
  name: "dev serves a store in memory with a key that works",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using dev = startDev(project, ":memory:");
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
      await edit(project, (source) => `${source}\n`);
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
    }),
});

Deno.test({
  name:
    "dev listens on loopback, and ends with one line if the port is in use and if its store is of another program",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const { port } = listener.addr;
      const env = { PORT: String(port), HOST: "" };
      assertEquals(await runTask(["dev"], { kvPath: temp.kvPath, project, env }), {
        code: 2,
        stdout: "",
        stderr: `error: Cannot listen on 127.0.0.1:${port} (HOST, PORT): ` +
          "the port is in use; set PORT to another\n",
      });
      const options = { kvPath: temp.folder, project, env: { ...env, PORT: "0" } };
      assertEquals(await runTask(["dev"], options), {
        code: 2,
        stdout: "",
        stderr: `error: Cannot open the store ${temp.folder} (KV_PATH): it is a folder\n`,
      });
    }),
});

Deno.test({
  name: "dev reports type errors at the start and after a change, and serves meanwhile",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      const mistake = 'export const wrong: number = "text";\n';
      await edit(project, (source) => source + mistake);
      await using dev = startDev(project, temp.kvPath);
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
      await dev.nextError(/TS2322/);
      await dev.nextError(/^The type check failed; it runs again after the next change$/);
      await edit(project, (source) => source.replace(mistake, ""));
      await dev.nextError(/^The type check passes again$/);
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
      await edit(project, (source) => source + mistake);
      await dev.nextError(/TS2322/);
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
    }),
});

Deno.test({
  name: "dev waits for the next change if the source cannot run",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      await using dev = startDev(project, temp.kvPath);
      await dev.nextBanner();
      const mistake = "export const = ;\n";
      await edit(project, (source) => source + mistake);
      await dev.nextError(/^The service has ended; it starts again after the next change$/);
      await edit(project, (source) => source.replace(mistake, ""));
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
      assertEquals(await dev.stop(), 0);
    }),
});

Deno.test({
  name: "dev ends a service that hangs, and starts it again after the next change",
  ignore,
  fn: () =>
    withProjectCopy(async (project) => {
      await using temp = await TempStore.make();
      await using dev = startDev(project, temp.kvPath);
      await dev.nextBanner();
      const mistake = "setTimeout(() => { while (true); }, 1_000);\n";
      await edit(project, (source) => source + mistake);
      await dev.nextBanner();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await edit(project, (source) => source.replace(mistake, ""));
      assertEquals(await answerTo((await dev.nextBanner()).curl), "[]");
    }),
});

interface Banner {
  address: string;
  token: string;
  curl: string[];
}

/** Runs `deno task dev` on a free port. */
function startDev(project: string, kvPath: string) {
  const env = { PORT: "0", HOST: "" };
  const process = spawnTask(["dev"], { kvPath, project, env });
  const banners = new Inbox<Banner>();
  const errors = new Inbox<string>();
  let banner: Partial<Banner> = {};
  const reading = [
    readLines(process.stdout, (line) => {
      const address = /^Animal Store serves at (http:\S+\/v1)$/.exec(line)?.[1];
      const token = /^Development key: (pets_\S+)$/.exec(line)?.[1];
      const curl = /^ +curl -H '([^']+)' (\S+)$/.exec(line)?.slice(1);
      banner = { ...banner, ...(address && { address }), ...(token && { token }) };
      if (curl === undefined) return;
      banners.put({ ...banner, curl } as Banner);
      banner = {};
    }),
    readLines(process.stderr, (line) => errors.put(line)),
  ];
  Promise.all(reading).then(() => [banners, errors].forEach((it) => it.close()));
  const stop = async () => {
    try {
      process.kill("SIGTERM");
    } catch {
      // It has already exited.
    }
    const { code } = await process.status;
    await Promise.all(reading);
    return code;
  };
  return {
    async nextBanner(): Promise<Banner> {
      const { address, token, curl } = await banners.take();
      assertMatch(address, /^http:\/\/localhost:\d+\/v1$/);
      assertEquals(curl, [`Authorization: Bearer ${token}`, `${address}/pets`]);
      return { address, token, curl };
    },
    /** Skips lines of standard error until one that matches. */
    async nextError(pattern: RegExp): Promise<void> {
      while (!pattern.test(await errors.take()));
    },
    stop,
    async [Symbol.asyncDispose]() {
      await process.stdin.close().catch(() => {});
      await stop();
    },
  };
}

/** A queue whose reader waits for the next item. */
class Inbox<Item> {
  #items: Item[] = [];
  #isClosed = false;
  #arrived = Promise.withResolvers<void>();

  put(item: Item): void {
    this.#items.push(item);
    this.#arrived.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#arrived.resolve();
  }

  async take(): Promise<Item> {
    if (this.#items.length === 0 && !this.#isClosed) {
      this.#arrived = Promise.withResolvers();
      const { promise, resolve } = this.#arrived;
      const late = setTimeout(resolve, WAIT_LIMIT_MS);
      await promise;
      clearTimeout(late);
    }
    if (this.#items.length === 0) throw new Error("dev prints nothing more");
    return this.#items.shift()!;
  }
}

/** Returns the output of the curl line of a banner. */
async function answerTo([header, url]: string[]): Promise<string> {
  const [name, value] = header.split(": ");
  const response = await fetch(url, { headers: { [name]: value } });
  assertEquals(response.status, 200);
  return await response.text();
}

async function edit(project: string, change: (source: string) => string): Promise<void> {
  const path = `${project}/${SOURCE}`;
  await Deno.writeTextFile(path, change(await Deno.readTextFile(path)));
}

async function listApiKeys(kvPath: string): Promise<{ id: string }[]> {
  return JSON.parse((await runTask(["keys", "list", "--json"], { kvPath })).stdout);
}

async function revokeAllKeys(kvPath: string): Promise<void> {
  const keys = await listApiKeys(kvPath);
  assert(keys.length > 0);
  for (const { id } of keys) await runTask(["keys", "revoke", id], { kvPath });
}
