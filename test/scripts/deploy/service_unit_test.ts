import { assert, assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../../support/permitted.ts";
import { isInstalled } from "../../support/store_server.ts";
import { run } from "../../support/third_party_tools.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Ten times the highest exposure level that the manual promises. */
const EXPOSURE_THRESHOLD = 13;

function read(file: string): Promise<string> {
  return Deno.readTextFile(new URL(`scripts/deploy/${file}`, ROOT));
}

Deno.test({
  name: "systemd accepts the unit, and finds the exposure that the manual names",
  ignore: !permitted("run", "read", "write") || !isInstalled("/usr/bin/systemd-analyze"),
  async fn() {
    const unit = await read("animal-store.service");
    // systemd never gives up, whatever ends the service.
    assertMatch(
      unit,
      /^StartLimitIntervalSec=0$[^]*^\[Service\]$[^]*^Restart=on-failure\nRestartSec=1$/m,
    );
    const folder = await Deno.makeTempDir();
    const file = `${folder}/animal-store.service`;
    const analyze = (...args: string[]) => run("systemd-analyze", [...args, file]);
    try {
      // systemd-analyze looks whether the program exists.
      await Deno.writeTextFile(file, unit.replace("/usr/local/bin/deno", Deno.execPath()));
      assertEquals(await analyze("verify"), { code: 0, output: "" });
      const threshold = `--threshold=${EXPOSURE_THRESHOLD}`;
      const { code, output } = await analyze("security", "--offline=true", "--no-pager", threshold);
      assertEquals(code, 0, output.slice(-200));
      // The checks can fail.
      await Deno.writeTextFile(file, unit.replace("CapabilityBoundingSet=\n", ""));
      assertEquals((await analyze("security", "--offline=true", threshold)).code, 1);
      await Deno.writeTextFile(file, unit.replace("/usr/local/bin/deno", `${folder}/missing`));
      assertEquals((await analyze("verify")).code, 1);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "The Containerfile copies what the service needs, and runs as its own user",
  ignore: !permitted("read"),
  async fn() {
    const lines = (await read("Containerfile")).replaceAll("\\\n", "").split("\n");
    const copied = lines.flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1].split(" ") ?? []);
    assertEquals(copied, ["deno.json", "deno.lock", "events", "src", "scripts"]);
    for (const path of copied) assert(await Deno.stat(new URL(path, ROOT)), path);
    const user = lines.indexOf("USER animal-store");
    assertEquals(lines.slice(user).filter((line) => line.startsWith("RUN")), []);
    assertMatch(lines.slice(user).join("\n"), /^CMD \["deno", "task", "--quiet", "start"\]$/m);
    // An image in the OCI format loses it.
    assert(lines.some((line) => line.startsWith("HEALTHCHECK CMD ")));
    assertMatch(await read("README.md"), /^podman build --format docker /m);
    const ci = await Deno.readTextFile(new URL(".ci/run", ROOT));
    const [, version] = /npx -y deno@(\S+)/.exec(ci)!;
    assert(lines.some((line) => line.includes(`npm install --global deno@${version} `)), version);
  },
});
