import { assertEquals } from "@std/assert";
import { buildCommit } from "this-runtime/build_commit.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

const [COMMIT, OTHER] = ["0123456789abcdef".repeat(3).slice(0, 40), "f".repeat(40)];

testNeeding(permissions("read", "write"))(
  "buildCommit() finds the commit of a branch, of a packed branch, without a branch and of a further work tree",
  async () => {
    const folder = await Deno.makeTempDir();
    const write = async (file: string, text: string) => {
      await Deno.mkdir(`${folder}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${file}`, text);
    };
    try {
      assertEquals(buildCommit(folder), undefined);
      await write("one/.git/HEAD", `${COMMIT}\n`);
      assertEquals(buildCommit(`${folder}/one`), "0123456789ab");
      await write("one/.git/HEAD", "ref: refs/heads/main\n");
      assertEquals(buildCommit(`${folder}/one`), undefined);
      const packed =
        `# pack-refs with: peeled\n${OTHER} refs/heads/a/main\n${COMMIT} refs/heads/main\n`;
      await write("one/.git/packed-refs", packed);
      assertEquals(buildCommit(`${folder}/one`), "0123456789ab");
      await write("one/.git/refs/heads/main", `${OTHER}\n`);
      assertEquals(buildCommit(`${folder}/one`), "f".repeat(12));

      await write("two/.git", `gitdir: ${folder}/one/.git/worktrees/two\n`);
      await write("one/.git/worktrees/two/commondir", "../..\n");
      await write("one/.git/worktrees/two/HEAD", "ref: refs/heads/main\n");
      assertEquals(buildCommit(`${folder}/two`), "f".repeat(12));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
