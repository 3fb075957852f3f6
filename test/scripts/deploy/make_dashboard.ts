import { expectDone } from "../../support/third_party_tools.ts";
import { ROOT } from "../../support/with_project_copy.ts";

/** Runs the command of the manual that makes the dashboard, without the name of its file. */
export async function makeDashboard(): Promise<string> {
  const manual = await Deno.readTextFile(`${ROOT}scripts/README.md`);
  const [, args] = /^npx -y deno@\S+ (run \S+grafana_dashboard\.ts) > /m.exec(manual)!;
  return await expectDone(Deno.execPath(), args.split(" "), { cwd: ROOT });
}
