import { assertEquals } from "@std/assert";
import { readPassfile } from "eventstore-less/store/postgres/passfile.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";

const OWN = "db.example:5432:pets:me:secret";

/** The lines of a file, and the password that is found. */
const CASES: [lines: string[], password: string | undefined][] = [
  [[], undefined],
  [[OWN], "secret"],
  [["", "broken", "*:*:*:*:any\r", OWN], "any"],
  [["other:*:*:*:any", "db.example:*:pets:me:secret"], "secret"],
  [["db.example:5433:*:*:x", "*:*:dogs:*:x", "*:*:*:you:x", "#*:*:*:*:x", "", "broken"], undefined],
  [["*:*:*:*:a\\:b:c\\\\d"], "a:b:c\\d"],
  [["db\\.example:*:*:*:secret"], "secret"],
  [["*:*:*:*:"], ""],
];

testNeeding(permissions("read", "write"))(
  "readPassfile() returns the password of the first line that matches, without its backslashes",
  async () => {
    const path = await Deno.makeTempFile();
    for (const [lines, password] of CASES) {
      await Deno.writeTextFile(path, lines.join("\n"));
      const host = { hostname: "db.example", port: 5432 };
      const found = await readPassfile(path, host, { database: "pets", user: "me" });
      assertEquals([lines, found], [lines, password]);
    }
    await Deno.remove(path);
  },
);
