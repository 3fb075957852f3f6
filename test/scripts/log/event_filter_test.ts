import { assertEquals, assertThrows } from "@std/assert";
import { APPLICATION } from "../../../src/application.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { sampleLog } from "../../support/sample_log.ts";

// A module of a command reads the environment when it is loaded.
const ENVIRONMENT = permissions("env");
const { eventFilter } = ENVIRONMENT.isMet
  ? await import("../../../scripts/log/event_filter.ts")
  : {};
const test = testNeeding(ENVIRONMENT);

// One event a second: at 3 s and 4 s pets of the key of position 1, which position 12 revokes.
const LINES = sampleLog(30, Date.parse("2026-11-20T00:00:00Z"));
const KEY = JSON.parse(LINES[0]).id;

const second = (number: number) => `2026-11-20T00:00:${String(number).padStart(2, "0")}`;

/** A subject of each collection. */
const SUBJECTS = APPLICATION.collections.map(({ name, exampleId }) => `${name}/${exampleId}`);

type Flags = Parameters<NonNullable<typeof eventFilter>>[0];

test("eventFilter() selects events by type, subject, actor and time", () => {
  const cases: [flags: Flags, positions: number[]][] = [
    // The addition, the changes and the removal.
    [{ subject: "pets/1" }, [2, 10, 15]],
    [{ subject: "pets/3" }, [4, 5, 30]],
    [{ subject: "pets/11" }, [24, 25]],
    [{ subject: "categories/1" }, [7, 17, 27, 29]],
    [{ type: ["PetUpdated"], until: second(20) }, [5, 10]],
    [{ type: ["PetRemoved"] }, [15]],
    [{ type: ["PetRemoved", "ApiKeyRevoked"] }, [12, 15, 22]],
    [{ "no-keys": true, until: second(13) }, [2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ subject: `keys/${KEY}` }, [1, 12]],
    [{ actor: KEY }, [2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ actor: "operator" }, [1, 11, 12, 21, 22]],
    [{ since: `${second(28)}Z` }, [28, 29, 30]],
    [{ until: second(3) }, [1, 2]],
    [{ since: "2026-11-20T02:00:03+02:00", until: `${second(5)}.000Z` }, [3, 4]],
    [{ until: "2026-11-20" }, []],
    [{ since: "2026-11-20T00:01" }, []],
    [{ since: "36500d", type: ["ApiKeyRevoked"] }, [12, 22]],
  ];
  const stored = LINES.map((line, index) => {
    return { position: index + 1, line: new TextEncoder().encode(line) };
  });
  for (const [flags, positions] of cases) {
    const selected = stored.filter(eventFilter!(flags)!).map(({ position }) => position);
    assertEquals(selected, positions, JSON.stringify(flags));
  }
  assertEquals(eventFilter!({}), undefined);
});

test("eventFilter() refuses what no event can have", () => {
  const cases: [flags: Flags, message: string][] = [
    [{ type: ["PetRemoved", "PetSold"] }, "--type takes one of "],
    [{ subject: "pets/0" }, `--subject takes ${SUBJECTS.join(" or ")}, not "pets/0"`],
    [{ actor: "Ann" }, '--actor takes the id of a key, or operator, not "Ann"'],
    [{ since: "2026-02-30" }, "--since takes a time like "],
    [{ until: "soon" }, "--until takes a time like "],
    [{ since: "1h", until: "2h" }, "--until must not be before --since"],
  ];
  for (const [flags, message] of cases) assertThrows(() => eventFilter!(flags), Error, message);
});
