import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
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

test("publish: follows a link to the folder, keeps modes, and refuses a link within", async (sample) => {
  const { dir, folder, key, lines, publish, refuses } = sample;
  const [link, elsewhere] = [`${folder}/link`, `${folder}/elsewhere`];
  await Deno.symlink(dir, link);
  await Deno.chmod(`${dir}/checkpoint`, 0o640);
  await publish(lines, link);
  assertEquals(Deno.statSync(`${dir}/checkpoint`).mode! & 0o777, 0o640);
  assert(Deno.lstatSync(link).isSymlink);
  const files = await filesIn(dir);
  await Deno.mkdir(elsewhere);
  await Deno.symlink(elsewhere, `${dir}/tile/entries`);
  await refuses(
    1,
    "tile/entries/000.p/40 is a symbolic link, or behind one",
    "publish",
    dir,
    "--key",
    key,
    "--entries",
  );
  assertEquals(Array.from(Deno.readDirSync(elsewhere)), []);
  await Deno.remove(`${dir}/tile/entries`);
  assertEquals(await filesIn(dir), files);
});

test("publish: names the flag that is missing, and the command that finds the faults of a log", async (sample) => {
  const { dir, folder, lines, publish } = sample;
  const published = await publish(lines, dir, "--entries");
  assertEquals(published.code, 0, published.stderr);
  const without = await publish(lines, dir);
  const flag = "error: The folder has entry bundles, so --entries must add the new ones\n";
  assertEquals([without.code, without.stderr], [2, flag]);
  const unsound = await publish(lines.with(4, "{}"), `${folder}/other`, ...ORIGIN);
  assertEquals(unsound.code, 1);
  assertMatch(unsound.stderr, /^error: Line 5: .*\. Run deno task audit\n$/);
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
      ["--origin is required the first time", fresh, "--key", key],
      ["without its scheme", fresh, "--key", key, "--origin", "https://log.example"],
      ["with another key or origin", dir, "--key", key, "--origin", "elsewhere.example"],
      [`run chmod 600 ${open}`, fresh, "--key", open, ...ORIGIN],
      ["is not an Ed25519 key in PEM", fresh, "--key", broken, ...ORIGIN],
      ["exists already; a key is never overwritten", "--new-key", key],
      ["must not be in the folder of the store", "--new-key", `${link}/log.key`],
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
