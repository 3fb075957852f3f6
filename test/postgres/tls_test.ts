import { reasonOf } from "eventstore-less/startup";
import { assertMatch } from "@std/assert";
import { makeCertificates } from "../support/certificates.ts";
import { openDatabase, POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { TempStore } from "../support/temp_store.ts";

const test = testNeeding(POSTGRES.need);

test("sslmode and sslrootcert are honoured", async () => {
  await using temp = await TempStore.make();
  const { folder } = temp;
  await Deno.chmod(folder, 0o755);
  const { authority, certificate, key } = await makeCertificates(folder, "DNS:localhost");
  await PostgresServer.own(key);
  await using server = await PostgresServer.start({
    ssl: "on",
    ssl_cert_file: certificate,
    ssl_key_file: key,
  });
  await server.createDatabase();
  const cert = `&sslrootcert=${authority}`;
  const refused = /^127\.0\.0\.1:\d+: its certificate is refused: .+/;
  const ofLocalhost = /^localhost:\d+: its certificate is refused: .+/;
  const cases: [host: string, query: string, outcome: RegExp][] = [
    ["127.0.0.1", "", CONNECTED],
    ["127.0.0.1", "?sslmode=disable", CONNECTED],
    ["127.0.0.1", "?sslmode=prefer", CONNECTED],
    ["127.0.0.1", "?sslmode=require", CONNECTED],
    ["127.0.0.1", `?sslmode=verify-ca${cert}`, CONNECTED],
    ["localhost", `?sslmode=verify-full${cert}`, CONNECTED],
    ["127.0.0.1", `?sslmode=verify-full${cert}`, refused],
    ["localhost", "?sslmode=verify-full", ofLocalhost],
    ["localhost", "?sslmode=verify-ca", ofLocalhost],
    ["localhost", `?sslmode=verify-full${cert}.nowhere`, /the file of sslrootcert cannot be read/],
  ];
  for (const [host, query, outcome] of cases) {
    assertMatch(await connect(server, query, host), outcome, host + query);
  }
  // Only connections with TLS are allowed, so a connection shows whether it uses TLS.
  await server.allowOnly("hostssl");
  assertMatch(await connect(server, ""), CONNECTED);
  assertMatch(await connect(server, "?sslmode=require"), CONNECTED);
  assertMatch(await connect(server, "?sslmode=disable"), /no encryption/);
});

test("a server without TLS gets clear text only if sslmode allows it", async () => {
  await using server = await PostgresServer.start();
  await server.createDatabase();
  for (const query of ["", "?sslmode=prefer", "?sslmode=disable"]) {
    assertMatch(await connect(server, query), CONNECTED);
  }
  for (const mode of ["require", "verify-ca", "verify-full"]) {
    assertMatch(await connect(server, `?sslmode=${mode}`), /does not support SSL/);
  }
});

const CONNECTED = /^connected$/;

/** Resolves to `connected`, or to the reason of a refusal. */
async function connect(server: PostgresServer, query: string, host = "127.0.0.1"): Promise<string> {
  try {
    const url = server.url("pets_1", { query }).replace("127.0.0.1", host);
    (await openDatabase(url)).close();
    return "connected";
  } catch (error) {
    return reasonOf(error);
  }
}
