import type { Runtime } from "../runtime/runtime.ts";
import type { StoreLimits } from "../store/store.ts";
import type { Head, HeadEntry } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import type { Instrumentation } from "../telemetry/instrumentation.ts";
import { Batch, type Project, type SealedBatch } from "./batch.ts";
import type { CommandQueue } from "./command_queue.ts";
import { planAppend, type PlannedAppend } from "./planned_append.ts";
import type { QueuedCommand } from "./queued_command.ts";

/** A head to plan a batch on. */
export interface Base extends HeadEntry {
  /** Monotonic time in milliseconds at which the last read of a head from the store started. */
  readAt: number;
}

export interface BatchPlannerDeps {
  queue: CommandQueue;
  limits: StoreLimits;
  project: Project;
  runtime: Runtime;
  instrumentation: Instrumentation;
}

/**
 * Plans batches: prepares the waiting commands, asks each for its events, and puts as many as fit into one
 * commit.
 */
export class BatchPlanner {
  /** Set if the next base must be read from the store, even if a latest head is known. */
  needsFreshBase = false;
  #deps: BatchPlannerDeps;
  /**
   * Number of the current epoch. A new epoch starts if another instance moves the head, or if a commit
   * contains an API key event. Until then, the preparation of a command stays valid.
   */
  #epoch = 0;
  /** The versionstamp of the newest head of the epoch. */
  #epochHead: string | null | undefined;
  /** The head after the commit in flight and all waiting commands; `undefined` if it is not known. */
  #headAhead: Head | undefined;

  constructor(deps: BatchPlannerDeps) {
    this.#deps = deps;
  }

  /** Plans a batch of waiting commands on the base; `undefined` if none of them has events. */
  async plan(base: Base): Promise<SealedBatch | undefined> {
    const { queue, limits, project, runtime } = this.#deps;
    if (base.versionstamp !== this.#epochHead) {
      this.#epoch++;
      this.#epochHead = base.versionstamp;
    }
    const candidates = queue.takeAll();
    await this.#prepare(candidates, base);
    const batch = new Batch(base, limits);
    for (const [index, queued] of candidates.entries()) {
      if (queued.isSettled) continue;
      const plan = this.#tryPlan(queued, batch.next, base);
      if (plan === undefined) {
        if (!queued.isSettled) queue.putLast(queued);
        continue;
      }
      if (!batch.hasRoomFor(plan)) {
        queue.putFirst(candidates.slice(index));
        break;
      }
      if (plan.lines.length > 0) batch.add(queued, plan);
      else if (this.#isToRepeat(queued, base)) queue.putLast(queued);
      else queued.resolve([]);
    }
    return batch.isEmpty ? undefined : batch.seal(project, runtime.now());
  }

  /** The batch's commit has started. Until {@linkcode endFlight}, commands can be planned ahead. */
  startFlight(batch: SealedBatch): void {
    const { last } = this.#deps.queue;
    this.#headAhead = last === undefined ? batch.next : last.plan?.next;
  }

  endFlight(): void {
    this.#headAhead = undefined;
  }

  /** The batch's commit landed: the epoch continues with its head, unless it contained a key event. */
  continueEpoch(batch: SealedBatch, versionstamp: string): void {
    if (!batch.changesKeys) this.#epochHead = versionstamp;
  }

  /**
   * Plans the last command of the queue while a commit is in flight, so that the next commit can start as
   * soon as this one has landed. If the head turns out to be another one, plan() discards this plan.
   */
  planAhead(queued: QueuedCommand): void {
    const head = this.#headAhead;
    this.#headAhead = undefined;
    const { command } = queued;
    if (head === undefined || !command.isPreparedAtOnce?.(head)) return;
    try {
      // plan() prepares the command again, because an API key may expire before then.
      command.prepare(head);
      queued.plan = this.#planOn(queued, head);
      this.#headAhead = queued.plan.next;
    } catch {
      // plan() runs the command again and handles its refusal.
    }
  }

  async #prepare(candidates: QueuedCommand[], base: Base): Promise<void> {
    const { instrumentation } = this.#deps;
    const preparations: Promise<void>[] = [];
    for (const queued of candidates) {
      if (queued.preparedEpoch === this.#epoch) continue;
      queued.preparedEpoch = this.#epoch;
      try {
        const { command, context } = queued;
        const preparing = instrumentation.restore(context, () => command.prepare(base.head));
        if (preparing === undefined) continue;
        preparations.push(preparing.catch((reason) => this.#refuse(queued, reason, base)));
      } catch (reason) {
        this.#refuse(queued, reason, base);
      }
    }
    if (preparations.length > 0) await Promise.all(preparations);
  }

  /** Plans a command on `head`, the head after the batch so far; `undefined` if it was refused. */
  #tryPlan(queued: QueuedCommand, head: Head, base: Base): PlannedAppend | undefined {
    // Its preparation was refused and must be repeated.
    if (queued.preparedEpoch !== this.#epoch) return undefined;
    try {
      return this.#planOn(queued, head);
    } catch (reason) {
      this.#refuse(queued, reason, base);
    }
  }

  #planOn({ command, plan }: QueuedCommand, head: Head): PlannedAppend {
    if (plan?.head === head) return plan;
    return planAppend(command, head);
  }

  #refuse(queued: QueuedCommand, reason: unknown, base: Base): void {
    if (!this.#isToRepeat(queued, base)) queued.reject(reason);
  }

  /**
   * Whether a command without events, or with a refusal, must be prepared again. No commit proves such an
   * outcome, so it is valid only on a fresh head. On a stale head, the records that the command read may
   * have been removed, for example after a replay. So the command is prepared a second time, on a head that
   * is read for it.
   */
  #isToRepeat(queued: QueuedCommand, base: Base): boolean {
    const isBaseFresh = this.#deps.runtime.monotonicNow() - base.readAt <= HEAD_LIMIT_MS;
    if (queued.wasRepeated && isBaseFresh) return false;
    queued.wasRepeated = true;
    queued.preparedEpoch = -1;
    this.needsFreshBase = true;
    return true;
  }
}
