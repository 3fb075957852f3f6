import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import { changeFile } from "../../support/sample_file.ts";
import { rewritten } from "../../support/sample_log.ts";
import { filesIn, ORIGIN, testPublished as test } from "./with_published.ts";

test("publish: publishes what is new; a store and an export give the same files", async (sample) => {
  const { dir, folder, key, lines, publish, run } = sample;
  const more = await run("publish", dir, "--key", key);
  assertEquals([more.code, more.stdout], [0, ""], more.stderr);
  assertStringIncludes(
    more.stderr,
    "Published 10 new events: the published log of log.shop.example/pets has 40 events.",
  );
  const again = await publish(lines, dir);
  assertStringIncludes(
    again.stderr,
    "Nothing is new: the published log of log.shop.example/pets has 40 events",
  );
  await publish(lines, `${folder}/other`, ...ORIGIN);
  const { "/tile/0/000.p/30": _, ...files } = await filesIn(dir);
  assertEquals(await filesIn(`${folder}/other`), files);
  await publish(lines, `${folder}/other`, "--entries");
  assert("/tile/entries/000.p/40" in await filesIn(`${folder}/other`));
});

test("publish: refuses another log and a damaged store with exit 1, a second process with exit 2, and changes nothing", async (sample) => {
  const { dir, key, kvPath, lines, publish, refuses } = sample;
  const files = await filesIn(dir);
  const other = rewritten(lines, 9, lines[9].replace("Zoë", "Zoé"));
  assertEquals(await publish(other, dir), {
    code: 1,
    stdout: "",
    stderr: "error: Line 10 of the log is not the one that was published\n",
  });
  // The head still counts the newest record of the log.
  await changeFile(kvPath, [{ type: "delete", key: logKey(40) }]);
  await refuses(1, "of the log is missing; run deno task audit", "publish", dir, "--key", key);
  assertEquals(await filesIn(dir), files);
  using lock = await Deno.open(dir);
  await lock.lock(true);
  const staged = `${dir}/.staging`;
  await Deno.writeTextFile(staged, "of another process");
  await refuses(2, `Another process publishes in ${dir}`, "publish", dir, "--key", key);
  await Deno.remove(staged);
});

test("publish --new-key: only the owner can read the key, which is not shown", async (sample) => {
  const { dir, key, publish, lines } = sample;
  assertEquals((await Deno.stat(key)).mode! & 0o777, 0o600);
  const pem = await Deno.readTextFile(key);
  assertMatch(pem, /^-----BEGIN PRIVATE KEY-----\n/);
  const secret = pem.split("\n")[1];
  const { stderr, stdout } = await publish(lines, dir);
  const published = Object.values(await filesIn(dir)).join("\n");
  assert(![stderr, stdout, published].join("\n").includes(secret));
  assert(!published.includes(new TextEncoder().encode(secret).toHex()));
});

test("publish: arguments and keys that cannot be used exit 2, and publish nothing", async (sample) => {
  const { dir, folder, key, kvPath, refuses } = sample;
  const [open, broken, link] = ["open.key", "broken.key", "link"].map((it) => `${folder}/${it}`);
  const fresh = `${folder}/new`;
  const storeFolder = dirname(kvPath);
  await Deno.writeTextFile(open, await Deno.readTextFile(key));
  await Deno.chmod(open, 0o644);
  await Deno.writeTextFile(broken, "secret text", { mode: 0o600 });
  await Deno.symlink(storeFolder, link);
  for (
    const [message, ...args] of [
      ["A folder is required"],
      ["--key is required", dir],
      ["--origin is required the first time", fresh, "--key", key],
      ["without its scheme", fresh, "--key", key, "--origin", "https://log.example"],
      ["without its scheme", fresh, "--key", key, "--origin", "a b"],
      ["with another key or origin", dir, "--key", key, "--origin", "elsewhere.example"],
      [`run chmod 600 ${open}`, fresh, "--key", open, ...ORIGIN],
      ["is not an Ed25519 key in PEM", fresh, "--key", broken, ...ORIGIN],
      ["no such file", fresh, "--key", `${folder}/none`, ...ORIGIN],
      ["exists already; a key is never overwritten", "--new-key", key],
      ["must not be in the folder of the store", "--new-key", `${storeFolder}/log.key`],
      ["must not be in the folder of the store", "--new-key", `${link}/log.key`],
      ["must not be in the folder that is published", dir, "--new-key", `${dir}/log.key`],
      ["must not be in the folder that is published", folder, "--key", key, ...ORIGIN],
    ]
  ) {
    const { stderr } = await refuses(2, message, "publish", ...args);
    assert(!stderr.includes("secret text"));
  }
  assertEquals(await Deno.stat(fresh).catch(() => undefined), undefined);
  for (const path of [storeFolder, dir]) {
    assert(!Array.from(Deno.readDirSync(path), ({ name }) => name).includes("log.key"));
  }
});
