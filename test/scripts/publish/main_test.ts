import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { decodeVerifierKey } from "../../../scripts/publish/signed_note.ts";
import { permitted } from "../../support/permitted.ts";
import { runTask } from "../../support/run_task.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { Witness, witnessKey } from "./witness.ts";

const ignore = !permitted("run", "read", "write", "env", "net");

const ORIGIN = ["--origin", "log.shop.example/pets"];

/** A store with the sample log, a key and a folder to publish in, which are apart from each other. */
async function withSample(length: number, use: (sample: Sample) => Promise<void>): Promise<void> {
  await using temp = await TempStore.make();
  const sample = new Sample(temp.folder, sampleLog(length, { since: Date.now() }));
  await sample.restore();
  assertEquals((await sample.run("publish", "--new-key", sample.key)).code, 0);
  await use(sample);
}

class Sample {
  readonly kvPath: string;
  readonly key: string;
  readonly dir: string;

  constructor(readonly folder: string, readonly lines: string[]) {
    this.kvPath = `${folder}/store/pets.sqlite3`;
    this.key = `${folder}/log.key`;
    this.dir = `${folder}/published`;
  }

  run(...args: string[]) {
    return runTask(args, { kvPath: this.kvPath });
  }

  publish(...args: string[]) {
    return this.run("publish", this.dir, "--key", this.key, ...args);
  }

  /** Restores the first lines of the log into a new store at that path. */
  async restore(kvPath = this.kvPath, lines = this.lines): Promise<void> {
    await Deno.mkdir(dirname(kvPath), { recursive: true });
    const { code, stderr } = await runTask(["restore", "-"], {
      kvPath,
      stdin: linesToBytes(lines),
    });
    assertEquals(code, 0, stderr);
  }

  /** Writes an export of these lines. */
  async export(lines: string[]): Promise<string> {
    const path = `${this.folder}/export.jsonl`;
    await Deno.writeFile(path, linesToBytes(lines));
    return path;
  }
}

/** The contents of all files below a folder, by their paths. */
async function filesIn(folder: string, below = ""): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}${below}`)) {
    const path = `${below}/${name}`;
    if (isDirectory) Object.assign(files, await filesIn(folder, path));
    else files[path] = (await Deno.readFile(`${folder}${path}`)).toHex();
  }
  return files;
}

Deno.test({
  name: "publish: publishes what is new; a restored store and an export give the same files",
  ignore,
  fn: () =>
    withSample(300, async (sample) => {
      const { folder, dir, key, lines } = sample;
      const first = await sample.publish(...ORIGIN, "--entries");
      assertEquals([first.code, first.stdout], [0, ""], first.stderr);
      assertStringIncludes(first.stderr, "Published 300 new events, 300 in all, as log.shop.");
      const files = await filesIn(dir);
      assertEquals(Object.keys(files).sort(), [
        "/checkpoint",
        "/log.vkey",
        "/tile/0/000",
        "/tile/0/001.p/44",
        "/tile/1/000.p/1",
        "/tile/entries/000",
        "/tile/entries/001.p/44",
      ]);
      const again = await sample.publish("--entries");
      assertEquals(again.code, 0);
      assertStringIncludes(again.stderr, "Nothing is new: 300 events are published");
      assertEquals(await filesIn(dir), files);

      const copyPath = `${folder}/copy/pets.sqlite3`;
      await sample.restore(copyPath, lines);
      const args = ["--key", key, ...ORIGIN, "--entries"];
      const ofCopy = await runTask(["publish", `${folder}/of-copy`, ...args], { kvPath: copyPath });
      assertEquals(ofCopy.code, 0, ofCopy.stderr);
      assertEquals(await filesIn(`${folder}/of-copy`), files);
      const source = ["--from-file", await sample.export(lines)];
      const ofFile = await sample.run("publish", `${folder}/of-file`, ...args, ...source);
      assertEquals(ofFile.code, 0, ofFile.stderr);
      assertEquals(await filesIn(`${folder}/of-file`), files);
    }),
});

Deno.test({
  name: "publish: refuses a shorter and another log with exit 1 and one line, and changes nothing",
  ignore,
  fn: () =>
    withSample(512, async (sample) => {
      const { dir, lines } = sample;
      assertEquals((await sample.publish(...ORIGIN)).code, 0);
      const files = await filesIn(dir);
      const other = rewritten(lines, 9, lines[9].replace("Zoë", "Zoé"));
      for (
        const [log, line] of [
          [lines.slice(0, 511), "The log ends before position 512, up to which it was published"],
          [other, "Line 257 of the log is not the one that was published"],
          [[], "The log ends before position 512, up to which it was published"],
        ] as const
      ) {
        const outcome = await sample.publish("--from-file", await sample.export([...log]));
        assertEquals(outcome, { code: 1, stdout: "", stderr: `error: ${line}\n` });
        assertEquals(await filesIn(dir), files);
      }
      // A store without its newest record, which the head still counts.
      const kv = await Deno.openKv(sample.kvPath);
      for await (const { key } of kv.list({ prefix: ["~log"] }, { limit: 1, reverse: true })) {
        await kv.delete(key);
      }
      kv.close();
      const damaged = await sample.publish();
      assertEquals([damaged.code, damaged.stdout], [1, ""]);
      assertMatch(
        damaged.stderr,
        /^error: Position \d+ of the log is missing; run deno task audit\n$/,
      );
      assertEquals(await filesIn(dir), files);
    }),
});

Deno.test({
  name: "publish: refuses a store file that was copied without its -wal",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const copy = `${temp.folder}/copy`;
    await Deno.mkdir(copy);
    const sample = new Sample(temp.folder, []);
    await Deno.mkdir(`${temp.folder}/store`);
    assertEquals((await sample.run("keys", "issue", "--label", "first")).code, 0);
    const published = await sample.run("publish", "--new-key", sample.key);
    assertEquals(published.code, 0);
    // While a process has the store open, its newest commits are only in the -wal file.
    const kv = await Deno.openKv(sample.kvPath);
    try {
      assertEquals((await sample.run("keys", "issue", "--label", "second")).code, 0);
      assert((await Deno.stat(`${sample.kvPath}-wal`)).size > 0);
      assertEquals((await sample.publish(...ORIGIN)).code, 0);
      await Deno.copyFile(sample.kvPath, `${copy}/pets.sqlite3`);
    } finally {
      kv.close();
    }
    const args = ["publish", sample.dir, "--key", sample.key];
    const audit = await runTask(["audit"], { kvPath: `${copy}/pets.sqlite3` });
    assertEquals(audit.code, 0, "an audit finds the copy sound");
    const outcome = await runTask(args, { kvPath: `${copy}/pets.sqlite3` });
    assertEquals(outcome, {
      code: 1,
      stdout: "",
      stderr: "error: The log ends before position 2, up to which it was published\n",
    });
    const compared = await runTask(["audit", "--published", sample.dir], {
      kvPath: `${copy}/pets.sqlite3`,
    });
    assertEquals(compared.code, 1);
    assertStringIncludes(
      compared.stdout,
      "The log ends at position 1, but 2 events were published",
    );
  },
});

Deno.test({
  name:
    "publish --new-key: only the owner can read the key, which is neither shown nor overwritten",
  ignore,
  fn: () =>
    withSample(3, async (sample) => {
      const { folder, key } = sample;
      const { mode } = await Deno.stat(key);
      assertEquals(mode! & 0o777, 0o600);
      const pem = await Deno.readTextFile(key);
      assertMatch(pem, /^-----BEGIN PRIVATE KEY-----\n/);
      await Deno.mkdir(`${folder}/published/keys`, { recursive: true });
      await Deno.symlink(`${folder}/store`, `${folder}/link`);
      for (
        const [args, message] of [
          [["--new-key", key], "exists already; a key is never overwritten"],
          [["--new-key", `${folder}/store/log.key`], "must not be in the folder of the store"],
          [["--new-key", `${folder}/link/log.key`], "must not be in the folder of the store"],
          [[sample.dir, "--new-key", `${sample.dir}/keys/k`], "must not be in the folder that is"],
          [[folder, "--key", key, ...ORIGIN], "must not be in the folder that is published"],
        ] as const
      ) {
        const outcome = await sample.run("publish", ...args);
        assertEquals([outcome.code, outcome.stdout], [2, ""]);
        assertMatch(outcome.stderr, /^error: [^\n]+\n$/);
        assertStringIncludes(outcome.stderr, message);
      }
      assertEquals(Array.from(Deno.readDirSync(`${folder}/store`), ({ name }) => name).sort(), [
        "pets.sqlite3",
      ]);
      const secret = pem.split("\n")[1];
      const { stderr, stdout } = await sample.publish(...ORIGIN);
      assert(!(stderr + stdout).includes(secret));
      for (const content of Object.values(await filesIn(sample.dir))) {
        assert(!content.includes(new TextEncoder().encode(secret).toHex()));
      }
    }),
});

Deno.test({
  name: "publish: arguments and keys that cannot be used exit 2 with one line, and publish nothing",
  ignore,
  fn: () =>
    withSample(3, async (sample) => {
      const { folder, key, dir } = sample;
      const [open, broken] = [`${folder}/open.key`, `${folder}/broken.key`];
      await Deno.writeTextFile(open, await Deno.readTextFile(key), { mode: 0o644 });
      await Deno.chmod(open, 0o644);
      await Deno.writeTextFile(broken, "secret text", { mode: 0o600 });
      for (
        const [args, message] of [
          [[], "A folder is required"],
          [[dir], "--key is required"],
          [[dir, "--key", key], "--origin is required the first time"],
          [[dir, "--key", key, "--origin", "https://log.example"], "without its scheme"],
          [[dir, "--key", key, "--origin", "a b"], "without its scheme"],
          [[dir, "--key", open, ...ORIGIN], `run chmod 600 ${open}`],
          [[dir, "--key", broken, ...ORIGIN], "is not an Ed25519 key in PEM"],
          [[dir, "--key", `${folder}/none`, ...ORIGIN], "No such file"],
          [[dir, "--key", key, ...ORIGIN, "--witness", "w.example"], "--witness takes an http(s)"],
          [[dir, "--key", key, ...ORIGIN, "--witness", "http://.."], "--witness takes an http(s)"],
          [[dir, "--key", key, ...ORIGIN, "--witness-vkey", "w"], "is not the vkey"],
          [[dir, "extra", "--key", key], 'Unexpected argument "extra"'],
        ] as const
      ) {
        const outcome = await sample.run("publish", ...args);
        assertEquals([outcome.code, outcome.stdout], [2, ""], outcome.stderr);
        assertMatch(outcome.stderr, /^error: [^\n]+\n$/);
        assertStringIncludes(outcome.stderr, message);
        assert(!outcome.stderr.includes("secret text"));
      }
      const left = await Deno.stat(dir).catch(() => undefined);
      assertEquals(left, undefined);
    }),
});

Deno.test({
  name: "publish --witness: keeps the cosignature; if the witness refuses, nothing is published",
  ignore,
  fn: () =>
    withSample(300, async (sample) => {
      const { dir, lines } = sample;
      await using witness = new Witness();
      const upTo = async (count: number, ...args: string[]) =>
        await sample.publish(
          "--witness",
          witness.address,
          "--from-file",
          await sample.export(lines.slice(0, count)),
          ...args,
        );
      const unknown = await upTo(100, ...ORIGIN);
      assertEquals(unknown.code, 1);
      assertStringIncludes(unknown.stderr, "with status 404 (it does not know the origin)");
      assertEquals(await filesIn(dir), {});

      assertEquals(
        (await sample.publish(...ORIGIN, "--from-file", await sample.export(lines.slice(0, 90))))
          .code,
        0,
      );
      witness.log = decodeVerifierKey(await Deno.readTextFile(`${dir}/log.vkey`));
      witness.requests.length = 0;
      for (const count of [100, 256, 256, 300]) {
        const outcome = await upTo(count, "--witness-vkey", witness.key.vkey);
        assertEquals(outcome.code, 0, outcome.stderr);
        assertEquals(witness.latest?.size, count);
        const [, signatures] = (await Deno.readTextFile(`${dir}/checkpoint`)).split("\n\n");
        assertEquals(
          signatures.trim().split("\n").map((line) => line.split(" ")[1]),
          ["log.shop.example/pets", "witness.example/w1"],
        );
      }
      // It had not seen the first checkpoint, and says so.
      assertEquals(witness.requests.slice(0, 2), [[90, 409], [0, 200]]);
      assertEquals(witness.requests.slice(2), [[100, 200], [256, 200], [256, 200]]);

      const files = await filesIn(dir);
      const refused = async (message: string, ...args: string[]) => {
        const outcome = await upTo(300, ...args);
        assertEquals(outcome.code, 1);
        assertMatch(outcome.stderr.split("\n").at(-2)!, /^error: /);
        assertStringIncludes(outcome.stderr, message);
        assertEquals(await filesIn(dir), files);
      };
      const { vkey: otherVkey } = witnessKey("witness.example/w2");
      await refused("gives no cosignature that can be used", "--witness-vkey", otherVkey);
      const { cosign } = witness.key;
      for (
        const change of [(bytes: Uint8Array) => bytes.slice(1), (it: Uint8Array) => [...it, 0]]
      ) {
        witness.key.cosign = (text, time) => {
          const [dash, name, signature] = cosign(text, time).split(" ");
          const bytes = new Uint8Array(change(Uint8Array.fromBase64(signature)));
          return `${dash} ${name} ${bytes.toBase64()}`;
        };
        await refused("gives no cosignature that can be used");
      }
      witness.key.cosign = cosign;
      const { latest } = witness;
      witness.latest = { ...latest!, root: new Uint8Array(32) };
      await refused("with status 422 (the log does not extend what it has cosigned)");
      witness.latest = { ...latest!, size: 1_000 };
      await refused("has cosigned 1000 events, but the log has 300");
    }),
});
