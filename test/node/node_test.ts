/** What only the built program on Node does. The other tests that speak to programs run with it by `deno task test:node`. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { COMMANDS } from "../../scripts/commands.ts";
import { versionLine } from "../../scripts/cli/help.ts";
import { freePort } from "../support/free_port.ts";
import { startOn } from "../support/node_service.ts";
import { BUILT, BUILT_PROGRAM, NODE } from "../support/programs.ts";
import { readLines } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";
import { clientOf } from "../support/test_service.ts";
import { until } from "../support/until.ts";

const test = testNeeding(BUILT_PROGRAM);

const FILE = "animal-store.mjs";

/** The program in an empty folder, with no variable but those that are named. */
class LoneProgram implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<LoneProgram> {
    const folder = await Deno.makeTempDir();
    await Deno.copyFile(BUILT, `${folder}/${FILE}`);
    return new LoneProgram(folder);
  }

  command(args: string[], env: Record<string, string> = {}): Deno.Command {
    return new Deno.Command(NODE, {
      args: [FILE, ...args],
      cwd: this.folder,
      clearEnv: true,
      // For the program `flock`.
      env: { PATH: "/usr/bin:/bin", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  }

  async run(args: string[], env?: Record<string, string>) {
    const { code, stdout, stderr } = await this.command(args, env).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  /** Runs a command that must succeed, and resolves to its standard output. */
  async expect(args: string[], env?: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, env);
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /^(?!.*(Warning|\n +at ))/s);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

test("The file alone serves, and runs each command, in an empty folder", async () => {
  await using program = await LoneProgram.make();
  const token = (await program.expect(["keys", "issue", "--label", "shop"])).trim();
  const service = program.command(["start"], { HOST: "127.0.0.1", PORT: "0" }).spawn();
  const lines: string[] = [];
  const { promise: listening, resolve: onListening } = Promise.withResolvers<number>();
  const reading = readLines(service.stderr, (line) => {
    lines.push(line);
    const { event, port } = JSON.parse(line);
    if (event === "listening") onListening(port);
  });
  const origin = `http://127.0.0.1:${await listening}`;
  const client = clientOf(token, (path, init) => fetch(`${origin}${path}`, init));
  const added = await client.add({ name: "Rex", categoryId: 1 });
  assertEquals([added.status, await added.text()], [201, '{"id":1,"name":"Rex","categoryId":1}']);
  for (const path of ["/window", "/window/main.js", "/docs", "/docs/scalar.js"]) {
    const response = await fetch(origin + path);
    assertEquals([path, response.status, (await response.text()).length > 100], [path, 200, true]);
  }
  await program.expect(["replay", "--grace", "0"]);
  assertMatch(await program.expect(["audit"]), /^Sound: 2 events, 1 pet\.\n/);
  await program.expect(["backup", "log.jsonl"]);
  const log = await program.expect(["log"]);
  assertEquals(await Deno.readTextFile(`${program.folder}/log.jsonl`), log);
  const copy = { KV_PATH: "copy.sqlite3" };
  await program.expect(["restore", "log.jsonl"], copy);
  assertEquals(await program.expect(["log"], copy), log);
  await program.expect(["publish", "--new-key", "log.key"]);
  await program.expect(["publish", "public", "--key", "log.key", "--origin", "log.example"]);
  assertMatch(await program.expect(["prove", "pets/1", "--published", "public"]), /^c2sp\.org/);
  assertMatch(await program.expect(["schema"]), /^create schema/m);
  service.kill("SIGTERM");
  assertEquals((await service.status).code, 0);
  await Promise.all([reading, service.stdout.cancel()]);
  const events = lines.map((line) => JSON.parse(line).event);
  assertEquals(events, ["listening", "shutting_down", "stopped"]);
});

test("A stream shows an addition, and ends for the service when its client goes away", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const METRICS_PORT = String(freePort());
  await using service = await startOn("node", temp.kvPath, { METRICS_PORT });
  const client = new AbortController();
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  const init = { headers, signal: client.signal };
  const stream = await fetch(`${service.address}/v1/events`, init);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  let received = "";
  for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
    received += text;
    if (received.includes("event: PetCreated\n")) break;
  }
  client.abort();
  await until(async () => {
    const metrics = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`);
    return (await metrics.text()).includes("\nanimal_store_followers 0\n");
  });
});

test("Messages and help name the program as it was called", async () => {
  await using program = await LoneProgram.make();
  const none = await program.run(["keys", "list"]);
  assertEquals([none.code, none.stdout], [2, ""]);
  assertMatch(
    none.stderr,
    /^error: Cannot open the store .*make the store with node animal-store\.mjs keys issue --label TEXT, or restore\n$/,
  );
  const help = await program.expect(["audit", "--help"]);
  assertMatch(help, /^ {2}node animal-store\.mjs audit \[--json\]/m);
  assert(!help.includes("deno task"), help);
  const helps = help + await program.expect(["start", "--help"]);
  // Node has no client of KV Connect, and the others are between processes of the program.
  assertEquals(/DENO_\w+|SUPERVIS\w+|CALLED_AS/.exec(helps), null);
  const other = new Deno.Command(NODE, {
    args: [`${program.folder}/animal-store.mjs`, "audit", "-h"],
  });
  const { stdout } = await other.output();
  const called = `  node ${program.folder}/animal-store.mjs audit `;
  assert(new TextDecoder().decode(stdout).includes(called));
});

test("Without a command and with --help the program lists its commands, and refuses others with one line", async () => {
  await using program = await LoneProgram.make();
  const list = await program.expect([]);
  assertEquals(await program.expect(["--help"]), list);
  for (const [name, { title }] of Object.entries(COMMANDS)) {
    const line = list.split("\n").find((it) => it.startsWith(`  ${name} `));
    assertEquals(line?.endsWith(`   ${title}`) ?? false, name !== "dev", name);
  }
  // The build may be of another commit than these sources.
  const withoutCommit = (line: string) => line.replace(/, commit [^ ]+/, "");
  const version = await program.expect(["--version"]);
  assertEquals(withoutCommit(version), `${withoutCommit(versionLine())}\n`);
  const refusals: [args: string[], line: string, env?: Record<string, string>][] = [
    [["feed"], 'Unknown command "feed"; see --help'],
    [["constructor"], 'Unknown command "constructor"; see --help'],
    [["dev"], "dev needs Deno; see --help"],
    [["keys", "list", "--jsn"], "Unknown option '--jsn'; see --help"],
    [["start"], "KV_PATH must be a file or :memory: on Node, which has no client of KV Connect", {
      KV_PATH: "https://kv.example",
      DENO_KV_ACCESS_TOKEN: "x".repeat(32),
    }],
    [["start"], 'PORT must be a number from 0 to 65535, not "http"', { PORT: "http" }],
  ];
  for (const [args, line, env] of refusals) {
    const stderr = `error: ${line}\n`;
    assertEquals(await program.run(args, env), { code: 2, stdout: "", stderr });
  }
});
