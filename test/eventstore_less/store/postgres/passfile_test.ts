import { assertEquals, assertRejects } from "@std/assert";
import { readPassfile } from "../../../../src/eventstore_less/store/postgres/passfile.ts";
import { StoreRefusedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";

const OWN = "db.example:5432:pets:me:secret";

/** The lines of a file, and the password that is found. */
const CASES: [lines: string[], password: string][] = [
  [[OWN], "secret"],
  [["", "broken", "*:*:*:*:any\r", OWN], "any"],
  [["other:*:*:*:any", "db.example:*:pets:me:secret"], "secret"],
  [["*:*:*:*:a\\:b:c\\\\d"], "a:b:c\\d"],
  [["db\\.example:*:*:*:secret"], "secret"],
];

/** The lines of files without a password for the host. */
const WITHOUT = [
  [],
  ["db.example:5433:*:*:x", "*:*:dogs:*:x", "*:*:*:you:x", "#*:*:*:*:x", "", "broken"],
  ["*:*:*:*:"],
];

const HOST = { hostname: "db.example", port: 5432 };
const ROLE = { database: "pets", user: "me" };

testNeeding(permissions("read", "write"))(
  "readPassfile() returns the password of the first line that matches, without its backslashes",
  async () => {
    const path = await Deno.makeTempFile();
    for (const [lines, password] of CASES) {
      await Deno.writeTextFile(path, lines.join("\n"));
      const found = await readPassfile(path, HOST, ROLE);
      assertEquals([lines, found], [lines, password]);
    }
    await Deno.remove(path);
  },
);

testNeeding(permissions("read", "write"))(
  "readPassfile() rejects with the line to add if none has a password for the host, and shows no password",
  async () => {
    const path = await Deno.makeTempFile();
    for (const lines of WITHOUT) {
      await Deno.writeTextFile(path, lines.join("\n"));
      const reason =
        "it asks for a password, but no line of the password file (settings.passfile) matches; " +
        "add db.example:5432:pets:me:PASSWORD, or * in the place of a field";
      const error = await assertRejects(() => readPassfile(path, HOST, ROLE), StoreRefusedError);
      assertEquals(error.message, reason);
    }
    await Deno.remove(path);
  },
);
