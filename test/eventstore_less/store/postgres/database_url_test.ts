import { userInfo } from "node:os";
import { assertEquals, assertThrows } from "@std/assert";
import { permissions, testNeeding } from "../../../support/test_needing.ts";
import {
  databaseName,
  parseDatabaseUrl,
} from "../../../../src/eventstore_less/store/postgres/database_url.ts";

const HOST = "postgres://me@db.example/pets";

Deno.test("parseDatabaseUrl() reads user, password, hosts, ports and database", () => {
  assertEquals(parseDatabaseUrl(HOST), {
    hosts: [{ hostname: "db.example", port: 5432 }],
    database: "pets",
    user: "me",
    password: undefined,
    sslMode: "prefer",
    sslRootCert: undefined,
  });
  const { hosts, user, password, database } = parseDatabaseUrl(
    "postgresql://m%40e:p%3Ass%2F:w@a.example:5433,[::1],10.0.0.1:5432/my%20pets",
  );
  assertEquals(hosts, [
    { hostname: "a.example", port: 5433 },
    { hostname: "::1", port: 5432 },
    { hostname: "10.0.0.1", port: 5432 },
  ]);
  assertEquals([user, password, database], ["m@e", "p:ss/:w", "my pets"]);
});

/** Addresses of Unix sockets, with their hosts. */
const SOCKETS: [address: string, hosts: [hostname: string, port: number][]][] = [
  ["postgresql://me@/pets?host=/run/postgresql", [["/run/postgresql", 5432]]],
  ["postgresql://me@/pets?host=%2Frun%2Fpostgresql&port=5433", [["/run/postgresql", 5433]]],
  ["postgresql://me@%2Frun%2Fpostgresql/pets", [["/run/postgresql", 5432]]],
  ["postgresql://me@%2Frun%2Fpostgresql:5433,b/pets", [["/run/postgresql", 5433], ["b", 5432]]],
  ["postgresql://me@/pets?host=/run/a:b/", [["/run/a:b", 5432]]],
  ["postgresql://me@/pets?host=/run/a,/run/b,::1&port=5433", [
    ["/run/a", 5433],
    ["/run/b", 5433],
    ["::1", 5433],
  ]],
  ["postgresql://me@/pets?host=/run/a,db.example&port=5433,5434", [
    ["/run/a", 5433],
    ["db.example", 5434],
  ]],
];

Deno.test("parseDatabaseUrl() reads the folders of Unix sockets, as parts of the address and as parameters", () => {
  for (const [address, hosts] of SOCKETS) {
    const parsed = parseDatabaseUrl(address);
    const found = parsed.hosts.map(({ hostname, port }) => [hostname, port]);
    assertEquals([address, found, parsed.user], [address, hosts, "me"]);
  }
});

testNeeding(permissions("sys"))(
  "parseDatabaseUrl() takes the user of the system for Unix sockets alone, if the address names none",
  () => {
    const { username } = userInfo();
    for (const address of ["postgres:///pets?host=/run/a", "postgres://%2Frun%2Fa/pets"]) {
      assertEquals(parseDatabaseUrl(address).user, username);
    }
    const mixed = () => parseDatabaseUrl("postgres:///pets?host=/run/a,b");
    assertThrows(mixed, TypeError, "must name a user before an @");
  },
);

Deno.test("parseDatabaseUrl() reads sslmode and sslrootcert as libpq does", () => {
  const read = (query: string) => {
    const { sslMode, sslRootCert } = parseDatabaseUrl(`${HOST}?${query}`);
    return [sslMode, sslRootCert];
  };
  assertEquals(read(""), ["prefer", undefined]);
  for (const mode of ["disable", "prefer", "require", "verify-ca", "verify-full"]) {
    assertEquals(read(`sslmode=${mode}`), [mode, undefined]);
  }
  assertEquals(read("sslmode=verify-full&sslrootcert=system"), ["verify-full", undefined]);
  assertEquals(read("sslrootcert=/etc/ca%20.pem&sslmode=verify-full"), [
    "verify-full",
    "/etc/ca .pem",
  ]);
  assertEquals(read("sslmode=require&sslrootcert=ca.pem"), ["verify-ca", "ca.pem"]);
  assertEquals(read("target_session_attrs=read-write"), ["prefer", undefined]);
  // A plus is a plus, as in libpq.
  assertEquals(read("sslmode=verify-ca&sslrootcert=a+b=c.pem"), ["verify-ca", "a+b=c.pem"]);
});

Deno.test("parseDatabaseUrl() refuses other addresses, and does not repeat a password", () => {
  const faulty: [string, string][] = [
    ["hunter2", "must begin with postgres://, as in postgres://user@host:5432/database"],
    ["http://me:hunter2@db.example/pets", "must begin with postgres://"],
    ["jdbc:postgresql://me:hunter2@db.example/pets", "must begin with postgres://"],
    ["postgres:/me:hunter2/pets", "must begin with postgres://"],
    ["postgres://me:hunter2@db.example", "must name a database after the host, as in postgres://"],
    ["postgres://me:hunter2@db.example/", "must name a database after the host"],
    ["postgres://me:hunter2@db.example?sslmode=require", "must name a database after the host"],
    ["postgres://me:hunter2@db.example/pets/more", "has a / in the name of the database"],
    ["postgres://db.example/pets", "must name a user before an @, as in postgres://"],
    ["postgres://:hunter2@db.example/pets", "must name a user"],
    ["postgres://me:hunter2@/pets", "must name a host after the @, as in postgres://"],
    [
      "postgres://me:hunter2@/pets",
      "or the folder of a Unix socket, as in postgres:///database?host=",
    ],
    ["postgres:///pets", "must name a host"],
    ["postgres://me:hunter2@/pets?host=", "has an empty host"],
    ["postgres://me:hunter2@/pets?host=/run,", "has an empty host"],
    [
      "postgres://me:hunter2@a/pets?host=/run",
      "names hosts twice: after the @ and in the parameter",
    ],
    ["postgres://me:hunter2@a/pets?port=5433", "has the parameter port without the parameter host"],
    ["postgres://me:hunter2@/pets?host=/run&port=1,2", "must have one port, or one for each host"],
    ["postgres://me:hunter2@/pets?host=/run&port=0", "must have a port from 1 to 65535"],
    ["postgres://me:hunter2@/pets?host=run/postgresql", "has a host that is neither a name nor an"],
    [
      `postgres://me:hunter2@/pets?host=/${"x".repeat(100)}`,
      "has a folder for which the path of the Unix socket is longer than 107 bytes",
    ],
    ["postgres://me:hunter2@:5432/pets", "has an empty host"],
    ["postgres://me:hunter2@a,,b/pets", "has an empty host"],
    ["postgres://me:hunter2@../pets", "has a host that is neither a name nor an address"],
    ["postgres://me:hunter2@a%20b/pets", "has a host that is neither a name nor an address"],
    ["postgres://me:hunter2@::1/pets", "write an IPv6 address in brackets, as in [::1]:5432"],
    ["postgres://me:hunter2@[:]/pets", "has brackets without an IPv6 address"],
    ["postgres://me:hunter2@[::1]5432/pets", "write an IPv6 address in brackets"],
    ["postgres://me:hunter2@a:b/pets", "must have a port from 1 to 65535"],
    ["postgres://me:hunter2@a:/pets", "must have a port from 1 to 65535"],
    ["postgres://me:hunter2@a:0/pets", "must have a port from 1 to 65535"],
    ["postgres://me:hunter2@a:70000/pets", "must have a port from 1 to 65535"],
    ["postgres://me:hunter2@a/pets?sslmode=verify-full&sslrootcert=%00", "must not contain %00"],
    ["postgres://me:hunter2@a/pets\n", "has a space or a line break"],
    ["postgres://me:hunter2 @a/pets", "has a space or a line break; write %20 for a space"],
    ["postgres://me:hunter2%@a/pets", "has a percent sign"],
    ["postgres://me:hunter2@a/pets?sslrootcert=%zz", "has a percent sign"],
    // A reserved character in a password.
    ["postgres://me:hunter2#x@a/pets", "has a #; in a password, write %23, or leave"],
    ["postgres://me:x#hunter2@a/pets", "and set settings.password"],
    ["postgres://me:x/hunter2@a/pets", "has a / or ? before an @; in a password, write %2F"],
    ["postgres://me:x?hunter2@a/pets", "has a / or ? before an @; in a password, write %2F"],
    ["postgres://me:p@ss/wo?hunter2@a/pets", "and %3F for ?, or leave the password out"],
    ["postgres://me:x@hunter2@a/pets", "has more than one @; in a password, write %40 for @, or"],
    ["postgres://me:hunter2@a/pets?sslmode=allow", "must have an sslmode of disable, prefer"],
    ["postgres://me:hunter2@a/pets?sslmode", "must have an sslmode of disable, prefer"],
    ["postgres://me:hunter2@a/pets?sslrootcert=ca.pem", "must have sslmode=verify-full"],
    ["postgres://me:hunter2@a/pets?sslmode=require&sslmode=disable", "parameter sslmode twice"],
    ["postgres://me:hunter2@a/pets?target_session_attrs=standby", "must not select a standby"],
    [
      "postgres://me:hunter2@a/pets?password=hunter2",
      'has an unknown parameter "password"; remove it (known are host, port, sslmode, sslroot',
    ],
    ["postgres://me:x@a/pets?hunter2", "has an unknown parameter; remove it"],
  ];
  for (const [text, words] of faulty) {
    const { message } = assertThrows(() => parseDatabaseUrl(text), TypeError, words);
    assertEquals([text, message.includes("hunter2"), message.includes("\n")], [text, false, false]);
  }
});

Deno.test("databaseName() names hosts and database, but neither user nor password", () => {
  const address = parseDatabaseUrl("postgres://me:hunter2@a,[::1]:5433/pets");
  assertEquals(databaseName(address), "database pets on a:5432,[::1]:5433");
  const socket = parseDatabaseUrl("postgres://me@%2Frun%2Fpostgresql:5433/pets");
  assertEquals(databaseName(socket), "database pets on /run/postgresql/.s.PGSQL.5433");
});
