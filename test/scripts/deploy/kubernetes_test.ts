import { assertEquals, assertGreater } from "@std/assert";
import { taskOf } from "../../support/programs.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { expectDone } from "../../support/third_party_tools.ts";
import { ROOT } from "../../support/with_project_copy.ts";

testNeeding(PROCESSES)(
  "kubernetes.yml: the commands of its jobs back up and audit the store of a running service",
  async () => {
    const text = await Deno.readTextFile(`${ROOT}scripts/deploy/kubernetes.yml`);
    const commands = Array.from(
      text.matchAll(/^ +args: \[(.+)\]$/gm),
      ([, args]) => args.split(", "),
    );
    assertEquals(commands.map((args) => args[2]), ["backup", "audit"]);
    await using temp = await TempStore.make();
    const token = await temp.issueApiKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    for (const [, , name, ...args] of commands) {
      const own = args.map((arg) => arg.replace(/^\/(backup|checkpoint)\//, `${temp.folder}/`));
      const [program, ...task] = taskOf(name);
      const env = { KV_PATH: temp.kvPath };
      await expectDone(program, [...task, ...own], { cwd: ROOT, env });
    }
    for (const file of ["log.jsonl", "checkpoint.json"]) {
      assertGreater((await Deno.stat(`${temp.folder}/${file}`)).size, 0);
    }
  },
);
