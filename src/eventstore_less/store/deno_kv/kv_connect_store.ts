/**
 * A store over KV Connect (https://github.com/denoland/denokv, proto/kv-connect.md). Its client is a package from npm:
 * unlike the one in Deno, it sends a commit of more than a kilobyte without waiting for an acknowledgement (40 ms), and
 * its calls can be given up. Commits do without it, because {@linkcode encodeAtomicWrite} is ten times as fast (measured).
 */

import { Buffer } from "node:buffer";
import { bytesOfHex, hexOf } from "../../encoding/hex.ts";
import { connectKv, fetcherUntil } from "../../runtime/kv_connect.ts";
import { reasonOf } from "../../runtime/logger.ts";
import { decodeKey, encodeKey, encodeRange } from "../key_encoding.ts";
import {
  type Commit,
  expectListLimit,
  type Key,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  VALUE_BYTES_LIMIT,
} from "../store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";
import { withKvCommitErrors, withKvReadErrors } from "./kv_errors.ts";

/** The parts of the client that are not in its interface: they find where a commit is sent, and read several ranges. */
interface RemoteKv {
  /** Renews the metadata if they are about to expire. */
  locateEndpointUrl(consistency: "strong"): Promise<string>;
  metadata: { version: number; databaseId: string; token: string };
  /** Reads ranges of one snapshot, at most {@linkcode READ_RANGES_LIMIT}, with {@linkcode READ_ENTRIES_LIMIT} in total. */
  snapshotRead(
    request: { ranges: ReadRange[] },
    consistency: "strong",
  ): Promise<{ ranges: { values: WireEntry[] }[] }>;
  decodeV8(value: Uint8Array): unknown;
  close(): void;
}

type ReadRange = { start: Uint8Array; end: Uint8Array; limit: number; reverse: boolean };

interface WireEntry {
  key: Uint8Array;
  value: Uint8Array;
  encoding: "VE_V8" | "VE_LE64" | "VE_BYTES";
  versionstamp: Uint8Array;
}

/** The limits of a server for one request (https://github.com/denoland/denokv, proto/limits.rs). */
const READ_RANGES_LIMIT = 10;
const READ_ENTRIES_LIMIT = 1_000;

/** Maximum number of times that the parts of a large snapshot are read, until no commit comes between. */
const SNAPSHOT_ATTEMPTS = 30;

/** The messages of the client's errors about an answer that arrived, but that it cannot use. */
const OTHER_SERVER = /^(Unexpected response content-type|Bad DatabaseMetadata|Unsupported|No end)/;

/**
 * Connects to a server, with the token in `DENO_KV_ACCESS_TOKEN`. When the store is closed, calls in flight reject.
 * Commits that replace the record with the key of the head do not come between the parts of a large snapshot. Rejects
 * with {@linkcode StoreAwayError} or {@linkcode StoreRefusedError}.
 */
export async function openKvConnectStore(
  address: string,
  headKey: Key,
  signal: AbortSignal,
): Promise<Store> {
  if (connectKv === undefined) throw new StoreRefusedError("KV Connect needs Deno");
  const calls = new AbortController();
  const giveUp = () => calls.abort();
  signal.addEventListener("abort", giveUp);
  try {
    const fetcher = fetcherOf(calls.signal);
    const kv = await connectKv(address, fetcher) as unknown as RemoteKv;
    const read = async (ranges: ReadRange[]): Promise<StoreEntry[][]> => {
      const answer = await kv.snapshotRead({ ranges }, "strong");
      if (answer.ranges.length !== ranges.length) {
        throw new UnclearOutcomeError(`it answers ${answer.ranges.length} of ${ranges.length}`);
      }
      return answer.ranges.map(({ values }) => values.map((entry) => storeEntry(entry, kv)));
    };
    const snapshot: Store["snapshot"] = async (keys, ranges, options) => {
      expectListLimit(options);
      const { limit, reverse = false } = options;
      const ofRanges = ranges.map((range) => ({ ...encodeRange(range), limit, reverse }));
      const lists = await readAtOneMoment([...keys.map(rangeOfKey), ...ofRanges], headKey, read);
      const entries = lists.splice(0, keys.length).map(([entry = null]) => entry);
      return { entries, lists };
    };
    const send = async (commit: Commit): Promise<string | null> => {
      const url = `${await kv.locateEndpointUrl("strong")}/atomic_write`;
      const { version, databaseId, token } = kv.metadata;
      const target: Record<string, string> = version === 1
        ? { "x-transaction-domain-id": databaseId }
        : { "x-denokv-version": `${version}`, "x-denokv-database-id": databaseId };
      const headers = {
        "authorization": `Bearer ${token}`,
        "content-type": "application/x-protobuf",
        ...target,
      };
      const body = encodeAtomicWrite(commit);
      const response = await fetcher(url, { method: "POST", headers, body });
      // A proxy may respond with a page.
      const type = response.headers.get("content-type") ?? "";
      if (!type.endsWith("protobuf")) throw new UnclearOutcomeError(`it answers with ${type}`);
      return decodeAtomicWriteOutput(new Uint8Array(await response.arrayBuffer()));
    };
    const readTyped: Store["snapshot"] = (...args) => withKvReadErrors(() => snapshot(...args));
    return {
      limits: STORE_LIMITS,
      get: async (key) => (await readTyped([key], [], { limit: 0 })).entries[0],
      list: async (range, options) => (await readTyped([], [range], options)).lists[0],
      snapshot: readTyped,
      commit: (commit) => withKvCommitErrors(() => send(commit)),
      close() {
        kv.close();
        giveUp();
      },
    };
  } catch (error) {
    giveUp();
    if (error instanceof StoreError) throw error;
    // The client's message may contain a whole page.
    if (OTHER_SERVER.test(reasonOf(error))) {
      throw new StoreRefusedError("it is not a KV Connect server");
    }
    throw new StoreAwayError(`its answer broke off: ${reasonOf(error)}`);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/**
 * Reads ranges in one request, which is one snapshot. If they are too many for it, each request also reads the head: all
 * are of one moment if they have the same head.
 */
async function readAtOneMoment(
  ranges: ReadRange[],
  headKey: Key,
  read: (ranges: ReadRange[]) => Promise<StoreEntry[][]>,
): Promise<StoreEntry[][]> {
  const parts = partsOf(ranges, READ_RANGES_LIMIT, READ_ENTRIES_LIMIT);
  if (parts.length === 1) return await read(parts[0]);
  const head = rangeOfKey(headKey);
  const partsBesideHead = partsOf(ranges, READ_RANGES_LIMIT - 1, READ_ENTRIES_LIMIT - 1);
  for (let attempt = 1; attempt <= SNAPSHOT_ATTEMPTS; attempt++) {
    const answers = await Promise.all(partsBesideHead.map((part) => read([head, ...part])));
    const heads = new Set(answers.map(([found]) => found.at(0)?.versionstamp));
    if (heads.size === 1) return answers.flatMap(([, ...lists]) => lists);
  }
  throw new NotAppliedError(`Commits came between ${SNAPSHOT_ATTEMPTS} reads of a snapshot`);
}

/** Splits ranges into parts with at most so many ranges and entries each. Without ranges, there is one empty part. */
function partsOf(ranges: ReadRange[], maxRanges: number, maxEntries: number): ReadRange[][] {
  const parts: ReadRange[][] = [[]];
  let entries = 0;
  for (const range of ranges) {
    const isFull = parts.at(-1)!.length === maxRanges || entries + range.limit > maxEntries;
    if (isFull) {
      parts.push([]);
      entries = 0;
    }
    parts.at(-1)!.push(range);
    entries += range.limit;
  }
  return parts;
}

/** The range that contains only this key. */
function rangeOfKey(key: Key): ReadRange {
  if (key.length === 0) throw new StoreRefusedError("A key cannot be empty");
  const start = encodeKey(key);
  return { start, end: Uint8Array.of(...start, 0x00), limit: 1, reverse: false };
}

function storeEntry({ key, value, encoding, versionstamp }: WireEntry, kv: RemoteKv): StoreEntry {
  const entry = { key: decodeKey(key), versionstamp: hexOf(versionstamp) };
  // Another program has written the other values.
  if (encoding === "VE_V8") return { ...entry, value: kv.decodeV8(value) };
  if (encoding !== "VE_BYTES") return { ...entry, value: encoding };
  // Copied, because the client returns a view of the whole response, which would stay in memory with the value.
  return { ...entry, value: value.slice() };
}

/**
 * Makes the client's requests, and types their failures. A failed call is unclear even if no connection was made:
 * `fetch()` repeats a request if a connection that it used before breaks, and reports only the second attempt.
 */
function fetcherOf(signal: AbortSignal): typeof fetch {
  // With connections of its own, because the network may have dropped older ones silently.
  const fetchOwn = fetcherUntil(signal);
  return async (url, init) => {
    const isCall = /\/(atomic_write|snapshot_read)$/.test(new URL(String(url)).pathname);
    const Failed = isCall ? UnclearOutcomeError : StoreAwayError;
    const response = await fetchOwn(url, init).catch((error) => {
      throw new Failed(`it does not answer: ${reasonOf(error.cause ?? error)}`);
    });
    const { status } = response;
    if (status === 200) return response;
    // Shown on one line.
    const body = await response.text().catch(() => "");
    const firstLine = body.split("\n")[0].slice(0, 200);
    const shown = firstLine === "" ? "" : `: ${firstLine}`;
    const reason = `it answers with status ${status}${shown}`;
    // The token of a call is another one: it comes from the answer to the first request, and expires.
    if (!isCall && (status === 401 || status === 403)) {
      throw new StoreRefusedError("it refuses the access token (DENO_KV_ACCESS_TOKEN)");
    }
    const isRefused = isCall ? refusesCall(status) : refusesConnection(status);
    throw isRefused ? new StoreRefusedError(reason) : new Failed(reason);
  };
}

/** A bad request, or too large a content. */
function refusesCall(status: number): boolean {
  return status === 400 || status === 413;
}

/** A time-out and too many requests refuse nothing. */
function refusesConnection(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

/** Wire types of Protocol Buffers (https://github.com/denoland/denokv, proto/schema/datapath.proto). */
const VARINT = 0;
const BYTES = 2;

/** Fields with a fixed content: that a mutation sets or deletes, and that a value consists of bytes. */
const SET = Uint8Array.of(3 << 3 | VARINT, 1);
const DELETE = Uint8Array.of(3 << 3 | VARINT, 2);
const IS_BYTES = Uint8Array.of(2 << 3 | VARINT, 3);

/** The starts of an AtomicWriteOutput: field 1 is the outcome, field 2 the versionstamp. */
const SUCCESS = "0801120a";
const CHECK_FAILURE = "0802";

/** Throws `StoreRefusedError` if a key is empty, or a value too large. */
function encodeAtomicWrite({ guard, mutations }: Commit): Uint8Array<ArrayBuffer> {
  const { key, versionstamp } = guard;
  const version = versionstamp === null ? [] : field(2, [bytesOfHex(versionstamp)]);
  const parts = field(1, [...field(1, [encodeKey(key)]), ...version]);
  for (const mutation of mutations) {
    if (mutation.key.length === 0) throw new StoreRefusedError("A key cannot be empty");
    const message = field(1, [encodeKey(mutation.key)]);
    if (mutation.type === "delete") {
      message.push(DELETE);
    } else {
      const { value } = mutation;
      if (value.length > VALUE_BYTES_LIMIT) throw new StoreRefusedError("A value is too large");
      message.push(...field(2, [...field(1, [value]), IS_BYTES]), SET);
    }
    parts.push(...field(2, message));
  }
  return Buffer.concat(parts);
}

/** The new versionstamp, or `null` if the guard has changed. Throws `UnclearOutcomeError` for other outcomes. */
function decodeAtomicWriteOutput(bytes: Uint8Array): string | null {
  const hex = hexOf(bytes);
  if (hex.startsWith(SUCCESS) && hex.length >= 28) return hex.slice(8, 28);
  if (hex.startsWith(CHECK_FAILURE)) return null;
  throw new UnclearOutcomeError(`it answers with the outcome ${hex.slice(0, 28)}`);
}

function field(number: number, parts: Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [head(number, BYTES, length), ...parts];
}

function head(number: number, type: number, value: number): Uint8Array {
  const bytes = [number << 3 | type];
  let rest = value;
  while (rest > 127) {
    bytes.push(rest % 128 + 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.of(...bytes, rest);
}
