import { assert, assertEquals, assertRejects } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import { leafHash } from "../../../scripts/publish/merkle_tree.ts";
import {
  type PublishedFile,
  type PublishFolder,
  publishLog,
  type PublishOptions,
} from "../../../scripts/publish/publish_log.ts";
import { PublishedLog } from "../../../scripts/publish/published_log.ts";
import { RefusedError } from "../../../scripts/publish/refused_error.ts";
import { encodeVerifierKey } from "../../../scripts/publish/signed_note.ts";
import { TileBuilder, tilePath, widthOf } from "../../../scripts/publish/tile_tree.ts";
import { rewritten, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const ORIGIN = "log.shop.example/pets";
const signer = { name: ORIGIN, privateKey: generateKeyPairSync("ed25519").privateKey };
const LOG = sampleLog(1_300);

/** A crash before one of the changes of a {@linkcode MemoryFolder}. */
class Crash extends Error {}

/** A published folder in memory. It can crash before each of its changes, one file at a time. */
class MemoryFolder implements PublishFolder {
  readonly files = new Map<string, Uint8Array>();
  #staged = new Map<string, Uint8Array>();
  /** Number of changes to make before the crash. */
  changesLeft = Infinity;

  /** A copy of the published files, without those that are staged. */
  copy(): MemoryFolder {
    const folder = new MemoryFolder();
    for (const [path, content] of this.files) folder.files.set(path, content);
    return folder;
  }

  read = (path: string) => this.#staged.get(path) ?? this.files.get(path);

  text(path: string): string {
    return new TextDecoder().decode(this.files.get(path));
  }

  // deno-lint-ignore require-await
  async stage(files: PublishedFile[]): Promise<void> {
    for (const { path, content } of files) this.#staged.set(path, content);
  }

  // deno-lint-ignore require-await
  async publishStaged(): Promise<void> {
    for (const [path, content] of this.#staged) {
      this.#change();
      this.files.set(path, content);
    }
    this.#staged.clear();
  }

  // deno-lint-ignore require-await
  async removeFolder(folder: string): Promise<void> {
    for (const path of [...this.files.keys()]) {
      if (!path.startsWith(`${folder}/`)) continue;
      this.#change();
      this.files.delete(path);
    }
  }

  #change(): void {
    if (this.changesLeft-- <= 0) throw new Crash("The process was killed");
  }
}

/** Publishes a log of these lines. Resolves to the positions of the first lines that were read. */
async function publish(
  folder: MemoryFolder,
  lines: string[],
  options: Partial<PublishOptions> = {},
  by = signer,
): Promise<number> {
  let first = 0;
  const readLines = async function* (from: number) {
    first = from;
    for (let start = from - 1; start < lines.length; start += 100) {
      yield await Promise.resolve(lines.slice(start, start + 100).map((it) => encoder.encode(it)));
    }
  };
  await publishLog({ folder, readLines, signer: by, entries: false, ...options });
  return first;
}

/** Asserts that the folder has exactly the log of these lines. */
function assertPublishes(folder: MemoryFolder, lines: string[], { entries = false } = {}): void {
  const { size, root } = new PublishedLog(folder.read).checkpoint;
  assertEquals(size, lines.length);
  const leaves = lines.map((line) => leafHash(encoder.encode(line)));
  const builder = new TileBuilder();
  for (const leaf of leaves) builder.push(leaf);
  assertEquals(root.toHex(), builder.root().toHex());
  for (let index = 0; index * 256 < size; index++) {
    const width = widthOf(0, index, size);
    const [start, end] = [index * 256, index * 256 + width];
    const tile = folder.files.get(tilePath(0, index, width));
    assertEquals(tile?.toHex(), leaves.slice(start, end).map((leaf) => leaf.toHex()).join(""));
    const bundle = folder.files.get(tilePath("entries", index, width));
    if (entries) assertEquals(bundle && linesOf(bundle), lines.slice(start, end));
    else assertEquals(bundle, undefined);
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

Deno.test("publishLog() in steps gives the same files as at once, but for older partial tiles", async () => {
  const steps = [1, 255, 256, 257, 511, 512, 512, 700, 1_024, 1_300];
  for (const entries of [false, true]) {
    const folder = new MemoryFolder();
    for (const size of steps) {
      await publish(folder, LOG.slice(0, size), { entries });
      assertPublishes(folder, LOG.slice(0, size), { entries });
    }
    const whole = new MemoryFolder();
    await publish(whole, LOG, { entries });
    for (const [path, content] of whole.files) assertEquals(folder.files.get(path), content, path);
    const older = [...folder.files.keys()].filter((path) => !whole.files.has(path)).sort();
    assertEquals(older, ["tile/1/000.p/1", "tile/1/000.p/2", "tile/1/000.p/4"]);
  }
});

Deno.test("publishLog() reads only the last published tile and what is new", async () => {
  const folder = new MemoryFolder();
  assertEquals(await publish(folder, LOG.slice(0, 300)), 1);
  assertEquals(await publish(folder, LOG.slice(0, 512)), 257);
  assertEquals(await publish(folder, LOG.slice(0, 512)), 257);
  assertEquals(await publish(folder, LOG), 257);
  assertEquals(await publish(folder, LOG), 1_281);
  // Entries that are asked for later are made from the first line on.
  assertEquals(await publish(folder, LOG, { entries: true }), 1);
  assertPublishes(folder, LOG, { entries: true });
  await assertRejects(() => publish(folder, LOG), Error, "--entries must add those");
});

Deno.test("publishLog() changes nothing if the log is shorter or another one", async () => {
  for (const size of [1, 200, 256, 257, 512, 700, 768]) {
    const folder = new MemoryFolder();
    await publish(folder, LOG.slice(0, size));
    const before = new Map(folder.files);
    const other = (position: number, length: number) => {
      const line = LOG[position - 1].replace(/"time":"2026/, '"time":"2025');
      return rewritten(LOG.slice(0, length), position - 1, line);
    };
    const refused = async (lines: string[], message: string) => {
      const error = await assertRejects(() => publish(folder, lines), RefusedError);
      assert(error.message.includes(message), `${size}: ${error.message}`);
      assertEquals(folder.files, before);
    };
    const last = Math.floor((size - 1) / 256) * 256 + 1;
    await refused(LOG.slice(0, size - 1), `The log ends before position ${size}`);
    await refused([], `The log ends before position ${size}`);
    await refused(other(1, size), `Line ${last} of the log is not the one`);
    await refused(other(1, size + 20), `Line ${last} of the log is not the one`);
    await refused(other(size, size + 1), `Line ${size} of the log is not the one`);
    // Only the continuation is another one: it does not follow from what was published.
    await refused(
      [...LOG.slice(0, size), ...other(size, size + 20).slice(size)],
      `Line ${size + 1} does not follow from line ${size}`,
    );
    await publish(folder, LOG);
    assertPublishes(folder, LOG);
  }
});

Deno.test("publishLog() refuses a log that was cut, altered or does not begin with line 1", async () => {
  for (
    const [lines, message] of [
      [[], "The log has no events"],
      [LOG.slice(1), "does not begin with the first line"],
      [LOG.toSpliced(400, 1), "Line 401 does not follow from line 400"],
      [LOG.with(400, LOG[400].replace("2026", "2025")), "Line 402 does not follow from line 401"],
      [LOG.with(-1, LOG.at(-1)!.slice(0, -5)), "Line 1300, the last one, is not sound"],
      [LOG.with(9, "x".repeat(65_536)), "Line 10 is longer than 65535 bytes"],
    ] as [string[], string][]
  ) {
    const folder = new MemoryFolder();
    await assertRejects(() => publish(folder, lines), RefusedError, message);
    assertEquals(folder.files.size, 0);
  }
});

Deno.test("publishLog() refuses another key or origin, and a damaged folder", async () => {
  const published = new MemoryFolder();
  await publish(published, LOG.slice(0, 600));
  const more = (folder: MemoryFolder, by = signer) => publish(folder, LOG, {}, by);
  const otherKey = { name: ORIGIN, privateKey: generateKeyPairSync("ed25519").privateKey };
  await assertRejects(() => more(published.copy(), otherKey), Error, "another key or origin");
  const otherOrigin = { ...signer, name: "elsewhere.example" };
  await assertRejects(() => more(published.copy(), otherOrigin), Error, "another key or origin");
  const checkpoint = published.text("checkpoint");
  for (
    const [path, content, message] of [
      ["checkpoint", undefined, "its checkpoint is missing"],
      [
        "checkpoint",
        checkpoint.replace("600", "500"),
        "signature by log.shop.example/pets that is not valid",
      ],
      ["checkpoint", checkpoint.split("\n—")[0], "The published checkpoint is not a signed note"],
      ["checkpoint", checkpoint.replace(/^—.*$/m, "— x aGVsbG8="), "is not signed by the key"],
      ["tile/1/000.p/2", undefined, "The published folder lacks tile/1/000.p/2"],
      ["tile/1/000.p/2", "short", "tile/1/000.p/2 does not have 2 hashes"],
      ["tile/1/000.p/2", "x".repeat(64), "The published tiles do not have the root"],
    ] as const
  ) {
    const folder = published.copy();
    if (content === undefined) folder.files.delete(path);
    else folder.files.set(path, encoder.encode(content));
    const before = new Map(folder.files);
    await assertRejects(() => more(folder), RefusedError, message);
    assertEquals(folder.files, before);
  }
});

Deno.test("publishLog() that is killed before any of its changes can be run again", async () => {
  for (const [before, after] of [[0, 300], [200, 300], [256, 700], [511, 1_300]]) {
    const start = new MemoryFolder();
    if (before > 0) await publish(start, LOG.slice(0, before), { entries: true });
    for (let changes = 0;; changes++) {
      const folder = start.copy();
      folder.changesLeft = changes;
      try {
        await publish(folder, LOG.slice(0, after), { entries: true });
        assert(changes > 3);
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      const left = folder.copy();
      if (left.files.has("checkpoint")) {
        left.files.set("log.vkey", encoder.encode(encodeVerifierKey(signer)));
        const { size } = new PublishedLog(left.read);
        assertPublishes(left, LOG.slice(0, size), { entries: true });
      } else assertEquals(before, 0);
      const again = folder.copy();
      await publish(again, LOG.slice(0, after), { entries: true });
      assertPublishes(again, LOG.slice(0, after), { entries: true });
    }
  }
});

Deno.test("publishLog() publishes nothing if it is not cosigned", async () => {
  const folder = new MemoryFolder();
  await publish(folder, LOG.slice(0, 300));
  const before = new Map(folder.files);
  const cosign = () => Promise.reject(new RefusedError("The witness refuses"));
  await assertRejects(() => publish(folder, LOG, { cosign }), RefusedError);
  assertEquals(folder.files, before);
  // The staged tree proves what a witness asks for.
  await publish(folder, LOG, {
    cosign: (checkpoint, tree, previousSize) => {
      assertEquals([checkpoint.size, previousSize], [1_300, 300]);
      assertEquals(tree.root().toHex(), checkpoint.root.toHex());
      return Promise.resolve({
        ...checkpoint,
        note: `${checkpoint.note}— w.example aGVsbG8gd29ybGQ=\n`,
      });
    },
  });
  assertPublishes(folder, LOG);
  assert(folder.text("checkpoint").endsWith("— w.example aGVsbG8gd29ybGQ=\n"));
});
