/** A test of scripts/deploy/litestream.yml with litestream from Go's proxy. It replicates to a folder instead of S3. */

import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertGreater } from "@std/assert";
import { decodeEvent } from "../../events/event.ts";
import { audit } from "../../scripts/verify/audit.ts";
import { LoadClient, type LoadOptions } from "../support/load_client.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { readLogLines } from "../support/sound_log.ts";
import { TempStore } from "../support/temp_store.ts";
import { testIf } from "../support/test_if.ts";
import { expectDone, install } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

const LITESTREAM = "github.com/benbjohnson/litestream/cmd/litestream@v0.5.18";
const BIN = `${ROOT}.cache/proofs/bin`;
const CONFIG = ["-config", `${ROOT}scripts/deploy/litestream.yml`];

/** Long enough for checkpoints by litestream, which replace those of the service. */
const LOAD_MS = 15_000;

/** A write-ahead log that nobody checkpoints is larger after the load. */
const WAL_BYTES_LIMIT = 32 << 20;

/** What may be missing in the replica. The manual promises two seconds on a machine that is not busy. */
const LOSS_LIMIT_MS = 10_000;

const test = testIf(
  await install("litestream", () => {
    const env = { GOBIN: BIN, GOFLAGS: "-buildvcs=false" };
    return expectDone("go", ["install", LITESTREAM], { env });
  }),
);

test("litestream replicates under load, and restores a sound store after kill -9 of both", async () => {
  await using temp = await TempStore.make();
  await using replica = await TempStore.make();
  const env = { KV_PATH: temp.kvPath, REPLICA_URL: `file://${replica.folder}/replica` };
  const token = await temp.issueKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const options: LoadOptions = {
    services: () => [service],
    token,
    connections: 16,
    faults: "none",
    reads: true,
  };
  const load = new LoadClient(options);
  const args = ["replicate", ...CONFIG];
  await using litestream = new Deno.Command(`${BIN}/litestream`, { args, env, stdout: "null" })
    .spawn();
  let isOver = false;
  const running = load.run(() => isOver);
  await sleep(LOAD_MS);
  assertGreater(WAL_BYTES_LIMIT, (await Deno.stat(`${temp.kvPath}-wal`)).size);
  options.faults = "process";
  const killedAt = Date.now();
  litestream.kill("SIGKILL");
  await service.stop("SIGKILL");
  isOver = true;
  await running;
  assertEquals(load.violations, []);

  await expectDone(`${BIN}/litestream`, ["restore", ...CONFIG, "-o", replica.kvPath, temp.kvPath], {
    env,
  });
  const [lines, restored] = [await soundLines(temp.kvPath), await soundLines(replica.kvPath)];
  assertGreater(restored.length, 100);
  assertEquals(restored, lines.slice(0, restored.length));
  const missing = lines.slice(restored.length).map((line) => Date.parse(decodeEvent(line).time));
  assert(missing.every((time) => time > killedAt - LOSS_LIMIT_MS), `${missing.length} missing`);
});

/** The lines of the log of a store that an audit finds sound. */
function soundLines(path: string) {
  return useRealStore(path, async ({ store, runtime }) => {
    const { sound, faults } = await audit({ store, runtime });
    assert(sound, JSON.stringify(faults));
    return readLogLines(store);
  });
}
