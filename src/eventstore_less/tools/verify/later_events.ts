import type { ProjectionKey } from "../../definitions.ts";
import { readHead } from "../../log/head.ts";
import { eventOf } from "../../log/lines.ts";
import { LogDamagedError, readLog } from "../../log/read_log.ts";
import { project } from "../../projections/project.ts";
import type { Store } from "../../store/store.ts";
import type { Application } from "../../application.ts";
import { keyText } from "../../store/key_encoding.ts";
import { digestOf } from "./expected_records.ts";

/** The digest of a record that an event has removed. */
const REMOVED = -1;

/** The events after the position of an audit, which others append while it runs: how each record was after each of them. */
export class LaterEvents {
  #application: Application;
  #store: Store;
  /** Position of the last event that was read. */
  #position: number;
  /** The digests of all states that the events have given a record, by the text of its key. */
  #digests = new Map<string, number[]>();
  /** The latest time of these events and those before. */
  latestMs: number;

  constructor(application: Application, store: Store, position: number, latestMs: number) {
    this.#application = application;
    this.#store = store;
    this.#position = position;
    this.latestMs = latestMs;
  }

  /**
   * Reads the events up to the newest head, and resolves to this head. Then every event that was stored before the call
   * is known.
   */
  async readToHead() {
    const { head } = await readHead(this.#application, this.#store);
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
    const digests = this.#digests.get(keyText(key));
    return digests?.includes(digestAfter(key, content)) ?? false;
  }

  #note(line: Uint8Array): void {
    const event = eventOf(this.#application, line);
    if (event === undefined) return;
    this.latestMs = Math.max(this.latestMs, Date.parse(event.time));
    for (const { key, content } of project(this.#application, [{ event, line }])) {
      const name = keyText(key);
      const digests = this.#digests.get(name) ?? [];
      this.#digests.set(name, digests);
      digests.push(digestAfter(key, content));
    }
  }
}

function digestAfter(key: ProjectionKey, content: Uint8Array | undefined): number {
  return content === undefined ? REMOVED : digestOf(key, content);
}
