import type { Service } from "../../src/service.ts";
import type { CommandOptions } from "./cluster.ts";
import { PET_STATUSES } from "./draws.ts";
import type { CreateOperation, KeyInUse, ListOperation } from "./history.ts";
import { auditStore, exportLog, type ReplayFault, replayLog } from "./log_jobs.ts";
import type { CommittedLine } from "./oracle.ts";
import type { Random } from "./random.ts";
import { runUpdates, type Workload } from "./workload.ts";

/** Every so many keys, one may only read. */
const READ_ONLY_EVERY = 4;

/** Longer than the lifetime of any key that expires, in milliseconds. */
const CLOCK_JUMP_MS = 60_000;

export async function runOperator(workload: Workload, count: number): Promise<void> {
  const { cluster } = workload;
  const random = cluster.simulation.random.fork();
  const pauseMs = random.pick([50, 500, 3_000]);
  const isReplayer = random.chance(0.5);
  for (let number = 0; number < count; number++) {
    await cluster.simulation.sleep(random.between(0, 2 * pauseMs));
    const options: CommandOptions = random.chance(0.4)
      ? { slot: random.integer(0, cluster.size - 1) }
      : random.chance(0.2)
      ? { diesAfterMs: random.between(0, 50) }
      : {};
    const candidates = workload.keys.filter(({ isKept }) => !isKept);
    const action = random.weighted({
      issue: 3,
      revoke: 3,
      rotate: 2,
      export: 1.5,
      audit: 1,
      replay: isReplayer ? 5 : 0,
    });
    if (action === "export") {
      // It may begin and end within a record.
      await exportLog(workload, options, (position) => {
        const from = random.integer(1, position);
        return { from, to: random.integer(from, position) };
      });
    } else if (action === "audit") await auditStore(workload);
    else if (action === "replay") {
      const fault = drawReplayFault(random);
      const replaying = replayLog(workload, fault);
      if (random.chance(0.5)) readDuringReplay(workload, random);
      const spanMs = random.pick([20, 200, 2_000]);
      if (random.chance(0.7)) void runUpdates(workload, workload.keys[0], 10, spanMs);
      // An operator who sees a stalled replay starts another one.
      if (fault.pause !== undefined) await replayLog(workload);
      await replaying;
    } else if (action === "issue" || candidates.length === 0) {
      const lifetimeMs = random.chance(0.3) ? random.between(100, 20_000) : undefined;
      await issueApiKey(workload, { ...options, lifetimeMs });
    } else {
      const key = random.pick(candidates);
      const overlapMs = random.pick([0, 100, 20_000]);
      const isAtOnce = action === "revoke" || action === "rotate" && overlapMs === 0;
      const revocation = runKeyCommand(
        workload,
        isAtOnce ? "revoke" : "rotate",
        (service): Promise<unknown> => {
          if (action === "revoke") return workload.code.revokeApiKey(service, key.keyId);
          return rotateApiKey(workload, service, key, overlapMs);
        },
        () => key.keyId,
        options,
      );
      if (random.chance(0.5)) writeDuringRevocation(workload, key, options.slot, random);
      await revocation;
    }
  }
}

/** Draws the fault of a replay. It is often killed, or paused for so long that others consider it dead. */
function drawReplayFault(random: Random): ReplayFault {
  const afterMs = random.between(0, random.pick([5, 50, 14_000]));
  const ms = random.between(5_000, 60_000);
  return random.pick<ReplayFault>([
    {},
    { diesAfterMs: afterMs },
    { diesInFillAfterMs: random.between(0, 20) },
    { pause: { afterMs, ms } },
  ]);
}

/**
 * Creates pets with a key during its revocation, sometimes in the same queue. The pets are all different, or
 * all the same under one Idempotency-Key. The clock may be ahead when the creates arrive and then be set back.
 */
function writeDuringRevocation(
  { cluster, clocksJump }: Workload,
  key: KeyInUse,
  slot: number | undefined,
  random: Random,
): void {
  const name = `meanwhile-${key.keyId}-${cluster.simulation.step}`;
  const isSame = random.chance(0.5);
  const target = slot ?? random.integer(0, cluster.size - 1);
  const spanMs = random.pick([5, 50, 500]);
  if (clocksJump && random.chance(0.3)) {
    const node = cluster.nodeOf(target);
    node?.jumpClock(CLOCK_JUMP_MS);
    cluster.simulation.after(random.between(0, spanMs), () => node?.jumpClock(-CLOCK_JUMP_MS));
  }
  for (let index = 0; index < 8; index++) {
    const operation: CreateOperation = isSame
      ? { kind: "create", name, categoryId: 1, idempotencyKey: name }
      : { kind: "create", name: `${name}-${index}`, categoryId: index };
    cluster.simulation.after(index === 0 ? 0 : random.between(0, spanMs), () => {
      cluster.send(target, operation, key);
    });
  }
}

/** Sends reads that no cache has during a replay, and may pause the node until the old generation is gone. */
function readDuringReplay({ cluster, keys, newestPetId }: Workload, random: Random): void {
  const slot = random.integer(0, cluster.size - 1);
  const spanMs = random.pick([50, 200, 1_000]);
  for (let index = 0; index < 20; index++) {
    const operation: ListOperation = {
      kind: "list",
      limit: random.integer(1, 100),
      ...(random.chance(0.5) && { status: random.pick(PET_STATUSES) }),
      ...(random.chance(0.3) && { categoryId: random.integer(-2, 2) }),
      cursor: random.integer(1, newestPetId + 1),
    };
    cluster.simulation.after(random.between(0, spanMs), () => {
      cluster.send(slot, operation, keys[0]);
    });
  }
  if (!random.chance(0.3)) return;
  cluster.simulation.after(random.between(0, spanMs), () => {
    cluster.nodeOf(slot)?.pause(random.between(10_000, 16_000));
  });
}

/** Issues a key and gives it to the clients. Resolves to `undefined` if the command failed. */
export async function issueApiKey(
  workload: Workload,
  { lifetimeMs, isKept = false, ...options }: CommandOptions & {
    lifetimeMs?: number;
    isKept?: boolean;
  } = {},
): Promise<KeyInUse | undefined> {
  const { cluster, code, keys } = workload;
  const isReadOnly = !isKept && keys.length % READ_ONLY_EVERY === READ_ONLY_EVERY - 1;
  const issued = await runKeyCommand(
    workload,
    "issue",
    (service) =>
      code.issueApiKey(service, {
        label: `key ${keys.length}`,
        isReadOnly,
        ...(lifetimeMs === undefined ? {} : { expiresAt: service.runtime.now() + lifetimeMs }),
      }),
    ({ id }) => id,
    options,
  );
  if (issued === undefined) {
    if (isKept) cluster.violations.push("The first key was not issued");
    return undefined;
  }
  const key: KeyInUse = { keyId: issued.id, token: issued.token, isKept, isReadOnly };
  keys.push(key);
  return key;
}

/** Rotates a key. The command refuses a key that is no longer valid or already has a successor. */
async function rotateApiKey(
  { code, keys }: Workload,
  service: Service,
  { keyId, isReadOnly }: KeyInUse,
  overlapMs: number,
): Promise<void> {
  const { successor: { id, token } } = await code.rotateApiKey(service, keyId, { overlapMs });
  keys.push({ keyId: id, token, isKept: false, isReadOnly });
}

/** Runs a command, which must have its event if it succeeds. */
async function runKeyCommand<T>(
  { cluster }: Workload,
  action: "issue" | "revoke" | "rotate",
  run: (service: Service) => Promise<T>,
  apiKeyIdOf: (value: T) => string,
  options?: CommandOptions,
): Promise<T | undefined> {
  const { isDone, value } = await cluster.command(action, run, options);
  const isLogged = ({ event: { type, data, time } }: CommittedLine) =>
    data.keyId === apiKeyIdOf(value!) &&
    (type === "ApiKeyIssued"
      ? action === "issue"
      : (action === "rotate") === (data.effectiveAt > time));
  if (isDone && !cluster.oracle.lines.some(isLogged)) {
    cluster.violations.push(
      `The command to ${action} ${apiKeyIdOf(value!)} succeeded without an event`,
    );
  }
  return value;
}
