import type { ProjectionKey } from "eventstore-less/definitions";
import { readHead } from "eventstore-less/head";
import { eventOf, LogDamagedError, readLog } from "eventstore-less/log";
import { project } from "eventstore-less/projections";
import type { Store } from "eventstore-less/store";
import { digestOf, textOf } from "./expected_records.ts";

/** The digest of a record that an event has removed. */
const REMOVED = -1;

/** The events after the position of an audit, which others append while it runs: how each record was after each of them. */
export class LaterEvents {
  #store: Store;
  /** Position of the last event that was read. */
  #position: number;
  /** The digests of all states that the events have given a record, by the text of its key. */
  #digests = new Map<string, number[]>();
  /** The latest time of these events and those before. */
  latestMs: number;

  constructor(store: Store, position: number, latestMs: number) {
    this.#store = store;
    this.#position = position;
    this.latestMs = latestMs;
  }

  /**
   * Reads the events up to the newest head, and resolves to this head. Then every event that was stored before the call
   * is known.
   */
  async readToHead() {
    const { head } = await readHead(this.#store);
    const range = { from: this.#position + 1, to: head.position };
    try {
      for await (const lines of readLog(this.#store, range)) {
        for (const { line } of lines) this.#note(line);
        this.#position = lines.at(-1)!.position;
      }
    } catch (error) {
      // The events that are lost explain nothing. The next audit reports them.
      if (!(error instanceof LogDamagedError)) throw error;
    }
    return head;
  }

  /** Whether one of the events has made the record so; `content` is `undefined` if the record is not there. */
  have(key: ProjectionKey, content: Uint8Array | undefined): boolean {
    const digests = this.#digests.get(textOf(key));
    return digests?.includes(digestAfter(key, content)) ?? false;
  }

  #note(line: Uint8Array): void {
    const event = eventOf(line);
    if (event === undefined) return;
    this.latestMs = Math.max(this.latestMs, Date.parse(event.time));
    for (const { key, content } of project([{ event, line }])) {
      const name = textOf(key);
      const digests = this.#digests.get(name) ?? [];
      this.#digests.set(name, digests);
      digests.push(digestAfter(key, content));
    }
  }
}

function digestAfter(key: ProjectionKey, content: Uint8Array | undefined): number {
  return content === undefined ? REMOVED : digestOf(key, content);
}
