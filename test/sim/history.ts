/** What clients asked, and what they were told. */

import type { Node } from "./node.ts";

/** Whom a request says that it comes from. */
export type Bearer =
  | { kind: "nobody" }
  | { kind: "stranger"; token: string }
  | { kind: "key"; keyId: string; token: string };

export interface CreateAsk {
  kind: "create";
  /** Names the createAttempt: all that ask for it ask with this name, and nobody else does. */
  name: string;
  status?: string;
  categoryId: number;
  idempotencyKey?: string;
  /** Whether the body is none that can be stored. */
  invalid?: boolean;
}

/** An answer that the client has from before, and asks whether it is still right. */
export interface Held {
  etag: string;
  body: string;
  link: string | null;
}

export interface ListAsk {
  kind: "list";
  held?: Held;
  limit?: number;
  status?: string;
  cursor?: number;
}

export interface GetAsk {
  kind: "get";
  petId: number;
  held?: Held;
}

export type Ask = CreateAsk | ListAsk | GetAsk;

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** One request and its answer. Steps order events; times are true ones, in milliseconds. */
export interface Exchange {
  ask: Ask;
  bearer: Bearer;
  machine: Node;
  startStep: number;
  startAt: number;
  endStep: number;
  endAt: number;
  /** Absent where the machine died first. */
  answer?: Answer;
  /** Whether the store did all that it should from beginning to end, so that 503 is no answer. */
  undisturbed: boolean;
}

/** What became of an operator's command: `failed` says that nothing was stored, `unclear` that it may have been. */
export type CommandOutcome = "done" | "failed" | "unclear";

export interface KeyCommand {
  action: "issue" | "revoke" | "rotate";
  keyId?: string;
  startStep: number;
  endStep: number;
  outcome: CommandOutcome;
}

export interface Export {
  lines: string[];
  startStep: number;
  endStep: number;
}

export interface History {
  exchanges: Exchange[];
  keyCommands: KeyCommand[];
  exports: Export[];
}
