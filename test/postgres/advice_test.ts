import { assert, assertEquals } from "@std/assert";
import { systemRuntime } from "eventstore-less/startup";
import { LOG_PREFIX } from "../../src/eventstore_less/keyspace.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { followAdvice } from "../support/follow_advice.ts";
import { POSTGRES, programFolder, serverOfFile } from "../support/postgres_server.ts";
import { useRealStore } from "../support/real_store.ts";
import { expectTask, runTask } from "../support/run_task.ts";
import { sampleLog } from "../support/sample_log.ts";
import { writeLog } from "../support/sample_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { commit } from "../support/store_contract.ts";
import { testNeeding } from "../support/test_needing.ts";
import { withProjectCopy } from "../support/with_project_copy.ts";

const EVENTS = 40;

const server = serverOfFile();

testNeeding(POSTGRES.need)(
  "After a lost line of a database, the advice, followed word for word, ends twice in a row with a sound database that is served",
  () =>
    withProjectCopy(async (project) => {
      let address = server().url(await server().createDatabase());
      const lines = sampleLog(EVENTS, Date.now());
      await useRealStore(address, ({ store }) => writeLog(store, systemRuntime, lines));
      for (const _ of [1, 2]) {
        const options = { kvPath: address, project };
        await Deno.writeTextFile(`${project}/BACKUP`, await expectTask(["log"], options));
        await useRealStore(address, ({ store }) => loseLastRecord(store));
        const { code, stdout } = await runTask(["audit", "--json"], options);
        assertEquals(code, 1);
        const [advice] = Object.values<string>(JSON.parse(stdout).advice);
        assert(!advice.includes("KV_PATH"), advice);
        // The role of the test is the administrator, too.
        const [, credentials, password] = /\/\/(.*?:(.*?)@)/.exec(address)!;
        const followed = `  export PATH="${programFolder()}:$PATH"\n${advice}`
          .replaceAll(":PASSWORD@", `:${password}@`)
          .replace("ADMINISTRATOR@", credentials);
        const [, successor] = /^ {2}DATABASE_URL='(.*?)'/m.exec(followed)!;
        const output = await followAdvice(followed, project, address);
        assertEquals(output.match(/^(Sound|Not sound): .* events/gm), [
          `Sound: ${EVENTS} events`,
          `Sound: ${EVENTS} events`,
        ], output);
        address = successor;
        await using service = await ServiceProcess.start(address, { NEW_STORE: "refuse" });
        assertEquals((await fetch(`${service.address}/readyz`)).status, 200);
        assertEquals(await service.stop(), 0);
      }
    }),
);

async function loseLastRecord(store: Store): Promise<void> {
  const [{ key }] = await store.list({ prefix: LOG_PREFIX }, { limit: 1, reverse: true });
  await commit(store, [{ type: "delete", key }]);
}
