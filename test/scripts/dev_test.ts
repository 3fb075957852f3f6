import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { readLines } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** A file that the service imports, to be saved anew without a change. */
const SOURCE = new URL("../../src/encoding/sha256.ts", import.meta.url);

/** How long a start or a reload may take, on a machine that is busy with other tests. */
const RETRY_LIMIT_MS = 60_000;

Deno.test({
  name: "dev: prints a curl line that works, keeps its key over a reload, and ends when told to",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    await using dev = startDev(temp.kvPath);
    const first = await dev.nextBanner();
    assertEquals(await answerTo(first.curl), "[]");
    const now = new Date();
    await Deno.utime(SOURCE, now, now);
    const second = await dev.nextBanner();
    assertEquals(second.token, first.token);
    assertEquals(await answerTo(second.curl), "[]");
    await revokeAllKeys(temp.kvPath);
    await Deno.utime(SOURCE, now, new Date(now.getTime() + 1_000));
    const third = await dev.nextBanner();
    assertNotEquals(third.token, first.token, "a key that was revoked is no development key");
    assertEquals(await answerTo(third.curl), "[]");
    assertEquals(await dev.stop(), 0);
    await temp.use(async ({ heads }) => {
      assertEquals((await heads.fresh()).head.lastPetId, 0);
    });
  },
});

interface Banner {
  address: string;
  token: string;
  curl: string[];
}

/** `deno task dev` on a free port. */
function startDev(kvPath: string) {
  const process = spawnTask(["dev"], { kvPath, env: { PORT: "0", HOST: "127.0.0.1" } });
  const banners: Banner[] = [];
  let next = Promise.withResolvers<void>();
  let banner: Partial<Banner> = {};
  const reading = [
    readLines(process.stdout, (line) => {
      const address = /^Animal Store serves at (http:\S+\/v1)$/.exec(line)?.[1];
      const token = /^Development key: (pets_\S+)$/.exec(line)?.[1];
      const curl = /^ +curl -H '([^']+)' (\S+)$/.exec(line)?.slice(1);
      banner = { ...banner, ...(address && { address }), ...(token && { token }) };
      if (curl === undefined) return;
      banners.push({ ...banner, curl } as Banner);
      banner = {};
      next.resolve();
      next = Promise.withResolvers();
    }),
    readLines(process.stderr, () => {}),
  ];
  const stop = async () => {
    try {
      process.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    const { code } = await process.status;
    await Promise.all(reading);
    return code;
  };
  return {
    async nextBanner(): Promise<Banner> {
      const late = setTimeout(() => next.reject(new Error("dev says nothing")), RETRY_LIMIT_MS);
      while (banners.length === 0) await next.promise;
      clearTimeout(late);
      const { address, token, curl } = banners.shift()!;
      assertMatch(address, /^http:\/\/localhost:\d+\/v1$/);
      assertEquals(curl, [`Authorization: Bearer ${token}`, `${address}/pets`]);
      return { address, token, curl };
    },
    stop,
    async [Symbol.asyncDispose]() {
      await process.stdin.close().catch(() => {});
      await stop();
    },
  };
}

/** What the curl line of a banner would print. */
async function answerTo([header, url]: string[]): Promise<string> {
  const [name, value] = header.split(": ");
  const response = await fetch(url, { headers: { [name]: value } });
  assertEquals(response.status, 200);
  return await response.text();
}

async function revokeAllKeys(kvPath: string): Promise<void> {
  const { stdout } = await runTask(["keys", "list", "--json"], { kvPath });
  const keys: { id: string }[] = JSON.parse(stdout);
  assert(keys.length > 0);
  for (const { id } of keys) await runTask(["keys", "revoke", id], { kvPath });
}
