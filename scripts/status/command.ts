import { HeadReader } from "eventstore-less/parts";
import { storeName } from "eventstore-less/startup";
import { openToRead, status } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { stateOf } from "../../src/keys/api_key.ts";
import { listApiKeys } from "../../src/keys/api_key_reader.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { VERSION } from "../../src/settings/version.ts";
import { buildCommit } from "this-runtime/build_commit.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { EXIT, operatorCommand, print, say } from "../cli/run_command.ts";
import { askService, type ServiceState, serviceTask } from "./ask_service.ts";
import { describeStatus, type ServiceStatus, statusInJson } from "./describe_status.ts";
import { firstTask } from "./first_task.ts";

interface Flags {
  json?: boolean;
}

export const command = operatorCommand<Flags>({
  async run({ json = false }) {
    const now = Date.now();
    const service = await askService();
    const found = await readServiceStatus(now, service).catch((error) => {
      // A service whose file was lost still has the data, whatever the error of the store advises.
      const task = service === undefined ? undefined : serviceTask(service);
      if (task !== undefined) say(`${task}.`);
      throw error;
    });
    const task = firstTask(found, now);
    const text = json ? statusInJson(found, task, now) : describeStatus(found, task, now);
    await print(escapeInvisible(text));
    return task === undefined ? EXIT.done : EXIT.refused;
  },
});

async function readServiceStatus(
  now: number,
  service: ServiceState | undefined,
): Promise<ServiceStatus> {
  const location = configuredStore();
  const log = { application: APPLICATION, location };
  const ofStore = await status(log);
  using reader = await openToRead(log);
  const heads = new HeadReader(APPLICATION, reader.store, reader.runtime);
  const apiKeys = await heads.use(({ head }) => listApiKeys(reader.store, head));
  return {
    ...buildOfProgram(),
    kind: location.kind,
    servers: location.kind === "postgres" ? location.settings.hosts.length : 1,
    store: storeName(location),
    ...ofStore,
    service,
    liveKeys: apiKeys.filter((it) => stateOf(it, now) === "live"),
  };
}

/** Which build this is. */
function buildOfProgram(): { version: string; commit?: string } {
  return { version: VERSION, commit: buildCommit() };
}
