import { assert, assertEquals, assertMatch } from "@std/assert";
import { permissions, PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { NODE_PACKAGE } from "../../support/programs.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { programAt } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { run } from "../../support/third_party_tools.ts";
import { ROOT } from "../../support/with_project_copy.ts";

/** Ten times the highest exposure level that the manual promises. */
const EXPOSURE_THRESHOLD = 13;

const OTHER_SERVICES = ["audit", "backup", "backup-follow", "backup-audit"];

const OTHER_UNITS = [
  ...OTHER_SERVICES.map((name) => `animal-store-${name}.service`),
  ...["audit", "backup", "backup-audit"].map((name) => `animal-store-${name}.timer`),
];

function read(file: string): Promise<string> {
  return Deno.readTextFile(`${ROOT}scripts/deploy/${file}`);
}

testNeeding(permissions("read"))(
  "The unit refuses to make a store, and only the audit may write the folder of its checkpoint",
  async () => {
    assertMatch(await read("animal-store.service"), /^Environment=NEW_STORE=refuse$/m);
    assert(!(await read("Containerfile")).includes("NEW_STORE"));
    const pods = (await read("kubernetes.yml")).match(/name: NEW_STORE, value: refuse/g);
    assertEquals(pods?.length, 2);
    const checkpoint = / --checkpoint \/var\/lib\/(.+)\/checkpoint\.json$/m;
    const [, folder] = checkpoint.exec(await read("animal-store-audit.service"))!;
    const foldersOf = async (unit: string) =>
      /^StateDirectory=(.+)$/m.exec(await read(unit))![1].split(" ");
    assert((await foldersOf("animal-store-audit.service")).includes(folder));
    const others = OTHER_SERVICES.filter((name) => name !== "audit");
    const services = others.map((name) => `animal-store-${name}.service`);
    for (const unit of ["animal-store.service", ...services]) {
      assert(!(await foldersOf(unit)).includes(folder), unit);
    }
  },
);

testNeeding(permissions("read"))(
  "The units and the pods may write only their own folders and volumes, because Deno does not limit that",
  async () => {
    const others = OTHER_SERVICES.map((name) => `animal-store-${name}`);
    for (const name of ["animal-store", ...others]) {
      const unit = await read(`${name}.service`);
      // One program decides between Deno and Node.
      assertMatch(unit, /^ExecStart=.*\/usr\/local\/bin\/pets [a-z]/m);
      assertMatch(unit, /^User=animal-store$/m);
      for (const limit of ["ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes"]) {
        assert(unit.split("\n").includes(limit), `${name}: ${limit}`);
      }
      assert(!/^(ReadWritePaths|BindPaths)=/m.test(unit), name);
    }
    const pods = await read("kubernetes.yml");
    const containers = pods.match(/^ +image: /gm)!.length;
    assertEquals(containers, 6);
    assertEquals(pods.match(/readOnlyRootFilesystem: true/g)!.length, containers);
    assertEquals(pods.match(/runAsNonRoot: true/g)!.length, containers);
    assertMatch(await read("README.md"), /podman run --name animal-store --init --read-only /);
  },
);

const testWithSystemd = testNeeding(
  permissions("run", "read", "write"),
  programAt("/usr/bin/systemd-analyze"),
);

testWithSystemd(
  "systemd accepts the unit, and finds the exposure that the manual names",
  async () => {
    const unit = await read("animal-store.service");
    // systemd never gives up, whatever ends the service.
    assertMatch(
      unit,
      /^StartLimitIntervalSec=0$[^]*^\[Service\]$[^]*^Restart=always\nRestartSec=1$/m,
    );
    await using temp = await TempStore.make();
    const file = `${temp.folder}/animal-store.service`;
    const analyze = (...args: string[]) => run("systemd-analyze", [...args, file]);
    // systemd-analyze looks whether the program exists.
    await Deno.writeTextFile(file, unit.replace("/usr/local/bin/pets", Deno.execPath()));
    for (const name of OTHER_UNITS) {
      const other = (await read(name)).replace("/usr/local/bin/pets", "/bin/sh");
      await Deno.writeTextFile(`${temp.folder}/${name}`, other);
    }
    assertEquals(await run("sh", ["-c", `systemd-analyze verify ${temp.folder}/*`]), {
      code: 0,
      output: "",
    });
    const threshold = `--threshold=${EXPOSURE_THRESHOLD}`;
    const { code, output } = await analyze("security", "--offline=true", "--no-pager", threshold);
    assertEquals(code, 0, output.slice(-200));
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

testNeeding(permissions("read"))(
  "The Containerfile copies what the service needs, and runs as its own user",
  async () => {
    const lines = (await read("Containerfile")).replaceAll("\\\n", "").split("\n");
    const copied = lines.flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1].split(" ") ?? []);
    // `deno task build` makes it.
    assertEquals(copied, [".build/animal-store.mjs"]);
    const user = lines.indexOf("USER animal-store");
    assertEquals(lines.slice(user).filter((line) => line.startsWith("RUN")), []);
    assertMatch(lines.slice(user).join("\n"), /^CMD \["node", "animal-store.mjs", "start"\]$/m);
    // An image in the OCI format loses its health check.
    assertMatch(await read("README.md"), /^podman build --format docker /m);
    // The tests run on the same version of Node.
    assertEquals(lines[0], `FROM docker.io/library/${NODE_PACKAGE.replace("@", ":")}-slim`);
  },
);
