/** Judges a service that runs somewhere by the clauses of the interface. */

import { Additions } from "./additions.ts";
import { type Clause, CLAUSES } from "./sections.ts";
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

/** Level 1 is the contract with its three operations, which has no removal; level 2 is all of the interface. */
export async function judge(listener: Listener, level: 1 | 2): Promise<Judged> {
  const additions = new Additions(listener);
  const verdicts: Verdict[] = [];
  const left: string[] = [];
  for (const clause of CLAUSES) {
    verdicts.push(await verdictOf(clause, additions.listener, level));
    if (level === 2) left.push(...await additions.remove());
  }
  return { verdicts, left: [...left, ...additions.paths] };
}

async function verdictOf(clause: Clause, listener: Listener, level: 1 | 2): Promise<Verdict> {
  const { name, needs = [] } = clause;
  const lacking = needs.find((need) => !listener.has.includes(need));
  if (clause.level > level) {
    return { clause: name, verdict: "not tried", reason: "It is of level 2" };
  }
  if (lacking) return { clause: name, verdict: "not tried", reason: `It needs ${lacking}` };
  const breach = await tell(clause, listener);
  if (breach === undefined) return { clause: name, verdict: "held" };
  return { clause: name, verdict: "broken", breach };
}
