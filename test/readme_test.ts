import { existsSync, globSync } from "node:fs";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ServiceProcess } from "./support/service_process.ts";
import { TempStore } from "./support/temp_store.ts";
import { permissions, PROCESSES, testNeeding } from "./support/test_needing.ts";
import { expectDone, install, run } from "./support/third_party_tools.ts";

const test = testNeeding(permissions("read"));

const ROOT = new URL("../", import.meta.url);

/** The programs that the commands of the README use, besides Deno. */
const PROGRAMS = ["bash", "curl", "sha256sum", "timeout"];

const COMMANDS = await install(
  "the commands of the README",
  () => Promise.all(PROGRAMS.map((program) => expectDone(program, ["--version"]))),
);

testNeeding(COMMANDS)(
  "README: its requests get the responses shown, and the commands for operators work",
  async () => {
    const readme = await allReadmes();
    await using temp = await TempStore.make();
    const token = await temp.issueApiKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const run = (contained: string) => runBlock(readme, contained, { temp, token, service });

    const [answer] = blocksOf(readme, "http");
    assertSameAnswer(
      await run("KEY=pets_…"),
      answer.replace("http://localhost:8000", service.address),
    );
    // The second pet of the log that the commands below show.
    await run("KEY=pets_…");

    assertMatch(await run("--subject pets/1"), / PetCreated +pets\/1 +[0-9A-Z]{26} "test" \{/);

    await Deno.mkdir(`${temp.folder}-backup`);
    const moved = await run("moved-$now");
    assertEquals(moved.match(/^Sound: 3 events, 2 pets\.$/gm)?.length, 3);
    assertMatch(moved, /^The log extends the checkpoint\.$/m);

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
    assertMatch(await run("--after /mnt/backup"), /^Sound: 4 events, 3 pets\.$/m);
    await Deno.remove(`${temp.folder}-backup`, { recursive: true });

    const [name] = globSync("pets-*.jsonl", { cwd: temp.folder });
    const exported = await Deno.readTextFile(`${temp.folder}/${name}`);
    const { previoushash } = JSON.parse(exported.split("\n")[1]);
    assertEquals(await run("sha256sum"), `${previoushash}  -\n`);
  },
);

testNeeding(PROCESSES)(
  "README: it begins with the commands that run the service and its tests, each once, and .ci/run fails without one",
  async () => {
    const readme = await Deno.readTextFile(new URL("README.md", ROOT));
    const [first] = blocksOf(readme, "sh");
    const commands = first.split("\n").map((line) => line.replace(/ *#.*/, "")).filter(Boolean);
    const npx = "npx -y deno@2.9.6";
    assertEquals(commands, [`${npx} task dev`, `${npx} task test`, `${npx} test`]);
    for (const command of commands) {
      const uses = readme.split("\n").filter((line) => line.replace(/ *#.*/, "") === command);
      assertEquals([command, uses.length], [command, 1]);
      await using temp = await TempStore.make();
      await Deno.mkdir(`${temp.folder}/.ci`);
      await Deno.copyFile(new URL(".ci/run", ROOT), `${temp.folder}/.ci/run`);
      const without = readme.replace(RegExp(`^${RegExp.escape(command)} +#.*\n`, "m"), "");
      await Deno.writeTextFile(`${temp.folder}/README.md`, without);
      const { code, output } = await run("bash", [`${temp.folder}/.ci/run`]);
      assertEquals(code, 1);
      assertMatch(output, /^README\.md must have one command that runs [a-z ]+/);
    }
  },
);

test("README: every task that it names exists", async () => {
  const readme = await allReadmes();
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const named = [...readme.matchAll(/deno(?:@[\d.]+)? task ([a-z][a-z:]*)/g)].map(([, it]) => it);
  assert(named.length > 10);
  for (const name of new Set(named)) assert(Object.hasOwn(tasks, name), name);
});

test("README: every relative link leads to a file, and every anchor to a heading", async () => {
  const broken: string[] = [];
  for (const url of readmeUrls()) {
    const text = await Deno.readTextFile(url);
    const prose = text.replace(/^ *```[^]*?^ *```$/gm, "");
    for (const [link, target] of prose.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      if (!await leadsSomewhere(new URL(target, url))) broken.push(`${link} in ${url.pathname}`);
    }
  }
  assertEquals(broken, []);
});

test("Each function in the life of a request and in the way of a command is where it says", async () => {
  const request = await Deno.readTextFile(new URL("src/README.md", ROOT));
  const command = await Deno.readTextFile(new URL("src/eventstore_less/internals.md", ROOT));
  const [, ofRequest] = /^## The life of a request$([^]*?)^## /m.exec(request)!;
  const [, ofCommand] = /^### The way of a command$([^]*?)^\*\*/m.exec(command)!;
  const life = ofRequest + ofCommand;
  const paths = globSync("{src,scripts}/**/*.ts", { cwd: ROOT.pathname });
  const sources = await Promise.all(
    paths.map(async (path) => [path, await Deno.readTextFile(new URL(path, ROOT))] as const),
  );
  const missing: string[] = [];
  let file = "";
  let found = 0;
  for (const [, name, named] of life.matchAll(/`([\w#.]+)\(\)`(?:\s+\(`([\w/.]+)`\))?/g)) {
    file = named ?? file;
    const [method, className] = name.split(".").reverse();
    const isThere = sources.some(([path, source]) => {
      const isPlace = className === undefined
        ? path.endsWith(file)
        : RegExp(`class ${className}[ <]`).test(source);
      return isPlace && new RegExp(`(?:^|[ .])${method}(?:<[^(]*>)?(?:\\(|: )`, "m").test(source);
    });
    if (isThere) found++;
    else missing.push(`${name} in ${file}`);
  }
  assertEquals(missing, []);
  assert(found > 25);
});

test("README: what it says to be in a source is there", async () => {
  const missing: string[] = [];
  let found = 0;
  for (const url of readmeUrls()) {
    const text = await Deno.readTextFile(url);
    const named = text.matchAll(/`([\w#.]+)(?:\(\))?`\s+(?:\(|in\s+|of\s+)`([\w/.]+\.tsx?)`/g);
    for (const [, name, path] of named) {
      const places = [new URL(path, url), new URL(path, ROOT)];
      const files = places.filter((it) => existsSync(it));
      const sources = await Promise.all(files.map((it) => Deno.readTextFile(it)));
      const word = new RegExp(`\\b${name.split(/[.#]/).at(-1)}\\b`);
      if (sources.some((source) => word.test(source))) found++;
      else missing.push(`${name} in ${path}, says ${url.pathname}`);
    }
  }
  assertEquals(missing, []);
  assert(found > 30, String(found));
});

/** Whether the file exists, and has a heading with the anchor of the address. */
async function leadsSomewhere(url: URL): Promise<boolean> {
  const anchor = url.hash.slice(1);
  try {
    if (anchor === "") return (await Deno.stat(new URL(url.pathname, url))) !== undefined;
    const text = await Deno.readTextFile(new URL(url.pathname, url));
    const anchors = text.replace(/^```[^]*?^```$/gm, "").match(/^#+ .*/gm)!
      .map((heading) => heading.replace(/^#+ /, "").toLowerCase())
      .map((heading) => heading.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));
    return anchors.includes(anchor);
  } catch {
    return false;
  }
}

/** The manuals of the project, but for src/http/docs, whose links are those of the reference. */
function readmeUrls(): URL[] {
  const exclude = ["**/node_modules", "src/http/docs"];
  const paths = globSync("{README.md,{scripts,src,test}/**/*.md}", { cwd: ROOT.pathname, exclude });
  return paths.map((path) => new URL(path, ROOT));
}

async function allReadmes(): Promise<string> {
  const texts = readmeUrls().map((url) => Deno.readTextFile(url));
  return (await Promise.all(texts)).join("\n");
}

function blocksOf(readme: string, language: string): string[] {
  const pattern = new RegExp(`^ *\`\`\`${language}\n([^]*?)^ *\`\`\`$`, "gm");
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
    // The next file begins with an event after those of the one before.
    .replace(/^mv .*$/m, (line) => `${line}\n${additionTo(service, token)}`)
    .replaceAll("/mnt/backup", `${temp.folder}-backup`)
    .replaceAll(/\b(?:pets|checkpoint)-\$now/g, (name) => `${temp.folder}/${name}`)
    .replaceAll("/var/lib/animal-store/moved", `${temp.folder}/moved`)
    .replaceAll(/\b(checkpoint\.json|old-checkpoint)\b/g, `${temp.folder}/$1`)
    .replaceAll(/\b(pet-1\.(?:line|tlog-proof))\b/g, `${temp.folder}/$1`)
    // The store's folder must contain neither of the two.
    .replaceAll("/etc/pets-log/key", `${temp.folder}.key`)
    .replaceAll("/srv/pets-log", `${temp.folder}-log`)
    .replaceAll("curl ", "curl --silent --show-error ");
  const env = { NO_COLOR: "1", KV_PATH: temp.kvPath, KEY: token };
  return await expectDone("bash", ["-euc", commands], { cwd: ROOT, env });
}

function additionTo({ address }: ServiceProcess, token: string): string {
  const pet = JSON.stringify({ name: "Rex", categoryId: 7, status: "available" });
  const headers = `-H "Authorization: Bearer ${token}" -H "Content-Type: application/json"`;
  return `curl -o /dev/null ${address}/v1/pets ${headers} -d '${pet}'`;
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
