import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { permitted } from "../../support/permitted.ts";
import { runTask } from "../../support/run_task.ts";
import { withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes, rewritten } from "../../support/sample_log.ts";

const ignore = !permitted("run", "read", "write", "env", "net");

/** Calls `use` with a store of 40 events, the first 30 of which are published. */
function withPublished(
  use: (parts: {
    kvPath: string;
    folder: string;
    dir: string;
    lines: string[];
    run: (...args: string[]) => ReturnType<typeof runTask>;
    publish: (lines: string[], dir: string) => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  return withSampleFile(async ({ kvPath, lines }) => {
    const folder = await Deno.makeTempDir();
    const run = (...args: string[]) => runTask(args, { kvPath });
    const key = `${folder}/log.key`;
    const publish = async (some: string[], dir: string) => {
      const path = `${folder}/export.jsonl`;
      await Deno.writeFile(path, linesToBytes(some));
      const args = ["--key", key, "--origin", "log.example", "--from-file", path];
      const { code, stderr } = await run("publish", dir, ...args);
      assertEquals(code, 0, stderr);
    };
    try {
      assertEquals((await run("publish", "--new-key", key)).code, 0);
      const dir = `${folder}/published`;
      await publish(lines.slice(0, 30), dir);
      await use({ kvPath, folder, dir, lines, run, publish });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test({
  name: "prove: prints a proof of a pet, a key and a position, and writes exactly the line",
  ignore,
  fn: () =>
    withPublished(async ({ folder, dir, lines, run }) => {
      const checkpoint = await Deno.readTextFile(`${dir}/checkpoint`);
      const path = `${folder}/line`;
      const subjects: [what: string, index: number][] = lines.slice(0, 30)
        .map((line) => JSON.parse(line).subject)
        .map((subject, index) => [subject, index]);
      for (const [what, index] of [subjects[1], subjects[25], subjects[20], ["12", 11] as const]) {
        const { code, stdout, stderr } = await run(
          "prove",
          what,
          "--published",
          dir,
          "--line",
          path,
        );
        assertEquals([what, code], [what, 0], stderr);
        assertMatch(stdout, /^c2sp\.org\/tlog-proof@v1\nindex \d+\n([0-9A-Za-z+/]{43}=\n){3,5}\n/);
        assertStringIncludes(stdout, `\nindex ${index}\n`);
        assertEquals(stdout.slice(stdout.indexOf("\n\n") + 2), checkpoint);
        assertEquals(await Deno.readTextFile(path), lines[index]);
        assertMatch(
          stderr,
          /^Proved line \d+ \(\w+ (pets|keys)\/\w+\) in the published log of 30 /,
        );
      }
    }),
});

Deno.test({
  name: "prove: an event that is not in the published log exits 1 with one line and no proof",
  ignore,
  fn: () =>
    withPublished(async ({ dir, lines, run }) => {
      const last = JSON.parse(lines[39]).subject;
      const refused = async (what: string, message: string) => {
        const { code, stdout, stderr } = await run("prove", what, "--published", dir);
        assertEquals([code, stdout], [1, ""]);
        assertMatch(stderr, /^error: [^\n]+\n$/);
        assertStringIncludes(stderr, message);
      };
      await refused(last, "Position 40 is not published yet: the published log has 30 events");
      await refused("40", "Position 40 is not published yet");
      await refused("41", "The log ends before line 41");
      await refused("pets/4711", "The log has no event about pets/4711");
      await refused("keys/NONE", "The log has no event about keys/NONE");
      await Deno.remove(`${dir}/tile/0/000.p`, { recursive: true });
      await refused("7", "tile/0/000.p/30 is missing");
    }),
});

Deno.test({
  name: "prove --consistency: says in words whether the published log extends a checkpoint",
  ignore,
  fn: () =>
    withPublished(async ({ folder, dir, lines, run, publish }) => {
      const old = `${folder}/old`;
      await Deno.copyFile(`${dir}/checkpoint`, old);
      await publish(lines, dir);
      const prove = (checkpoint: string, published = dir) =>
        run("prove", "--consistency", checkpoint, "--published", published);
      const proven = await prove(old);
      assertEquals([proven.code, proven.stdout], [
        0,
        "The published log of 40 events extends the checkpoint of 30: nothing before it was changed or removed.\n",
      ]);
      const other = `${folder}/other`;
      await publish(rewritten(lines, 9, lines[9].replace("Zoë", "Zoé")), other);
      await Deno.writeTextFile(`${folder}/text`, "no checkpoint\n");
      for (
        const [checkpoint, published, message] of [
          [old, other, "The published log of 40 events does not extend the checkpoint of 30"],
          [`${dir}/checkpoint`, other, "does not extend the checkpoint of 40"],
          [`${folder}/text`, dir, "The file of --consistency is not a published checkpoint"],
        ]
      ) {
        const { code, stdout, stderr } = await prove(checkpoint, published);
        assertEquals([code, stdout], [1, ""]);
        assertMatch(stderr, /^error: [^\n]+\n$/);
        assertStringIncludes(stderr, message);
      }
    }),
});

Deno.test({
  name: "prove: arguments that cannot be used exit 2 with one line",
  ignore,
  fn: () =>
    withPublished(async ({ folder, dir, run }) => {
      for (
        const args of [
          ["pets/7"],
          ["--published", dir],
          ["pets/7", "--published", folder],
          ["pet/7", "--published", dir],
          ["0", "--published", dir],
          ["1", "2", "--published", dir],
          ["--consistency", `${folder}/none`, "--published", dir],
        ]
      ) {
        const { code, stdout, stderr } = await run("prove", ...args);
        assertEquals([code, stdout], [2, ""], stderr);
        assertMatch(stderr, /^error: [^\n]+\n$/);
      }
    }),
});

Deno.test({
  name: "prove, audit --published: read only regular files of the folder, of limited size",
  ignore,
  fn: () =>
    withPublished(async ({ folder, dir, run }) => {
      const outside = `${folder}/outside`;
      const tile = "tile/0/000.p/30";
      const line = (name: string) =>
        `error: ${name} is not a regular file of at most 16777472 bytes\n`;
      const replacements: [name: string, replace: (path: string) => Promise<void>][] = [
        ["checkpoint", (path) => Deno.symlink("/dev/zero", path)],
        [tile, (path) => Deno.symlink(outside, path)],
        ["checkpoint", async (path) => {
          await Deno.copyFile(outside, path);
          await Deno.truncate(path, 16_777_473);
        }],
      ];
      for (const [name, replace] of replacements) {
        await Deno.rename(`${dir}/${name}`, outside);
        await replace(`${dir}/${name}`);
        const { code, stdout, stderr } = await run("prove", "7", "--published", dir);
        assertEquals([code, stdout, stderr], [1, "", line(name)]);
        const audit = await run("audit", "--published", dir);
        if (name === tile) {
          assertStringIncludes(audit.stdout, `The published folder is damaged: ${tile} is not a `);
        } else assertEquals(audit.stderr, line(name));
        await Deno.remove(`${dir}/${name}`);
        await Deno.rename(outside, `${dir}/${name}`);
      }
      const consistency = await run("prove", "--consistency", "/dev/zero", "--published", dir);
      assertEquals([consistency.code, consistency.stderr], [1, line("/dev/zero")]);
      // The folder itself may be a link.
      await Deno.symlink(dir, outside);
      assertEquals((await run("prove", "7", "--published", outside)).code, 0);
    }),
});

Deno.test({
  name: "audit --published: proves the log against what was published, and reports what differs",
  ignore,
  fn: () =>
    withPublished(async ({ folder, dir, lines, run }) => {
      const audit = async (...args: string[]) => {
        const { code, stdout } = await run("audit", "--json", "--published", dir, ...args);
        return { code, report: JSON.parse(stdout) };
      };
      const sound = await run("audit", "--published", dir);
      assertEquals(sound.code, 0);
      assertMatch(sound.stdout, /^The log extends the published log of 30 events\.$/m);
      const exported = `${folder}/export.jsonl`;
      const faultsOf = async (some: string[]) => {
        await Deno.writeFile(exported, linesToBytes(some));
        const { code, report } = await audit("--file", exported);
        assertEquals([code, report.counts], [1, { published: 1 }]);
        return report.faults[0];
      };
      const other = rewritten(lines, 9, lines[9].replace("Zoë", "Zoé"));
      assertEquals(await faultsOf(other), {
        kind: "published",
        position: 10,
        message: "Line 10 is not the one that was published",
      });
      assertEquals(await faultsOf(lines.slice(0, 29)), {
        kind: "published",
        message: "The log ends at position 29, but 30 events were published",
      });
      await Deno.remove(`${dir}/tile/0/000.p`, { recursive: true });
      const damaged = await audit();
      assertEquals([damaged.code, damaged.report.faults[0].message], [
        1,
        "The published folder is damaged: tile/0/000.p/30 is missing",
      ]);
      await Deno.remove(`${dir}/checkpoint`);
      const missing = await run("audit", "--published", dir);
      assertEquals([missing.code, missing.stderr], [
        2,
        "error: The folder has no checkpoint: nothing is published\n",
      ]);
    }),
});
