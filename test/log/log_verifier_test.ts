import { assertEquals, assertMatch } from "@std/assert";
import { LINE_LIMIT_BYTES } from "../../src/log/lines.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { IMPOSSIBLE_HISTORIES, POSSIBLE_HISTORIES } from "../support/histories.ts";
import { rewritten, sampleLog } from "../support/sample_log.ts";

const encoder = new TextEncoder();
const LINES = sampleLog(45);

/** All faults, each with its line number. */
function faultsOf(lines: (string | Uint8Array)[]): string[] {
  const verifier = new LogVerifier();
  return lines.flatMap((line, index) =>
    verifier.verify(typeof line === "string" ? encoder.encode(line) : line)
      .faults.map((fault) => `${index + 1}: ${fault}`)
  );
}

function replaced(index: number, from: string | RegExp, to: string): string[] {
  const line = LINES[index].replace(from, to);
  assertEquals(line === LINES[index], false, "the sample line has no match");
  return LINES.with(index, line);
}

Deno.test("LogVerifier finds no fault in a sound log, and returns its head", () => {
  assertEquals(faultsOf(LINES), []);
  const verifier = new LogVerifier();
  for (const line of LINES) verifier.verify(encoder.encode(line));
  assertEquals(verifier.head, {
    format: 3,
    position: 45,
    lastPetId: 36,
    lastHash: sha256Hex(LINES[44]),
    keyPosition: 42,
    generation: 1,
  });
});

Deno.test("LogVerifier finds any changed byte", () => {
  const bytes = encoder.encode(LINES[20]);
  for (let offset = 0; offset < bytes.length; offset++) {
    const changed = bytes.slice();
    changed[offset] ^= 1;
    const faults = faultsOf([...LINES.slice(0, 20), changed, ...LINES.slice(21)]);
    assertMatch(faults.join("\n"), /^2[12]: /, `byte ${offset}`);
  }
});

Deno.test("LogVerifier finds missing, repeated and swapped lines at the first wrong line", () => {
  assertEquals(faultsOf(LINES.toSpliced(9, 1)), [
    "10: its sequence says position 11, but 10 was expected",
  ]);
  const repeated = LINES.toSpliced(9, 0, LINES[9]);
  assertMatch(faultsOf(repeated)[0], /^11: its sequence says position 10, but 11 was expected$/);
  const swapped = LINES.with(8, LINES[9]).with(9, LINES[8]);
  assertMatch(faultsOf(swapped)[0], /^9: its sequence says position 10, but 9 was expected$/);
});

Deno.test("LogVerifier finds a changed line at the line after it", () => {
  assertEquals(faultsOf(replaced(5, "Zoë", "Zoe")), [
    "7: its previoushash is not the SHA-256 of the line before, so one of the two was altered",
  ]);
});

Deno.test("LogVerifier finds a false history with correct hashes", () => {
  const id = /"id":"(\w+)"/.exec(LINES[9])![1];
  const other = sha256Hex("other");
  const cases: [index: number, from: RegExp, to: string, fault: RegExp][] = [
    [4, /pets\/4"(.*)"id":4/, 'pets/9"$1"id":9', /^5: it adds pet 9, but pet 4/],
    [4, /"actor":"\w+"/, '"actor":"01HZZZZZZZ0000000000000044"', /^5: its actor 01H.*44 is not a/],
    [
      11,
      /"tokenHash":"\w+"/,
      `"tokenHash":"${other}"`,
      /^12: it revokes key 01HZ\w+ under a token/,
    ],
    [
      10,
      /"tokenHash":"\w+"/,
      `"tokenHash":"${sha256Hex("token 1")}"`,
      /^11: key .* was issued bef/,
    ],
    [
      22,
      /"id":"\w+"/,
      `"id":"${id}"`,
      new RegExp(`^23: its id ${id} is that of an earlier event$`),
    ],
  ];
  for (const [index, from, to, fault] of cases) {
    const lines = rewritten(LINES, index, replaced(index, from, to)[index]);
    assertMatch(faultsOf(lines)[0], fault);
  }
});

Deno.test("LogVerifier finds every history that the service cannot have written", () => {
  for (const { name, lines, fault } of IMPOSSIBLE_HISTORIES) {
    assertEquals(faultsOf(lines), [`${lines.length}: ${fault}`], name);
  }
});

Deno.test("LogVerifier accepts histories that look impossible and are not", () => {
  for (const { name, lines } of POSSIBLE_HISTORIES) assertEquals(faultsOf(lines), [], name);
});

Deno.test("LogVerifier finds lines that are not events of this log, and continues after them", () => {
  const foreign: [string | Uint8Array, RegExp][] = [
    ["", /^8: The line is not JSON/],
    ["{}", /^8: /],
    [`${LINES[7]}\r`, /^8: The line differs from the bytes that the service writes, for example/],
    [LINES[7].replace("PetCreated", "PetSold"), /^8: The line differs /],
    [
      LINES[7].replace("PetCreated", "PetSold").replace("pet-created", "pet-sold"),
      /^8: A newer version wrote the line: event type PetSold is not known$/,
    ],
    [
      LINES[7].replace("pet-created:1", "pet-created:2"),
      /^8: A newer version wrote the line: schema urn:animal-store:pet-created:2 is not known$/,
    ],
    [LINES[7].replace("pet-created:1", "pet-created:0"), /^8: The line differs /],
    [new Uint8Array([0xff]), /^8: The line is not valid UTF-8$/],
    ["x".repeat(LINE_LIMIT_BYTES + 1), /^8: The line is longer than 65535 bytes$/],
  ];
  for (const [line, words] of foreign) {
    const faults = faultsOf([...LINES.slice(0, 7), line, ...LINES.slice(8)]);
    assertMatch(faults[0], words);
    assertEquals(faults.filter((fault) => !/^[89]: /.test(fault)), []);
  }
});
