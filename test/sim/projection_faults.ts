import type { Key } from "../../src/store/store.ts";
import type { CommittedLine } from "./oracle.ts";
import { linesFaults, type LinesRecord } from "./stored_lines.ts";

/** The content that lines make in a generation, by the design: a second implementation of project(). */
interface ExpectedRecords {
  /** The texts of pets by id, under each prefix. */
  pets: Map<string, Map<number, string>>;
  /** Records of one event each. */
  others: Map<string, ExpectedRecord>;
}

interface ExpectedRecord {
  /** Members that the value must have; others are allowed. */
  members: Record<string, unknown>;
  expires?: true;
}

/**
 * Says what is wrong with the records of a generation that lines have made. Their keys begin with
 * `["projection", generation]`. If the records are not those of one commit, some may have expired.
 */
export function* projectionFaults(
  records: Iterable<{ key: Key; value: unknown }>,
  lines: readonly CommittedLine[],
  { mayHaveExpired }: { mayHaveExpired: boolean },
): Generator<string> {
  const { pets, others } = expectedRecords(lines);
  const found = new Map<string, LinesRecord[]>();
  for (const { key: [, , ...key], value } of records) {
    const name = JSON.stringify(key);
    if (key[0] === "pet" || key[0] === "pet_by_status") {
      const prefix = JSON.stringify(key.slice(0, -1));
      found.set(prefix, [...found.get(prefix) ?? [], { number: key.at(-1) as number, value }]);
      continue;
    }
    const expected = others.get(name);
    others.delete(name);
    if (expected === undefined) yield `${name} is there without an event`;
    else if (!hasMembers(value, expected.members)) yield `${name} holds ${value}`;
  }
  for (const [name, { expires }] of others) {
    if (!(expires && mayHaveExpired)) yield `${name} is missing`;
  }
  for (const prefix of new Set([...pets.keys(), ...found.keys()])) {
    for (const fault of linesFaults(found.get(prefix) ?? [], pets.get(prefix) ?? new Map())) {
      yield `Under ${prefix}, ${fault}`;
    }
  }
}

function expectedRecords(lines: readonly CommittedLine[]): ExpectedRecords {
  const pets: ExpectedRecords["pets"] = new Map();
  const others: ExpectedRecords["others"] = new Map();
  for (const { event, position, petText } of lines) {
    const { data, type, time, actor } = event;
    switch (type) {
      case "PetCreated": {
        const prefixes = [["pet"]];
        if (data.status !== undefined) prefixes.push(["pet_by_status", data.status]);
        for (const prefix of prefixes.map((prefix) => JSON.stringify(prefix))) {
          if (!pets.has(prefix)) pets.set(prefix, new Map());
          pets.get(prefix)!.set(data.id, petText!);
        }
        if (event.idempotencykey !== undefined) {
          const key = ["pet_by_idempotency_key", actor, event.idempotencykey, position];
          // The time of the expiry depends on the writer's clock, which may have been wrong.
          others.set(JSON.stringify(key), { members: { petId: data.id }, expires: true });
        }
        break;
      }
      case "ApiKeyIssued": {
        const { keyId, label, expiresAt, readOnly, tokenHash } = data;
        const members = { keyId, label, issuedAt: time, expiresAt, readOnly };
        const key = ["key_by_token", tokenHash, position];
        others.set(JSON.stringify(key), { members });
        break;
      }
      case "ApiKeyRevoked": {
        const members = { keyId: data.keyId, revokedAt: data.effectiveAt };
        const key = ["key_by_token", data.tokenHash, position];
        others.set(JSON.stringify(key), { members });
        break;
      }
      default:
        throw new Error(`The oracle does not know events of type ${type}`);
    }
  }
  return { pets, others };
}

function hasMembers(value: unknown, members: Record<string, unknown>): boolean {
  const record = JSON.parse(value as string);
  return Object.entries(members).every(([name, expected]) => record[name] === expected);
}
