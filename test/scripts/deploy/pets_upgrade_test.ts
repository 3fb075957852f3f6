import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { STORE_FORMAT, UPGRADED_FORMAT } from "../../../src/eventstore_less/log/store_format.ts";
import { END_OF_FIELDS } from "../../support/add_fields.ts";
import { BUILT, BUILT_PROGRAM, ON_DENO } from "../../support/programs.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";
import { ROOT, withProjectCopy } from "../../support/with_project_copy.ts";
import { Installation, neverReadyAfter } from "./installation.ts";

const test = testNeeding(PROCESSES);

const NEXT = `${VERSION}1`;
const NEXT_FORMAT = "99.0.0";

/** The last version of format 6. */
const BEFORE = "6.0.0";

type Edit = [file: string, text: string, next: string];

const VERSION_FILE = "src/settings/version.ts";
const FORMAT_FILE = "src/eventstore_less/log/store_format.ts";
const HEAD_FILE = "src/eventstore_less/log/head.ts";

/** Make a copy of the project one of the next format, which does not upgrade this one. */
const TO_NEXT_FORMAT: Edit[] = [
  [VERSION_FILE, `VERSION = "${VERSION}"`, `VERSION = "${NEXT_FORMAT}"`],
  [FORMAT_FILE, `STORE_FORMAT = ${STORE_FORMAT}`, `STORE_FORMAT = ${STORE_FORMAT + 1}`],
];

/** Make a copy of the project one of format 6. */
const TO_FORMAT_BEFORE: Edit[] = [
  [VERSION_FILE, `VERSION = "${VERSION}"`, `VERSION = "${BEFORE}"`],
  [FORMAT_FILE, `STORE_FORMAT = ${STORE_FORMAT}`, `STORE_FORMAT = ${UPGRADED_FORMAT}`],
  [FORMAT_FILE, `UPGRADED_FORMAT = ${UPGRADED_FORMAT}`, "UPGRADED_FORMAT = 0"],
  [HEAD_FILE, "  application: z.string(),\n", ""],
  [HEAD_FILE, "application: application.name, ...head }", "...head }"],
  [
    "scripts/cli/help.ts",
    " (stores of format ${STORE_FORMAT}, upgrades ${UPGRADED_FORMAT})",
    "",
  ],
];

/** Make a copy of the project one with another head, although it calls its format as this one does. */
const TO_OTHER_HEAD: Edit[] = [
  [VERSION_FILE, `VERSION = "${VERSION}"`, `VERSION = "${NEXT}"`],
  [HEAD_FILE, "  application: z.string(),\n", ""],
  [HEAD_FILE, "application: application.name, ...head }", "...head }"],
];

/** Replaces texts of a copy of the project, each of which must be there. */
async function edit(project: string, edits: Edit[]) {
  for (const [file, text, next] of edits) {
    const source = await Deno.readTextFile(`${project}/${file}`);
    assert(source.includes(text), `${file}: ${text}`);
    await Deno.writeTextFile(`${project}/${file}`, source.replace(text, next));
  }
}

test("pets-upgrade: forward and back, and again to another format, with a removal before each return", () =>
  withProjectCopy((next) =>
    withProjectCopy(async (nextFormat) => {
      const version = `VERSION = "${VERSION}"`;
      await edit(next, [
        [VERSION_FILE, version, `VERSION = "${NEXT}"`],
        // Only this version knows the field.
        [
          "events/pet.ts",
          END_OF_FIELDS,
          `colour: { schema: text(50, "Its colour").optional(), release: "${
            parseInt(VERSION)
          }.99" },\n${END_OF_FIELDS}`,
        ],
      ]);
      await edit(nextFormat, TO_NEXT_FORMAT);
      await using installation = await Installation.make([]);
      const versions: [string, string][] = [
        [VERSION, ROOT],
        [NEXT, next],
        [NEXT_FORMAT, nextFormat],
      ];
      const { address, token, client } = await installation.serve(versions, "::1");
      const settings = await installation.settings;
      let lastId = 0;
      const writeAndRemove = async (more: object = {}) => {
        // Not by the client, which knows no further field.
        const headers = { "authorization": `Bearer ${token}`, "content-type": "application/json" };
        const body = JSON.stringify({ name: "Rex", categoryId: 1, ...more });
        const added = await fetch(`${address}/v1/pets`, { method: "POST", headers, body });
        assertEquals(added.status, 201, await added.text());
        const removed = await client.remove(++lastId);
        assertEquals(removed.status, 204, await removed.text());
        assertEquals((await client.add({ name: "Max", categoryId: 2 })).status, 201);
        lastId++;
      };
      /** Changes the version, and asserts that it serves what was there before. */
      const change = async (to: string, said: string) => {
        const before = await served();
        const { code, stderr } = await installation.run(`pets-upgrade ${to}`);
        assertEquals(code, 0, stderr);
        assertStringIncludes(stderr, said);
        assertMatch(stderr, /is ready, after a pause of \d+ s\. The backup: /);
        assertMatch(
          await installation.expect("pets log --version"),
          RegExp(`^Animal Store ${to}(?:, commit [0-9a-f]+)? \\(`),
        );
        assertEquals(await served(), before);
      };
      const served = async () => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${address}/v1/pets?limit=100`, { headers });
        const ids = (await response.json()).map(({ id }: { id: number }) => id);
        return { total: response.headers.get("x-total-count"), ids };
      };

      for (const [to, from] of [[NEXT, VERSION], [VERSION, NEXT]]) {
        await change(
          to,
          `The store stays. The way back, pets-upgrade ${from}, continues on that store, and ` +
            `closes with the first event that ${from} does not know`,
        );
        await writeAndRemove();
      }
      assertEquals(await installation.settings, settings);
      for (const [to, from] of [[NEXT_FORMAT, VERSION], [VERSION, NEXT_FORMAT]]) {
        await change(
          to,
          `. ${from} cannot read what ${to} stores: the way back, pets-upgrade ${from}, moves `,
        );
        await writeAndRemove();
      }
      assertMatch(await installation.settings, new RegExp(`^KV_PATH=.*pets-${VERSION}-.*$`, "m"));

      // The older version would not know the newest line: it says so before anything stops.
      await change(NEXT, "The store stays. ");
      await writeAndRemove({ colour: "red" });
      const before = [await served(), await installation.settings];
      const pid = await Deno.readTextFile(`${installation.folder}/pid`);
      const refused = await installation.run(`pets-upgrade ${VERSION}`);
      assertEquals(refused.code, 2);
      assertMatch(refused.stdout, /newer release/);
      assertMatch(
        refused.stderr,
        RegExp(`^error: ${VERSION} refuses the log\\. Nothing has changed: .* serves$`, "m"),
      );
      assertEquals([await served(), await installation.settings], before);
      assertEquals(await Deno.readTextFile(`${installation.folder}/pid`), pid);
    })
  ));

test("pets-upgrade: behind links, it changes the files to which they lead, with their modes, and refuses what it would break", () =>
  withProjectCopy(async (nextFormat) => {
    await edit(nextFormat, TO_NEXT_FORMAT);
    await using installation = await Installation.make([]);
    const { folder } = installation;
    const { address, client } = await installation.serve([[VERSION, ROOT], [
      NEXT_FORMAT,
      nextFormat,
    ]]);
    assertEquals((await client.add({ name: "Rex", categoryId: 1 })).status, 201);
    const [link, settings] = [`${folder}/etc/animal-store.env`, `${folder}/volume/settings`];
    await installation.expect(`systemctl stop
      mkdir ${folder}/volume ${folder}/volume/data
      mv ${link} ${settings} && ln -s ${settings} ${link} && chmod 640 ${settings}
      mv ${folder}/data/pets.sqlite3* ${folder}/volume/data
      ln -s ${folder}/volume/data/pets.sqlite3 ${folder}/data/pets.sqlite3
      ln ${settings} ${folder}/volume/second
      systemctl start && curl -s --retry 100 ${address}/readyz`);
    const refused = await installation.run(`pets-upgrade ${NEXT_FORMAT}`);
    assertEquals(refused.code, 2);
    assertEquals(
      refused.stderr,
      `error: ${settings} has several names (hard links): remove the others\n`,
    );
    await Deno.remove(`${folder}/volume/second`);
    const { code, stderr } = await installation.run(`pets-upgrade ${NEXT_FORMAT}`);
    assertEquals(code, 0, stderr);
    const store = `${folder}/volume/data/pets-${NEXT_FORMAT}`;
    assertMatch(
      stderr,
      RegExp(
        `pets.sqlite3 is a symbolic link to the earlier store; the settings now name KV_PATH=${store}`,
      ),
    );
    assertEquals([Deno.lstatSync(link).isSymlink, Deno.statSync(settings).mode! & 0o777], [
      true,
      0o640,
    ]);
    assertMatch(await Deno.readTextFile(settings), RegExp(`^KV_PATH=${store}-.*$`, "m"));
    const names = (path: string) => Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
    assertEquals(names(`${folder}/data`), ["pets.sqlite3"]);
    assertEquals(names(`${folder}/etc`), ["animal-store.env"]);
    assertEquals(names(`${folder}/volume`), ["data", "settings", "settings.before"]);
    assertEquals((await client.add({ name: "Max", categoryId: 1 })).status, 201);
  }));

test("pets-upgrade: a new store that the version cannot use changes nothing, stops nothing and leaves no file", () =>
  withProjectCopy(async (next) => {
    await using installation = await Installation.make([]);
    const { folder } = installation;
    await installation.serve([[VERSION, ROOT], [NEXT_FORMAT, next]]);
    const stateOf = async () => [
      await installation.settings,
      await Deno.readTextFile(`${folder}/pid`),
      Array.from(Deno.readDirSync(`${folder}/data`), ({ name }) => name).sort(),
    ];
    const before = await stateOf();
    const cases: [store: string, reason: string][] = [
      ["DATABASE_URL=postgres://127.0.0.1/pets", "DATABASE_URL must name a user before an @"],
      ["KV_PATH=/none/pets.sqlite3", "its folder does not exist"],
      [`KV_PATH=${folder}/data/pets.sqlite3`, "has a log already"],
    ];
    for (const [store, reason] of cases) {
      const { code, stderr } = await installation.run(`pets-upgrade ${NEXT_FORMAT} ${store}`);
      assertEquals(code, 2);
      assertMatch(stderr, RegExp(`^error: \\S+ .*Nothing has changed: \\S+ serves[^]*$`));
      assertMatch(stderr, RegExp(reason));
    }
    assertEquals(await stateOf(), before);
  }));

test("pets-upgrade: a version that fails gives way to the one before, on its own store, unless it has stored events", () =>
  withProjectCopy(async (next) => {
    await edit(next, TO_NEXT_FORMAT);
    const broken: Edit = [
      "scripts/restore/command.ts",
      "export const command",
      'throw new Error("broken");\nexport const command',
    ];
    await edit(next, [broken]);
    await using installation = await Installation.make([]);
    const { folder } = installation;
    const { address } = await installation.serve([[VERSION, ROOT], [NEXT_FORMAT, next]]);
    const settings = await installation.settings;
    const ready = `curl -s --retry 60 ${address}/readyz`;

    const failed = await installation.run(`pets-upgrade ${NEXT_FORMAT}`);
    assert(failed.code > 0);
    assertMatch(
      failed.stderr,
      /the change of the version failed; .* starts again, on its own store/,
    );
    assertEquals(await installation.settings, settings);
    assertMatch(await installation.expect(ready), /ready/);
    for (
      const [args, reason] of [["", "use pets-upgrade VERSION"], ["1.2.3", "does not exist"], [
        `${VERSION} PORT=1`,
        "names the new store",
      ], [`${VERSION} KV_PATH=/none`, "is the version of the settings already"]]
    ) {
      const wrong = await installation.run(`pets-upgrade ${args}`);
      assertEquals(wrong.code, 2);
      assertMatch(wrong.stderr, new RegExp(`^error: [^\n]*${reason}[^\n]*\n$`));
    }

    assertMatch(await installation.expect("pets-upgrade --help"), /^ {2}pets-upgrade VERSION$/m);

    const [file, text, defect] = broken;
    await edit(next, [[file, defect, text]]);
    // The version stores an event, and is not ready.
    const script = `${folder}/bin/pets-upgrade`;
    const source = await Deno.readTextFile(script);
    const writing = "pets keys issue --label y >/dev/null && ";
    await Deno.writeTextFile(script, neverReadyAfter(writing, source));
    const { code, stderr } = await installation.run(`pets-upgrade ${NEXT_FORMAT}`);
    assert(code > 0);
    assertMatch(
      stderr,
      /is not ready, but has stored what \S+ lacks or cannot read: it starts again/,
    );
    assert((await installation.settings).includes(`animal-store-${NEXT_FORMAT}`));
    assertMatch(await installation.expect(ready), /ready/);
  }));

test("pets-upgrade: from format 6 to 7 on one store, back into a new one with all events, and forward again", () =>
  withProjectCopy(async (before) => {
    await edit(before, TO_FORMAT_BEFORE);
    // On Deno, a version before 7.0.0 has an entry for each command, which only its tasks know.
    await Deno.rename(`${before}/scripts/main.ts`, `${before}/scripts/entry.ts`);
    const config = await Deno.readTextFile(`${before}/deno.json`);
    const ofEntry = config.replaceAll("scripts/main.ts", "scripts/entry.ts");
    await Deno.writeTextFile(`${before}/deno.json`, ofEntry);
    await using installation = await Installation.make([]);
    const { folder } = installation;
    const { address, client } = await installation.serve([[BEFORE, before], [VERSION, ROOT]]);
    const settings = await installation.settings;
    let lastId = 0;
    const add = async () => {
      const response = await client.add({ name: "Rex", categoryId: 1 });
      assertEquals([response.status, (await response.json()).id], [201, ++lastId]);
    };
    const changeTo = (version: string) => installation.expect(`pets-upgrade ${version}`);
    const ofBefore = `ANIMAL_STORE=${folder}/opt/animal-store-${BEFORE}`;
    assertEquals(await installation.expect("pets log --version"), `Animal Store ${BEFORE}\n`);
    await add();

    const { code, stdout, stderr } = await installation.run(`pets-upgrade ${VERSION}`);
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stderr,
      `The store stays. ${BEFORE} cannot read what ${VERSION} stores: the way back, pets-upgrade ` +
        `${BEFORE}, moves the log into a new store, `,
    );
    assertMatch(stdout, /^Sound: 2 events, 1 pet\./m);
    assertEquals(await installation.settings, settings.replace(BEFORE, VERSION));
    // Until the first write, the version before can read the store.
    await installation.expect(`${ofBefore} pets log --last 1`);
    await add();
    const refused = await installation.run(`${ofBefore} pets log --last 1`);
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, /: it has the newer format 7, /);

    assertMatch(await changeTo(BEFORE), /^Sound: 3 events, 2 pets\./m);
    assertMatch(await installation.settings, new RegExp(`^KV_PATH=.*pets-${BEFORE}-.*$`, "m"));
    await add();
    assertMatch(await changeTo(VERSION), /^Sound: 4 events, 3 pets\./m);
    assertMatch(await installation.settings, new RegExp(`^KV_PATH=.*pets-${BEFORE}-.*$`, "m"));

    // A version that is not ready, and has written, is the only one that can use the store.
    const script = `${folder}/bin/pets-upgrade`;
    const source = await Deno.readTextFile(script);
    const write = "pets keys issue --label y >/dev/null && ";
    for (const [written, version] of [["", BEFORE], [write, VERSION]]) {
      assertMatch(await changeTo(BEFORE), /^Sound: /m);
      await Deno.writeTextFile(script, neverReadyAfter(written, source));
      const { code, stderr } = await installation.run(`pets-upgrade ${VERSION}`);
      assert(code > 0);
      assertMatch(
        stderr,
        written === ""
          ? /the change of the version failed; .* starts again, on its own store/
          : /it has the newer format 7, [^]*is not ready, but has stored what \S+ lacks or cannot read/,
      );
      assert((await installation.settings).includes(`animal-store-${version}`));
      assertMatch(await installation.expect(`curl -s --retry 60 ${address}/readyz`), /ready/);
      await Deno.writeTextFile(script, source);
      await add();
    }
  }));

test("pets-upgrade: a build that cannot read the store gets a new one, whatever number its format has, and so does the backup that follows", () =>
  withProjectCopy(async (next) => {
    await edit(next, TO_OTHER_HEAD);
    await using installation = await Installation.make([]);
    const { client } = await installation.serve([[VERSION, ROOT], [NEXT, next]]);
    const folder = `${installation.folder}/data-backup`;
    await Deno.mkdir(folder);
    await installation.expect("systemctl enable animal-store-backup-follow");
    const add = async (id: number) => {
      assertEquals((await client.add({ name: "Rex", categoryId: 1 })).status, 201);
      await until(async () => {
        const lines = (await Deno.readTextFile(`${folder}/log.jsonl`)).split("\n");
        assertEquals(lines.length, id + 2);
      }, `The backup has not animal ${id}`);
    };
    for (const [index, [to, from]] of [[NEXT, VERSION], [VERSION, NEXT]].entries()) {
      await add(index + 1);
      const { code, stderr } = await installation.run(`pets-upgrade ${to}`);
      assertEquals(code, 0, stderr);
      assertMatch(stderr, RegExp(`^The log moves into KV_PATH=\\S+. ${from} cannot read `, "m"));
      assertMatch(await installation.settings, RegExp(`^KV_PATH=.*pets-${to}-.*$`, "m"));
    }
    await add(3);
    assertEquals(await client.listIds(), [3, 2, 1]);
    await installation.expect(`pets audit --file ${folder}/log.jsonl`);
  }));

testNeeding(PROCESSES, BUILT_PROGRAM, ON_DENO)(
  "pets-upgrade: to the program for Node, and back to Deno, on one store",
  async () => {
    await using installation = await Installation.make([]);
    const { folder } = installation;
    const onNode = `${folder}/opt/animal-store-node`;
    await Deno.mkdir(onNode);
    await Deno.copyFile(BUILT, `${onNode}/animal-store.mjs`);
    await installation.serve([[VERSION, ROOT]]);
    for (const name of ["node", VERSION]) {
      assertMatch(await installation.expect(`pets-upgrade ${name}`), /^Sound: 1 events?, 0 pets/m);
      assertMatch(await installation.settings, RegExp(`animal-store-${name}\n$`));
      const program = await installation.expect(`readlink /proc/$(cat ${folder}/pid)/exe`);
      assertEquals(/node$/m.test(program), name === "node");
    }
  },
);
