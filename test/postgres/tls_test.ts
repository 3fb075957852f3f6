import { assertEquals, assertMatch } from "@std/assert";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { runTask } from "../support/run_task.ts";
import { testIf } from "../support/test_if.ts";

const test = testIf(!POSTGRES.ignore);

test("sslmode and sslrootcert are honoured", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o755);
  await using _folder = { [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  const { authority, certificate, key } = await makeCertificates(folder);
  await using server = await PostgresServer.start({
    ssl: "on",
    ssl_cert_file: certificate,
    ssl_key_file: key,
  });
  const database = await server.createDatabase();
  const issue = async (host: string, query: string) => {
    const kvPath = server.url(database, { query }).replace("127.0.0.1", host);
    const { code, stderr } = await runTask(["keys", "issue", "--label", "tls"], { kvPath });
    return code === 0 ? "connected" : stderr;
  };
  const cert = `&sslrootcert=${authority}`;
  for (
    const [host, query] of [
      ["127.0.0.1", ""],
      ["127.0.0.1", "?sslmode=disable"],
      ["127.0.0.1", "?sslmode=prefer"],
      ["127.0.0.1", "?sslmode=require"],
      ["127.0.0.1", `?sslmode=verify-ca${cert}`],
      ["localhost", `?sslmode=verify-full${cert}`],
    ]
  ) {
    assertEquals([query, await issue(host, query)], [query, "connected"]);
  }
  const refused = /: its certificate is refused: [^\n]+\n$/;
  assertMatch(await issue("127.0.0.1", `?sslmode=verify-full${cert}`), refused);
  assertMatch(await issue("localhost", "?sslmode=verify-full"), refused);
  assertMatch(await issue("localhost", "?sslmode=verify-ca"), refused);
  assertMatch(
    await issue("localhost", `?sslmode=verify-full${cert}.nowhere`),
    /: the file of sslrootcert cannot be read/,
  );

  // Only connections with TLS are allowed, so a connection shows whether it uses TLS.
  await server.allowOnly("hostssl");
  for (const query of ["", "?sslmode=require"]) {
    assertEquals([query, await issue("localhost", query)], [query, "connected"]);
  }
  assertMatch(await issue("localhost", "?sslmode=disable"), /no encryption/);
});

test("a server without TLS gets clear text only if sslmode allows it", async () => {
  await using server = await PostgresServer.start();
  const database = await server.createDatabase();
  const run = (query: string) =>
    runTask(["keys", "issue", "--label", "clear"], { kvPath: server.url(database, { query }) });
  for (const query of ["", "?sslmode=prefer", "?sslmode=disable"]) {
    assertEquals((await run(query)).code, 0);
  }
  for (const mode of ["require", "verify-ca", "verify-full"]) {
    const { code, stderr } = await run(`?sslmode=${mode}`);
    assertEquals(code, 2);
    assertMatch(stderr, /^error: [^\n]*does not support SSL[^\n]*\n$/);
  }
});

/** Makes an authority, and a certificate of it for localhost. The user of the servers owns the key. */
async function makeCertificates(folder: string) {
  await Deno.writeTextFile(`${folder}/extensions`, "subjectAltName=DNS:localhost");
  const run = async (args: string) => {
    const { success, stderr } = await new Deno.Command("openssl", {
      args: args.split(" "),
      cwd: folder,
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const make = "-newkey rsa:2048 -nodes -subj";
  await run(`req -x509 ${make} /CN=authority -keyout authority.key -out authority.crt -days 2`);
  await run(`req ${make} /CN=localhost -keyout server.key -out server.csr`);
  await run(
    "x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial " +
      "-out server.crt -days 2 -extfile extensions",
  );
  const key = `${folder}/server.key`;
  await PostgresServer.own(key);
  return { authority: `${folder}/authority.crt`, certificate: `${folder}/server.crt`, key };
}
