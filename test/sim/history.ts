/** The requests of clients and the answers that they got. */

import type { Node } from "./node.ts";

/** The credentials of a request. */
export type Bearer =
  | { kind: "nobody" }
  | { kind: "stranger"; token: string }
  | { kind: "key"; keyId: string; token: string };

export interface CreateAsk {
  kind: "create";
  /** Identifies the create attempt: all its requests have this name, and no others. */
  name: string;
  status?: string;
  categoryId: number;
  idempotencyKey?: string;
  /** Whether the body is invalid. */
  invalid?: boolean;
}

/** An earlier answer that the client revalidates. */
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

/** One request and its answer. Steps order events; times are true times, in milliseconds. */
export interface Exchange {
  ask: Ask;
  bearer: Bearer;
  machine: Node;
  startStep: number;
  startAt: number;
  endStep: number;
  endAt: number;
  /** Absent if the node died first. */
  answer?: Answer;
  /** Whether the store had no faults throughout the request, so that 503 is not allowed. */
  undisturbed: boolean;
}

/**
 * The outcome of an operator's command. `failed`: nothing was stored. `unclear`: something may have been
 * stored.
 */
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
