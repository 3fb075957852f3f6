import type { ProjectionKey } from "../../definitions.ts";
import { kindOf } from "../../keyspace.ts";
import { project } from "../../projections/project.ts";
import { keyText } from "../../store/key_encoding.ts";
import { VALUE_BYTES_LIMIT } from "../../store/store.ts";
import type { RecordedLine } from "../../definitions.ts";
import type { Application } from "../../application.ts";
import { hash } from "node:crypto";
import { NumberTable } from "./number_table.ts";

/** A record that was expected, and not found. Its key is that of a record that the event at the position writes. */
export interface Unfound {
  kind: string;
  name: number | string;
  position: number;
  /** In milliseconds since the Unix epoch; infinity if it never expires. */
  expiresAt: number;
}

/** Position, digest and expiry of each record of a kind, by name. */
interface KindTable {
  /** The position of the event that wrote the record; negative once the record was found. */
  positions: NumberTable;
  digests: NumberTable;
  /** When it expires, in milliseconds since the Unix epoch. */
  expiries: NumberTable;
}

/** The records that follow from the lines of a log: a digest of each, because there may be millions. */
export class ExpectedRecords {
  #application: Application;
  #tables = new Map<string, KindTable>();

  constructor(application: Application) {
    this.#application = application;
  }

  /** Notes what the next event removes and writes. */
  note(recorded: RecordedLine): void {
    for (const { key, content, expiresAt } of project(this.#application, [recorded])) {
      const { positions, digests, expiries } = this.#tableOf(key[0] as string);
      const name = nameOf(this.#application, key);
      if (content === undefined) {
        positions.set(name, 0);
        continue;
      }
      positions.set(name, recorded.event.position);
      digests.set(name, digestOf(key, content));
      // A table has no values for a time of 0.
      if (expiresAt !== undefined) expiries.set(name, expiresAt || 1);
    }
  }

  /** Whether a record of that key and content is expected. */
  has(key: ProjectionKey, content: Uint8Array): boolean {
    const table = this.#tables.get(key[0] as string);
    if (table === undefined) return false;
    const name = nameOf(this.#application, key);
    return table.positions.get(name) !== 0 && table.digests.get(name) === digestOf(key, content);
  }

  /** The position of the event that wrote the record of that kind and name; 0 if none is expected. */
  positionOf(key: ProjectionKey): number {
    const name = nameOf(this.#application, key);
    return Math.abs(this.#tables.get(key[0] as string)?.positions.get(name) ?? 0);
  }

  markFound(key: ProjectionKey): void {
    const name = nameOf(this.#application, key);
    this.#tables.get(key[0] as string)?.positions.set(name, -this.positionOf(key));
  }

  /** The expected records that were not marked. */
  *unfound(): Generator<Unfound> {
    for (const [kind, { positions, expiries }] of this.#tables) {
      for (const [name, position] of positions.entries()) {
        if (position < 0) continue;
        yield { kind, name, position, expiresAt: expiries.get(name) || Infinity };
      }
    }
  }

  /** Forgets all records. */
  clear(): void {
    this.#tables.clear();
  }

  #tableOf(kind: string): KindTable {
    let table = this.#tables.get(kind);
    if (table === undefined) {
      table = {
        positions: new NumberTable(),
        digests: new NumberTable(),
        expiries: new NumberTable(),
      };
      this.#tables.set(kind, table);
    }
    return table;
  }
}

/** The number at the end of a key of a numbered kind, or else the whole key as a text. */
export function nameOf(application: Application, key: ProjectionKey): number | string {
  return kindOf(application, key[0])?.isNumbered ? key.at(-1)! : keyText(key);
}

/** A secret of this process: with it, nobody can choose two contents with the same digest. */
const secret = crypto.getRandomValues(new Uint8Array(16));

/** The input of a digest. One array serves all, because a new one for each record takes longer than the digest. */
const input = new Uint8Array(2 * VALUE_BYTES_LIMIT);
input.set(secret);
const afterSecret = input.subarray(secret.length);

const encoder = new TextEncoder();

/**
 * The first 48 bits of the SHA-256 of a secret, what is between the kind and the last element of a key, and the content.
 * The rest of the key says where the digest is kept.
 */
export function digestOf(key: ProjectionKey, content: Uint8Array): number {
  const { written } = encoder.encodeInto(keyText(key.slice(1, -1)), afterSecret);
  afterSecret.set(content, written);
  const length = secret.length + written + content.length;
  return parseInt(hash("sha256", input.subarray(0, length), "hex").slice(0, 12), 16);
}
