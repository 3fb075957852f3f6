import { assert, assertEquals, assertMatch } from "@std/assert";
import { permitted } from "./support/permitted.ts";
import { ServiceProcess } from "./support/service_process.ts";
import { TempStore } from "./support/temp_store.ts";

const ROOT = new URL("../", import.meta.url);

/** The programs that the commands of the README use, besides Deno. */
const PROGRAMS = ["bash", "curl", "jq", "sha256sum", "timeout"];

Deno.test({
  name: "README: its requests get the responses shown, and the commands for operators work",
  ignore: !permitted("env", "net", "read", "run", "write") || !PROGRAMS.every(isThere),
  async fn() {
    const readme = await readManuals();
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const run = (contained: string) => runBlock(readme, contained, { temp, token, service });

    const [answer] = blocksOf(readme, "http");
    assertSameAnswer(
      await run("KEY=pets_…"),
      answer.replace("http://localhost:8000", service.address),
    );
    const pet = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}';
    assertEquals(await run("# newest first"), `[${pet}][${pet}]${pet}`);
    const retried = await run("Idempotency-Key: order-4711");
    assertMatch(retried, /^location: .+\/v1\/pets\/2\r$/m);
    const replayed = await run("Idempotency-Key: order-4711");
    assertMatch(replayed, /^location: .+\/v1\/pets\/2\r$/m);
    assertMatch(replayed, /^idempotency-replayed: true\r$/m);

    await run("> report.html");
    const report = await Deno.readTextFile(`${temp.folder}/report.html`);
    assertMatch(report, /Audit: sound<\/strong> up to position 3\./);

    await Deno.mkdir(`${temp.folder}-backup`);
    const moved = await run("KV_PATH=copy.sqlite3");
    assertEquals(moved.match(/^Sound: 3 events, 2 pets\.$/gm)?.length, 3);
    assertMatch(moved, /^The log extends the checkpoint\.$/m);
    const { label, key, pet: subject } = JSON.parse(await run("jq -nc --arg pet pets/1"));
    assertEquals([label, subject], ["test", "pets/1"]);
    assertMatch(key, /^[0-9A-Z]{26}$/);

    assertMatch(
      await run("deno task publish /srv/pets-log"),
      /^Sound: 3 events, 2 pets\.\nThe log extends the published log of 3 events\.$/m,
    );
    const proof = await Deno.readTextFile(`${temp.folder}/pet-1.tlog-proof`);
    assertMatch(proof, /^c2sp\.org\/tlog-proof@v1\nindex 1\n[^]+\nlog\.shop\.example\n3\n/);
    await Deno.copyFile(`${temp.folder}-log/checkpoint`, `${temp.folder}/old-checkpoint`);
    assertMatch(await run("--consistency old-checkpoint"), /extends the checkpoint of 3/);
    await Deno.remove(`${temp.folder}-log`, { recursive: true });
    await Deno.remove(`${temp.folder}.key`);

    assertMatch(await run("# continues until Ctrl-C"), /^(\{"position":3,"hash":"\w{64}"\}\n){2}$/);
    assertMatch(
      await run("KV_PATH=restored.sqlite3"),
      /^(Sound: 3 events, 2 pets\.\n.*\n){2}\{"position":3,"hash":"\w{64}"\}\n$/,
    );
    await Deno.remove(`${temp.folder}-backup`, { recursive: true });

    const exported = await Deno.readTextFile(`${temp.folder}/pets.jsonl`);
    const { previoushash } = JSON.parse(exported.split("\n")[1]);
    assertEquals(await run("sha256sum"), `${previoushash}  -\n`);
  },
});

Deno.test({
  name: "README: every task that it names exists",
  ignore: !permitted("read"),
  async fn() {
    const readme = await readManuals();
    const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
    const named = [...readme.matchAll(/deno(?:@[\d.]+)? task ([a-z][a-z:]*)/g)].map(([, it]) => it);
    assert(named.length > 10);
    for (const name of new Set(named)) assert(Object.hasOwn(tasks, name), name);
  },
});

/** The texts of all README.md files. */
async function readManuals(): Promise<string> {
  const folders = ["", "src/", "scripts/", "scripts/deploy/", "scripts/publish/", "test/"];
  const paths = folders.map((folder) => new URL(`${folder}README.md`, ROOT));
  return (await Promise.all(paths.map((path) => Deno.readTextFile(path)))).join("\n");
}

function isThere(program: string): boolean {
  if (!permitted("run")) return false;
  try {
    return new Deno.Command(program, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

function blocksOf(readme: string, language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm");
  return [...readme.matchAll(pattern)].map(([, block]) => block);
}

/** Runs the block of commands that contains a text, and resolves to what it printed. */
async function runBlock(
  readme: string,
  contained: string,
  { temp, token, service }: { temp: TempStore; token: string; service: ServiceProcess },
): Promise<string> {
  const [block, ...others] = blocksOf(readme, "sh").filter((it) => it.includes(contained));
  assert(block !== undefined && others.length === 0, `one block has ${contained}`);
  const commands = block
    .replaceAll("pets_…", token)
    .replaceAll("localhost:8000", service.address)
    .replaceAll("deno task", `${Deno.execPath()} task --quiet`)
    .replace(
      /^.* --follow +# continues until Ctrl-C$/m,
      "timeout --preserve-status --signal=INT 5 $&",
    )
    .replaceAll("/mnt/backup", `${temp.folder}-backup`)
    .replaceAll(
      /\b(report\.html|pets\.jsonl|restored\.sqlite3|copy\.sqlite3|checkpoint\.json)\b/g,
      `${temp.folder}/$1`,
    )
    .replaceAll(/\b(pet-1\.(?:line|tlog-proof)|old-checkpoint)\b/g, `${temp.folder}/$1`)
    // The store's folder must contain neither of the two.
    .replaceAll("/etc/pets-log.key", `${temp.folder}.key`)
    .replaceAll("/srv/pets-log", `${temp.folder}-log`)
    .replaceAll("curl ", "curl --silent --show-error ");
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", commands],
    cwd: ROOT,
    env: { NO_COLOR: "1", KV_PATH: temp.kvPath, KEY: token },
  }).output();
  const decoder = new TextDecoder();
  assert(success, `${commands}\n${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** Asserts that a response has the status line, the body and every header that are shown. */
function assertSameAnswer(answer: string, shown: string): void {
  const [statusLine, ...rest] = shown.trim().split("\n");
  const body = rest.pop()!;
  const lines = answer.split("\r\n");
  assertEquals(lines[0], statusLine);
  assertEquals(lines.at(-1), body);
  for (const header of rest.filter((line) => line !== "")) assert(lines.includes(header), header);
}
