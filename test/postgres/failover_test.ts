import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { LoadClient } from "../support/load_client.ts";
import { POSTGRES } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { runFailover, startPair, untilAdded } from "./failover.ts";

const test = testNeeding(POSTGRES.need);

test("fail-over: nothing acknowledged is lost or stored twice, and additions continue at once", async () => {
  await using pair = await startPair();
  const outcome = await runFailover(pair, 1);
  console.log(outcome);
  assertGreater(outcome.outcomes.created, 0);
});

test("split brain: with READS=strict, a list of the old primary's instance is never stale", async () => {
  await using split = await splitBrain({ READS: "strict" }, 1);
  await split.promote();
  for (let count = 0, isBack = false; count < 20 || !isBack; count++) {
    const added = await split.addOnNew();
    assert(added !== undefined, "the new primary acknowledges");
    const { status, ids } = await split.listOnOld();
    isBack ||= status === 200;
    if (status === 200) assertEquals(ids[0], added);
    else assertEquals(status, 503);
  }
});

test("split brain: by default, every instance of the old primary soon adds on the new one, also if it only meets locks, and shows nothing old", async () => {
  await using split = await splitBrain({}, 3);
  const { load, token, revoked, next, services: [one, other, reading] } = split;
  let isOver = false;
  // One commit waits for the standby that left, and keeps the head locked for the other instance.
  const running = load.run(() => isOver);
  await split.promote();
  const adding = [one, other].map((service) => untilAdded(service, token, load));
  await useRealStore(next, (operator) => revokeApiKey(operator, revoked.id));
  // An instance that adds nothing notices it, too.
  await until(async () => {
    const response = await reading.send("/v1/pets?limit=1", revoked.token);
    await response.body?.cancel();
    assertEquals(response.status, 401);
  }, "The old primary is believed");
  await Promise.all(adding);
  isOver = true;
  await running;
  const lines = [...one.lines, ...other.lines].join("\n");
  assertMatch(lines, /"commits_not_applied".*canceling statement due to lock timeout/);
  await useRealStore(next, (operator) => load.expectLogged(operator));
  for (const service of split.services) {
    await load.expectServed(service);
    await load.expectKey(service, revoked.token, 401);
  }
});

/**
 * A primary and a standby that becomes another primary, so that commits on the old one wait for it forever. The
 * services know both, and are connected to the old one; one more service knows only the new one. The load adds pets
 * on the first two services.
 */
async function splitBrain(env: Record<string, string>, instances: number) {
  const pair = await startPair();
  const { standby, database, address: both } = pair;
  const [{ token }, revoked] = await useRealStore(both, async (operator) => [
    await issueApiKey(operator, { label: "split brain" }),
    await issueApiKey(operator, { label: "revoked after the split" }),
  ]);
  const services: ServiceProcess[] = [];
  const load = new LoadClient({
    services: () => services.slice(0, 2),
    token,
    connections: 8,
    faults: "store",
  });
  for (let count = 0; count < instances; count++) {
    services.push(await ServiceProcess.start(both, env));
    await untilAdded(services[count], token, load);
  }
  const next = standby.url(database);
  const ofNew = await ServiceProcess.start(next, env);
  return {
    load,
    next,
    revoked,
    services,
    token,
    async promote() {
      await standby.promote();
      const ready = async () => assertEquals((await ofNew.send("/readyz", token)).status, 200);
      await until(ready, "The new primary is not found");
    },
    /** Resolves to the id of the pet, or to `undefined` if it is not acknowledged. */
    async addOnNew(): Promise<number | undefined> {
      const response = await ofNew.client(token).add({ name: "Rex", categoryId: 1 });
      if (response.status !== 201) assertEquals(response.status, 503);
      return (await response.json()).id;
    },
    async listOnOld(): Promise<{ status: number; ids: number[] }> {
      const response = await services[0].send("/v1/pets", token);
      const { status } = response;
      const body = await response.json();
      return { status, ids: status === 200 ? body.map(({ id }: { id: number }) => id) : [] };
    },
    async [Symbol.asyncDispose]() {
      for (const one of [...services, ofNew, pair]) await one[Symbol.asyncDispose]();
    },
  };
}
