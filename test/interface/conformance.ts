/** Judges a service that runs somewhere by the clauses of the interface. */

import { reasonOf } from "eventstore-less/startup";
import { Additions, ForeignTargetError, NoResponseError } from "./additions.ts";
import { type Clause, CLAUSES, type Level } from "./sections.ts";
import type { Need } from "./story.ts";
import { type Breach, type Listener, tell } from "./tell.ts";

export type Verdict =
  | { clause: string; verdict: "held" }
  | { clause: string; verdict: "broken"; breach: Breach }
  | { clause: string; verdict: "not tried"; reason: string };

export interface Judged {
  verdicts: Verdict[];
  /** The paths of what was added and could not be removed. */
  left: string[];
}

export function clausesUpTo(level: Level): readonly Clause[] {
  return CLAUSES.filter((clause) => clause.level <= level);
}

export interface Judging {
  clauses: readonly Clause[];
  /** Ends the judgement. What was added is removed nevertheless. */
  signal?: AbortSignal;
  onVerdict?(verdict: Verdict): Promise<void> | void;
}

/** Removes what the clauses have added, if the service has a removal. */
export async function judge(listener: Listener, judging: Judging): Promise<Judged> {
  const { clauses, signal, onVerdict } = judging;
  const additions = new Additions(listener, signal);
  const verdicts: Verdict[] = [];
  const left: string[] = [];
  const aborted = abortOf(signal);
  for (const clause of clauses) {
    const verdict = await Promise.race([verdictOn(clause, additions.listener), aborted]);
    left.push(...await additions.remove());
    if (verdict === undefined) break;
    verdicts.push(verdict);
    await onVerdict?.(verdict);
  }
  return { verdicts, left };
}

/** Resolves to nothing when the signal comes. */
function abortOf(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve(undefined);
    signal?.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

const UNDISTURBED: Need = "a store that nobody else changes";

async function verdictOn(clause: Clause, listener: Listener): Promise<Verdict> {
  const { name, needs = [] } = clause;
  const lacking = needs.filter((need) => !listener.has.includes(need));
  const [missing] = lacking.filter((need) => need !== UNDISTURBED);
  if (missing !== undefined) return notTried(name, `It needs ${missing}`);
  const mayBeDisturbed = lacking.includes(UNDISTURBED);
  return mayBeDisturbed ? await verdictBetween(clause, listener) : await tried(clause, listener);
}

/** Tries between the changes of others. After these, it looks for changes as long as the trials together may have taken. */
const TRIALS = 5;

async function verdictBetween(clause: Clause, listener: Listener): Promise<Verdict> {
  for (let trial = 1;; trial++) {
    const begunAt = performance.now();
    const verdict = await tried(clause, listener);
    if (verdict.verdict !== "broken") return verdict;
    if (trial < TRIALS) continue;
    const ms = TRIALS * (performance.now() - begunAt);
    const isQuiet = await isUnchangedFor(ms, listener).catch(() => true);
    return isQuiet ? verdict : notTried(clause.name, `It needs ${UNDISTURBED}, and others do`);
  }
}

async function isUnchangedFor(ms: number, { base, key, send }: Listener): Promise<boolean> {
  const state = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await send(`${base}/pets?limit=1`, { headers });
    return `${response.headers.get("x-feed-position")} ${await response.text()}`;
  };
  const before = await state();
  await new Promise((resolve) => setTimeout(resolve, ms));
  return await state() === before;
}

async function tried(clause: Clause, listener: Listener): Promise<Verdict> {
  const { name } = clause;
  try {
    const breach = await tell(clause, listener);
    if (breach === undefined) return { clause: name, verdict: "held" };
    return { clause: name, verdict: "broken", breach: withoutKeys(breach, listener) };
  } catch (error) {
    if (error instanceof ForeignTargetError) return notTried(name, error.message);
    if (!(error instanceof NoResponseError)) throw error;
    const { request, cause } = error;
    const breach = { request, expected: "a response", came: `none: ${reasonOf(cause)}` };
    return { clause: name, verdict: "broken", breach: withoutKeys(breach, listener) };
  }
}

function notTried(clause: string, reason: string): Verdict {
  return { clause, verdict: "not tried", reason };
}

/** A report may be shown to others. A service may repeat a key in its response. */
function withoutKeys({ request, expected, came }: Breach, listener: Listener): Breach {
  const { key, readOnlyKey = key } = listener;
  const hide = (text: string) =>
    text.replaceAll(key, "{key}").replaceAll(readOnlyKey, "{readOnlyKey}");
  return { request: hide(request), expected: hide(expected), came: hide(came) };
}
