import { assert, assertEquals, assertMatch } from "@std/assert";
import { NODE_PACKAGE } from "../../support/programs.ts";
import { permissions, PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { programAt } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { run } from "../../support/third_party_tools.ts";
import { ROOT } from "../../support/with_project_copy.ts";

/** Ten times the highest exposure of each service: of the first one, the manual names it. */
const THRESHOLDS: Record<string, number> = {
  "animal-store": 13,
  "animal-store-audit": 56,
  "animal-store-backup": 56,
  "animal-store-backup-audit": 56,
  "animal-store-backup-follow": 56,
};

const TIMERS = ["animal-store-audit", "animal-store-backup", "animal-store-backup-audit"];

function read(file: string): Promise<string> {
  return Deno.readTextFile(`${ROOT}scripts/deploy/${file}`);
}

testNeeding(permissions("run", "read", "write"), programAt("/usr/bin/systemd-analyze"))(
  "systemd accepts the units, and finds no exposure above that which the manual names",
  async () => {
    await using temp = await TempStore.make();
    const units = Object.keys(THRESHOLDS).map((name) => `${name}.service`);
    for (const unit of [...units, ...TIMERS.map((name) => `${name}.timer`)]) {
      // systemd-analyze looks whether the program exists.
      const text = (await read(unit)).replaceAll("/usr/local/bin/pets", "/bin/sh");
      await Deno.writeTextFile(`${temp.folder}/${unit}`, text);
    }
    const verified = await run("sh", ["-c", `systemd-analyze verify ${temp.folder}/*`]);
    assertEquals(verified, { code: 0, output: "" });
    for (const [name, threshold] of Object.entries(THRESHOLDS)) {
      const flags = ["--offline=true", "--no-pager", `--threshold=${threshold}`];
      const file = `${temp.folder}/${name}.service`;
      const { code, output } = await run("systemd-analyze", ["security", ...flags, file]);
      assertEquals([name, code], [name, 0], output.slice(-200));
    }
  },
);

testNeeding(permissions("read"))(
  "Only the audit may write the folder of its checkpoint, so a checkpoint of the units proves something",
  async () => {
    const checkpoint = / --checkpoint \/var\/lib\/(.+)\/checkpoint\.json$/m;
    const [, folder] = checkpoint.exec(await read("animal-store-audit.service"))!;
    for (const name of Object.keys(THRESHOLDS)) {
      const [, folders] = /^StateDirectory=(.+)$/m.exec(await read(`${name}.service`))!;
      const mayWrite = folders.split(" ").includes(folder);
      assertEquals([name, mayWrite], [name, name === "animal-store-audit"]);
    }
  },
);

testNeeding(permissions("read"))(
  "systemd starts the service and its backup again, however often they end",
  async () => {
    const always = /^StartLimitIntervalSec=0$[^]*^\[Service\]$[^]*^Restart=always\nRestartSec=1$/m;
    for (const name of ["animal-store", "animal-store-backup-follow"]) {
      assertMatch(await read(`${name}.service`), always, name);
    }
  },
);

testNeeding(permissions("read"))(
  "The units and the pods may write only their own folders and volumes, as the manual says",
  async () => {
    const limits = ["User=animal-store", "ProtectSystem=strict", "ProtectHome=yes"];
    for (const name of Object.keys(THRESHOLDS)) {
      const unit = await read(`${name}.service`);
      for (const limit of limits) assert(unit.split("\n").includes(limit), `${name}: ${limit}`);
      assert(!/^(ReadWritePaths|BindPaths)=/m.test(unit), name);
    }
    const pods = await read("kubernetes.yml");
    const containers = pods.match(/^ +image: /gm)!.length;
    assertEquals(pods.match(/readOnlyRootFilesystem: true/g)?.length, containers);
  },
);

testNeeding(permissions("read"))(
  "The image has the Node with which the tests run, and the manual pins that one",
  async () => {
    // Who has pinned the image has no version in the first file.
    const texts = await read("Containerfile") + await read("README.md");
    const versions = new Set(texts.match(/\bnode:[\d.]+-slim\b/g));
    assertEquals([...versions], [`${NODE_PACKAGE.replace("@", ":")}-slim`]);
  },
);

testNeeding(PROCESSES)(
  "The health check of the Containerfile finds a service on any port, and fails without one",
  async () => {
    const [, check] = /^HEALTHCHECK CMD (\[.+\])$/m.exec(await read("Containerfile"))!;
    await using temp = await TempStore.make();
    await using service = await ServiceProcess.start(temp.kvPath);
    const env = { PORT: new URL(service.address).port };
    const health = async () => (await run("node", JSON.parse(check).slice(1), { env })).code;
    assertEquals(await health(), 0);
    await service.stop();
    assertEquals(await health(), 1);
  },
);
