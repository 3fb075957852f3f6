import { assertEquals } from "@std/assert";
import { newDatabase } from "../../src/runtime/new_database.ts";

const CASES: [present: string, address: string, command: string][] = [
  [
    "postgres://pets:se%2Fcret@a.example:5432,b.example/pets?sslmode=verify-full",
    "postgres://pets:PASSWORD@a.example:5432,b.example/new?sslmode=verify-full",
    "createdb --maintenance-db 'postgres://ADMINISTRATOR@a.example:5432,b.example/postgres?sslmode=verify-full' --owner pets new",
  ],
  [
    "postgres:///pets?host=/run/postgresql",
    "postgres:///new?host=/run/postgresql",
    "(cd / && runuser -u postgres -- createdb --maintenance-db 'postgres:///postgres?host=/run/postgresql' --owner animal-store new)",
  ],
  [
    "postgresql://pets@%2Frun%2Fpostgresql/pets",
    "postgresql://pets@%2Frun%2Fpostgresql/new",
    "(cd / && runuser -u postgres -- createdb --maintenance-db 'postgresql://%2Frun%2Fpostgresql/postgres' --owner pets new)",
  ],
];

Deno.test("newDatabase() names a database on the server of the present one, and the command that makes it, without a password", () => {
  for (const [present, address, command] of CASES) {
    assertEquals(newDatabase(present, "new", "animal-store"), { address, command });
  }
});
