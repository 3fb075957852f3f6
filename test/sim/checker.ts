import {
  type Exchange,
  type Export,
  type GetOperation,
  type History,
  isWrite,
  type KeyCommand,
  type ListOperation,
  nextCursor,
} from "./history.ts";
import { type CommittedLine, type Oracle, shortened } from "./oracle.ts";
import { isCurrent, WriteChecker } from "./write_checker.ts";

/**
 * Maximum time to a response, in milliseconds.
 * - A read takes two reads of the head (the one in flight and the next), one of the key and one of the pets,
 *   each up to 2 seconds.
 * - A create or an update takes two reads of the head, one of the key, and 3.5 seconds for the outcome.
 * - With an Idempotency-Key, it may also share the outcome of an earlier request, which takes another
 *   3.5 seconds, and ends with a read.
 */
const READ_LIMIT_MS = 8_000 + 100;
const WRITE_LIMIT_MS = 9_500 + 100;
/** A request of the feed waits for events in addition, and a stream has a limit of its own. */
const STREAM_LIMIT_MS = 360_000 + 1_000 + READ_LIMIT_MS;
const IDEMPOTENT_WRITE_LIMIT_MS = WRITE_LIMIT_MS + 3_500 + READ_LIMIT_MS;

/**
 * Checks the history of all requests and commands against what the store really held. It knows the promises of
 * the service, not its code.
 */
export class Checker {
  #oracle: Oracle;
  #violations: string[];
  #keys: Map<string, KeyLifetime>;
  /** The content for which each ETag of a path and query was given. */
  #contents = new Map<string, string>();

  constructor(oracle: Oracle, violations: string[]) {
    this.#oracle = oracle;
    this.#violations = violations;
    this.#keys = keyLifetimes(oracle);
  }

  check({ exchanges, keyCommands, exports }: History): void {
    for (const exchange of exchanges) {
      this.#checkTime(exchange);
      if (exchange.response === undefined) continue;
      const { status } = exchange.response;
      const mayFail = exchange.mayFail && isWrite(exchange.operation);
      if (status === 500 && !mayFail || status === 503 && exchange.isFaultFree) {
        this.#report(exchange, "The request failed without faults");
      }
      this.#checkCredentials(exchange);
      this.#checkEntityTag(exchange);
      const { operation } = exchange;
      if (operation.kind === "list") this.#checkList(exchange, operation);
      else if (operation.kind === "get") this.#checkGet(exchange, operation);
      if (operation.kind !== "list" && status === 404) this.#checkNotFound(exchange);
    }
    new WriteChecker(this.#oracle, this.#violations, this.#report.bind(this)).check(exchanges);
    for (const command of keyCommands) this.#checkKeyCommand(command);
    for (const copy of exports) this.#checkExport(copy);
  }

  #report(exchange: Exchange, violation: string): void {
    const { operation, response, startStep, endStep, node, key } = exchange;
    this.#violations.push(
      `${violation}: ${
        shortened(JSON.stringify(operation))
      }, key ${key.keyId}, node ${node.name}, ` +
        `steps ${startStep} to ${endStep}, ` +
        `response ${response?.status} ${shortened(response?.body ?? "")}`,
    );
  }

  #checkTime(exchange: Exchange): void {
    const { operation, node, startAt, endAt } = exchange;
    const limit = operation.kind === "events"
      ? operation.isStream ? STREAM_LIMIT_MS : 2 * READ_LIMIT_MS + (operation.timeout ?? 0)
      : !isWrite(operation)
      ? READ_LIMIT_MS
      : operation.idempotencyKey === undefined
      ? WRITE_LIMIT_MS
      : IDEMPOTENT_WRITE_LIMIT_MS;
    const took = endAt - startAt - node.pausedBetween(startAt, endAt);
    if (took > limit) {
      this.#report(exchange, `The request took ${took.toFixed(0)} ms, more than ${limit}`);
    }
  }

  /** The service must accept a key that was valid throughout the request, and refuse one that never was. */
  #checkCredentials(exchange: Exchange): void {
    const { status } = exchange.response!;
    // A service that cannot read the store cannot check the key. It answers 503.
    if (status === 503) return;
    const { mayBeValid, mayBeInvalid } = this.#keyValidity(exchange);
    if (status === 401 && !mayBeInvalid) this.#report(exchange, "A valid key was refused");
    if (status !== 401 && !mayBeValid) this.#report(exchange, "An invalid key was accepted");
    const mustBeForbidden = isWrite(exchange.operation) && exchange.key.isReadOnly;
    if (status !== 401 && (status === 403) !== mustBeForbidden) {
      this.#report(exchange, "A key that may only read was not told from others");
    }
  }

  #keyValidity(exchange: Exchange): { mayBeValid: boolean; mayBeInvalid: boolean } {
    const { key, node, startAt, endAt, startStep, endStep } = exchange;
    const lifetime = this.#keys.get(key.keyId);
    if (lifetime === undefined) return { mayBeValid: false, mayBeInvalid: true };
    const { earliest, latest } = node.clockBetween(startAt, endAt);
    let mayBeValid = lifetime.issued.step <= endStep;
    let mayBeInvalid = lifetime.issued.step > startStep;
    // The node may also have computed the end of a cached key by its clock when it read the key.
    const latestComputed = Math.max(latest, Math.ceil(endAt + node.mostAhead(endAt)));
    for (const { from, step } of lifetime.ends) {
      // An immediate end applies from its commit, whatever the clocks show. A later end applies by the node's
      // clock.
      const hasEnded = step <= startStep && (from === undefined || earliest >= from);
      const mayHaveEnded = step <= endStep && (from === undefined || latestComputed >= from);
      if (hasEnded) mayBeValid = false;
      if (mayHaveEnded) mayBeInvalid = true;
    }
    return { mayBeValid, mayBeInvalid };
  }

  /** Equal contents of one address have equal ETags, and others have others. */
  #checkEntityTag(exchange: Exchange): void {
    const { operation: { kind, cached: _, ...rest }, response } = exchange;
    const etag = response!.headers.get("etag");
    const content = contentOf(exchange);
    if (etag === null || content === undefined) return;
    const isList = kind === "list";
    const address = isList ? JSON.stringify(rest) : JSON.parse(content.body).id;
    const text = content.body + (isList ? content.link : "");
    for (const [one, other] of [[etag, text], [text, etag]]) {
      const name = `${address} ${one}`;
      const known = this.#contents.get(name);
      if (known !== undefined && known !== other) {
        this.#report(exchange, `The ETag ${etag} belongs to another content: ${shortened(known)}`);
      }
      this.#contents.set(name, other);
    }
  }

  /** A list is correct if the store held exactly that page at the same moment of the request. */
  #checkList(exchange: Exchange, operation: ListOperation): void {
    const content = contentOf(exchange);
    if (content === undefined) return;
    const heads = this.#oracle.headsBetween(exchange.startStep, exchange.endStep);
    const next = nextCursor(content.link);
    const isOf = (position: number) => {
      const page = pageOf(this.#oracle, position, operation);
      return content.body === page.body && next === page.next;
    };
    if (heads.some(isOf)) return;
    const range = `${heads[0]} to ${heads.at(-1)}`;
    this.#report(exchange, `The store never held this page (cursor ${next}, heads ${range})`);
  }

  #checkGet(exchange: Exchange, { petId }: GetOperation): void {
    const { startStep, endStep } = exchange;
    const body = contentOf(exchange)?.body;
    const wasHeld = this.#oracle.pets[petId - 1]?.some((state) =>
      state.petText === body && isCurrent(state, startStep, endStep)
    );
    if (body !== undefined && !wasHeld) {
      this.#report(exchange, "The pet does not match the log");
    }
  }

  #checkNotFound(exchange: Exchange): void {
    const { petId } = exchange.operation as GetOperation;
    const [added] = this.#oracle.pets[petId - 1] ?? [];
    if (added !== undefined && added.step <= exchange.startStep) {
      this.#report(exchange, "The pet was added before but not found");
    }
  }

  #checkKeyCommand({ action, keyId, startStep, endStep }: KeyCommand): void {
    const { issued, ends = [] } = this.#keys.get(keyId) ?? {};
    const isCommitted = action === "issue"
      ? issued !== undefined && issued.step > startStep && issued.step <= endStep
      : ends.some(({ from, step, isEvent }) => {
        const isMatch = (action === "rotate") === (from !== undefined);
        return isEvent && step <= endStep && isMatch;
      });
    if (!isCommitted) {
      this.#violations.push(`The command to ${action} key ${keyId} succeeded without an event`);
    }
  }

  #checkExport({ from, to, lines, startStep, endStep }: Export): void {
    const { lines: committed } = this.#oracle;
    const [low, high] = [startStep, endStep].map((step) =>
      to ?? this.#oracle.countCommittedBy(step)
    );
    const last = from + lines.length - 1;
    if (last < low || last > high) {
      this.#violations.push(`An export from ${from} ends at ${last}, not at ${low} to ${high}`);
    }
    for (const [index, line] of lines.entries()) {
      if (line === committed[from + index - 1]?.text) continue;
      this.#violations.push(`Line ${index + 1} of an export from ${from} differs from the log`);
      return;
    }
  }
}

/** The content that a client has after a response: the body of a 200 or 201, or after a 304 the cached content. */
function contentOf({ response, operation }: Exchange) {
  const { status, body, headers } = response!;
  if (status === 200 || status === 201) return { body, link: headers.get("link") };
  return status === 304 ? operation.cached : undefined;
}

interface KeyLifetime {
  issued: CommittedLine;
  /**
   * Ends of the key. `from` is the clock time from which an end applies; absent if it applies immediately.
   */
  ends: { from?: number; step: number; isEvent: boolean }[];
}

function keyLifetimes({ lines }: Oracle): Map<string, KeyLifetime> {
  const lifetimes = new Map<string, KeyLifetime>();
  for (const line of lines) {
    const { event: { type, data, time }, step } = line;
    if (type === "ApiKeyIssued") {
      const lifetime: KeyLifetime = { issued: line, ends: [] };
      if (data.expiresAt !== undefined) {
        lifetime.ends.push({ from: Date.parse(data.expiresAt), step, isEvent: false });
      }
      lifetimes.set(data.keyId, lifetime);
    } else if (type === "ApiKeyRevoked") {
      const isAtOnce = Date.parse(data.effectiveAt) <= Date.parse(time);
      const from = isAtOnce ? undefined : Date.parse(data.effectiveAt);
      lifetimes.get(data.keyId)?.ends.push({ from, step, isEvent: true });
    }
  }
  return lifetimes;
}

/** The expected page at a head. */
function pageOf(oracle: Oracle, position: number, operation: ListOperation) {
  const { limit = 20, status, cursor = Infinity } = operation;
  const shown: string[] = [];
  let last: number | undefined;
  for (let id = Math.min(cursor - 1, oracle.pets.length); id >= 1; id--) {
    const pet = oracle.stateAt(id, position);
    if (pet === undefined || status !== undefined && pet.status !== status) continue;
    // One pet more than the limit means that there is a next page.
    if (shown.length === limit) return { body: `[${shown.join(",")}]`, next: last };
    shown.push(pet.petText);
    last = id;
  }
  return { body: `[${shown.join(",")}]`, next: undefined };
}
