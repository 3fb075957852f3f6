import { assertEquals } from "@std/assert";
import { findPassword } from "../../../src/store/postgres/passfile.ts";

const HOST = { hostname: "db.example", port: 5432 };
const ADDRESS = { database: "pets", user: "me" };

Deno.test("findPassword() returns the password of the first line that matches", () => {
  const find = (...lines: string[]) => findPassword(lines.join("\n"), HOST, ADDRESS);
  assertEquals(find(), undefined);
  assertEquals(find("db.example:5432:pets:me:secret"), "secret");
  assertEquals(find("*:*:*:*:any\r", "db.example:5432:pets:me:secret"), "any");
  assertEquals(find("other:*:*:*:any", "db.example:*:pets:me:secret"), "secret");
  for (const line of ["db.example:5433:*:*:x", "*:*:dogs:*:x", "*:*:*:you:x", "#*:*:*:*:x"]) {
    assertEquals([line, find(line, "", "broken")], [line, undefined]);
  }
});

Deno.test("findPassword() takes quoted and plain colons, and backslashes", () => {
  const find = (line: string, hostname = HOST.hostname) =>
    findPassword(line, { ...HOST, hostname }, ADDRESS);
  assertEquals(find("*:*:*:*:a\\:b:c\\\\d"), "a:b:c\\d");
  assertEquals(find("\\:\\:1:*:*:*:secret", "::1"), "secret");
  assertEquals(find("*:*:*:*:"), "");
});
