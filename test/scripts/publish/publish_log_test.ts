import { assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { generateKeyPairSync } from "node:crypto";
import { cp } from "node:fs/promises";
import { leafHash } from "../../../src/eventstore_less/tools/published/merkle_tree.ts";
import { readPublished } from "../../../src/eventstore_less/tools/published/published_folder.ts";
import { PublishedLog } from "../../../src/eventstore_less/tools/published/published_log.ts";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import { ToolError } from "../../../src/eventstore_less/tools/tool_error.ts";
import { encodeVerifierKey } from "../../../src/eventstore_less/tools/published/signed_note.ts";
import { TileBuilder, tilePath } from "../../../src/eventstore_less/tools/published/tile_tree.ts";
import { rewritten, sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { filesIn } from "./with_published.ts";
import { publish, signer } from "./publish_lines.ts";

const encoder = new TextEncoder();
const LOG = sampleLog(1_300);

/** Declares a test with the path of a temporary folder. */
function test(name: string, use: (root: string) => Promise<void>): void {
  testNeeding(permissions("read", "write"))(name, async () => {
    await using temp = await TempStore.make();
    await use(temp.folder);
  });
}

/** Asserts that the folder has exactly the log of these lines. */
function assertPublishes(dir: string, lines: string[], { entries = false } = {}): void {
  const read = readPublished(dir);
  const { size, root } = new PublishedLog(read).checkpoint;
  assertEquals(size, lines.length);
  const leaves = lines.map((line) => leafHash(encoder.encode(line)));
  const builder = new TileBuilder();
  for (const leaf of leaves) builder.push(leaf);
  assertEquals(root.toHex(), builder.root().toHex());
  for (let start = 0; start < size; start += 256) {
    const [index, end] = [start / 256, Math.min(start + 256, size)];
    const tile = read(tilePath(0, index, end - start));
    assertEquals(tile?.toHex(), leaves.slice(start, end).map((leaf) => leaf.toHex()).join(""));
    const bundle = read(tilePath("entries", index, end - start));
    assertEquals(bundle && linesOf(bundle), entries ? lines.slice(start, end) : undefined);
  }
}

function linesOf(bundle: Uint8Array): string[] {
  const lines: string[] = [];
  for (let offset = 0; offset < bundle.length;) {
    const length = bundle[offset] * 256 + bundle[offset + 1];
    lines.push(new TextDecoder().decode(bundle.subarray(offset + 2, offset + 2 + length)));
    offset += 2 + length;
  }
  return lines;
}

test("publishLog() in steps gives the same files as at once, but for older partial tiles", async (root) => {
  const steps = [1, 255, 256, 257, 512, 512, 1_024, 1_300];
  for (const entries of [false, true]) {
    const [dir, whole] = [`${root}/${entries}`, `${root}/${entries}-whole`];
    for (const size of steps) {
      await publish(dir, LOG.slice(0, size), { entries });
      assertPublishes(dir, LOG.slice(0, size), { entries });
    }
    await publish(whole, LOG, { entries });
    const expected = await filesIn(whole);
    const { "/tile/1/000.p/1": _1, "/tile/1/000.p/2": _2, "/tile/1/000.p/4": _4, ...files } =
      await filesIn(dir);
    assertEquals(files, expected);
    const [checkpoint, vkey, ...tiles] = Object.keys(files).sort();
    assertEquals([checkpoint, vkey], ["/checkpoint", "/log.vkey"]);
    const known = /^\/tile\/(0|1|entries)\/00[0-5](\.p\/(5|20))?$/;
    assertEquals(tiles.filter((path) => !known.test(path)), []);
  }
});

test("publishLog() makes entries that are asked for later from the first line on, and then always", async (dir) => {
  await publish(dir, LOG.slice(0, 512));
  await publish(dir, LOG, { entries: true });
  assertPublishes(dir, LOG, { entries: true });
  await assertRejects(() => publish(dir, LOG), ToolError, "so the new entries must be");
});

test("publishLog() keeps a checkpoint that others have cosigned until there are new events", async (dir) => {
  const path = `${dir}/checkpoint`;
  await publish(dir, LOG.slice(0, 300));
  const note = await Deno.readTextFile(path);
  const cosigned = `${note}— witness.example ${btoa("\0".repeat(76))}\n`;
  await Deno.writeTextFile(path, cosigned);
  await publish(dir, LOG.slice(0, 300));
  assertEquals(await Deno.readTextFile(path), cosigned);
  await publish(dir, LOG);
  assertPublishes(dir, LOG);
});

test("publishLog() changes nothing if the log is shorter or another one", async (root) => {
  for (const size of [1, 256, 700]) {
    const dir = `${root}/${size}`;
    await publish(dir, LOG.slice(0, size));
    const before = await filesIn(dir);
    const other = (position: number, length: number) => {
      const line = LOG[position - 1].replace(/"time":"2026/, '"time":"2025');
      return rewritten(LOG.slice(0, length), position - 1, line);
    };
    for (
      const [lines, message] of [
        [LOG.slice(0, size - 1), `The log ends at position ${size - 1}, but the published log has`],
        [[], `The log ends at position 0, but the published log has ${size} event`],
        [other(1, size + 20), "Line 1 of the log is not the one"],
        [other(size, size + 1), `Line ${size} of the log is not the one`],
        // Only the continuation is another one: it does not follow from what was published.
        [
          [...LOG.slice(0, size), ...other(size, size + 20).slice(size)],
          `Line ${size + 1}: its previoushash is not the SHA-256`,
        ],
      ] as const
    ) {
      await assertRejects(() => publish(dir, [...lines]), RefusedError, message);
      assertEquals(await filesIn(dir), before);
    }
    await publish(dir, LOG);
    assertPublishes(dir, LOG);
  }
});

test("publishLog() refuses a log that is not sound, wherever the fault is", async (dir) => {
  for (
    const [lines, message] of [
      [[], "The log has no events"],
      [LOG.slice(1), "Line 1: its sequence says position 2"],
      [LOG.with(400, LOG[400].replace("2026", "2025")), "Line 402: its previoushash is not"],
      [LOG.with(-1, LOG.at(-1)!.slice(0, -5)), "Line 1300: The line is incomplete: its end is"],
      [
        rewritten(LOG, 404, LOG[404].replace(/"actor":"\w+"/, '"actor":"operator"')),
        "Line 405: its actor is the operator, but only a key causes PetUpdated",
      ],
    ] as [string[], string][]
  ) {
    await assertRejects(() => publish(dir, lines), RefusedError, message);
    assertEquals(await filesIn(dir), {});
  }
});

test("publishLog() refuses another key or origin, and a damaged folder", async (root) => {
  const [dir, fork] = [`${root}/log`, `${root}/fork`];
  await publish(dir, LOG.slice(0, 600));
  await publish(fork, sampleLog(600, 1));
  const forked = await Deno.readTextFile(`${fork}/checkpoint`);
  const otherKey = { name: signer.name, privateKey: generateKeyPairSync("ed25519").privateKey };
  for (const by of [otherKey, { ...signer, name: "elsewhere.example" }]) {
    await assertRejects(() => publish(dir, LOG, { signer: by }), Error, "another key or origin");
  }
  const checkpoint = await Deno.readTextFile(`${dir}/checkpoint`);
  const forged = checkpoint.replace("600", "500");
  const anonymous = checkpoint.replace(/^—.*$/m, "— x aGVsbG8=");
  const sound = `${root}/sound`;
  await cp(dir, sound, { recursive: true });
  for (
    const [path, content, message] of [
      ["checkpoint", undefined, "lacks its checkpoint"],
      ["checkpoint", forged, "has a signature by log.shop.example/pets that is not valid"],
      ["checkpoint", anonymous, "is not signed by the key"],
      ["checkpoint", forked, "The published tiles do not have the root"],
      ["tile/0/002.p/88", undefined, "The published folder lacks tile/0/002.p/88"],
      ["tile/0/002.p/88", "short", "tile/0/002.p/88 does not have 88 hashes"],
      ["tile/0/002.p/88", "x".repeat(88 * 32), "Line 513 of the log is not the one"],
    ] as const
  ) {
    if (content === undefined) await Deno.remove(`${dir}/${path}`);
    else await Deno.writeTextFile(`${dir}/${path}`, content);
    const before = await filesIn(dir);
    await assertRejects(() => publish(dir, LOG), RefusedError, message);
    assertEquals(await filesIn(dir), before);
    await cp(sound, dir, { recursive: true });
  }
  // A tile that follows from others is made again.
  await Deno.writeTextFile(`${dir}/tile/1/000.p/2`, "short");
  await publish(dir, LOG.slice(0, 600));
  assertEquals(await filesIn(dir), await filesIn(sound));
});

test("publishLog() that is killed before any of its changes can be run again", async (root) => {
  class Crash extends Error {}
  const entries = true;
  for (const [before, after] of [[0, 300], [511, 800]]) {
    const start = `${root}/${before}`;
    await Deno.mkdir(start);
    if (before > 0) await publish(start, LOG.slice(0, before), { entries });
    for (let changes = 0, isDone = false; !isDone; changes++) {
      const dir = `${start}-${changes}`;
      await cp(start, dir, { recursive: true });
      const rename = Deno.renameSync;
      let left = changes;
      const killed = stub(Deno, "renameSync", (...args) => {
        if (left-- === 0) throw new Crash();
        rename(...args);
      });
      try {
        await publish(dir, LOG.slice(0, after), { entries });
        isDone = true;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      } finally {
        killed.restore();
      }
      const read = readPublished(dir);
      if (read("checkpoint") !== undefined) {
        await Deno.writeTextFile(`${dir}/log.vkey`, encodeVerifierKey(signer));
        assertPublishes(dir, LOG.slice(0, new PublishedLog(read).checkpoint.size), { entries });
      } else assertEquals(before, 0);
      await publish(dir, LOG.slice(0, after), { entries });
      assertPublishes(dir, LOG.slice(0, after), { entries });
    }
  }
});
