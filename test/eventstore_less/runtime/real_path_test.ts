import { assertEquals, assertThrows } from "@std/assert";
import { relative } from "node:path";
import { cwd } from "node:process";
import { realPath } from "../../../src/eventstore_less/runtime/real_path.ts";
import { NOT_WINDOWS, permissions, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(permissions("read", "write"), NOT_WINDOWS);

/** A folder with a file in `volume`, and links to it. */
async function withLinks(use: (folder: string) => void): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/volume`);
    await Deno.writeTextFile(`${folder}/volume/file`, "");
    await Deno.symlink(`${folder}/volume/file`, `${folder}/link`);
    await Deno.symlink("link", `${folder}/chain`);
    await Deno.symlink("volume", `${folder}/other`);
    await Deno.symlink("volume/none", `${folder}/dangling`);
    await Deno.symlink("unmounted", `${folder}/lost`);
    use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("realPath() follows links to files and folders, also to those in which a file is missing", () =>
  withLinks((folder) => {
    const real = (name: string) => realPath(`${folder}/${name}`);
    for (const name of ["link", "chain", "other/file", "volume/../other/file"]) {
      assertEquals(real(name), `${folder}/volume/file`, name);
    }
    assertEquals(real("other/new"), `${folder}/volume/new`);
    assertEquals(real("other/new/deep"), `${folder}/volume/new/deep`);
  }));

test("realPath() keeps a path on which no link lies, also a relative one", () =>
  withLinks((folder) => {
    const paths = ["volume/file", "volume/new", "none/new"].map((name) => `${folder}/${name}`);
    for (const path of paths) {
      assertEquals(realPath(path), path);
      assertEquals(realPath(relative(cwd(), path)), relative(cwd(), path));
    }
  }));

test("realPath() refuses a link that leads to nothing, and names both ends", () =>
  withLinks((folder) => {
    for (
      const [name, target] of [["dangling", "volume/none"], ["other/../lost/file", "unmounted"]]
    ) {
      const link = `${folder}/${name.replace("/file", "").replace("other/../", "")}`;
      assertThrows(
        () => realPath(`${folder}/${name}`),
        Error,
        `${link} is a symbolic link to ${folder}/${target}, which does not exist; mount its volume`,
      );
    }
  }));
