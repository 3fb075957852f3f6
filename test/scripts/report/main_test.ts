import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { OPERATOR } from "../../../events/event.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { logKey } from "../../../src/keyspace.ts";
import { chromiumPath, launchChromium } from "../../support/chromium.ts";
import { runTask } from "../../support/run_task.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { linesOf, linesToBytes } from "../../support/sample_log.ts";
import { utf8 } from "../../support/utf8.ts";
import { test } from "../../support/test_processes.ts";

const HOSTILE_LABELS = [
  "<script>document.title = 'run'</script>",
  `" onload="document.title='run'" x='`,
  "</title></style></svg><img src=x onerror=document.title='run'>",
  "]]> --> &lt;b&gt; {name} $& `${1}`",
  "\u202Eevil\u202D 猫🐈",
];

/** A log with a pet of each of these keys. */
function logOfKeys(labels: string[]): string[] {
  return linesOf(labels.flatMap((label, index) => {
    const time = new Date(Date.parse("2026-05-01T08:00:00.000Z") + index * 86_400_000)
      .toISOString();
    const id = (number: number) => `01K${String(index * 2 + number).padStart(23, "0")}`;
    const data = { keyId: id(0), label, tokenHash: sha256Hex(label) };
    return [
      { id: id(0), time, actor: OPERATOR, type: "ApiKeyIssued" as const, data },
      {
        id: id(1),
        time,
        actor: id(0),
        type: "PetCreated" as const,
        data: { id: index + 1, name: "<i>Rex</i>", categoryId: 1n },
      },
    ];
  }));
}

test("report: prints a page with the numbers of the store, and with the verdict of an audit", () =>
  withSampleFile(async ({ kvPath, lines }) => {
    const plain = await runTask(["report"], { kvPath });
    assertEquals(plain.code, 0, plain.stderr);
    assertMatch(plain.stdout, /^<!doctype html>[^]*<\/html>\n$/);
    for (
      const part of [
        "<dt>Events</dt><dd>40</dd>",
        "<dt>Pets</dt><dd>25</dd>",
        "<dt>Valid keys</dt><dd>1 of 4</dd>",
        'aria-label="Pets by status now: available 8, pending 7, sold 8, no status 2"',
        'aria-label="Keys by state: live 1, retiring 0, expired 0, revoked 3"',
        sha256Hex(lines[39]),
      ]
    ) assertStringIncludes(plain.stdout, part);
    assert(!plain.stdout.includes("Zoë"), "the page shows no pets");
    const sound = await runTask(["report", "--audit"], { kvPath });
    assertEquals(sound.code, 0, sound.stderr);
    assertMatch(sound.stdout, /Audit: sound<\/h2><pre>Sound: 40 events, 25 pets\./);
    await changeFile(kvPath, [{ type: "set", key: logKey(41), value: utf8("foreign") }]);
    const faulty = await runTask(["report", "--audit"], { kvPath });
    assertEquals(faulty.code, 1, faulty.stderr);
    assertMatch(faulty.stdout, /Audit: not sound<\/h2><pre>Not sound: 1 fault[^]*Next: /);
  }));

test("report --file: reads an export once, from standard input too, and names a partial or damaged one", () =>
  withSampleFile(async ({ folder, lines }) => {
    const kvPath = `${folder}/nowhere.sqlite3`;
    const file = `${folder}/a & b.jsonl`;
    await Deno.writeFile(file, linesToBytes(lines));
    const whole = await runTask(["report", "--audit", "--file", file], { kvPath });
    assertEquals(whole.code, 0, whole.stderr);
    assertMatch(whole.stdout, / from the export \S+\/a &amp; b\.jsonl, by version /);
    assertMatch(whole.stdout, /Audit: sound<\/h2><pre>Sound: 40 events, 25 pets\./);
    const stdin = linesToBytes(lines.slice(10).with(4, "{}"));
    const partial = await runTask(["report", "--file", "-"], { kvPath, stdin });
    assertEquals(partial.code, 0, partial.stderr);
    assertMatch(partial.stdout, /1 line is not an event that this version knows/);
    assertMatch(partial.stdout, /a part of a log: 30 events, from position 11 to 40/);
    const empty = await runTask(["report", "--file", "/dev/null"], { kvPath });
    assertEquals(empty.code, 0, empty.stderr);
    assertMatch(empty.stdout, /The log has no events/);
  }));

Deno.test({
  name:
    "report: a browser shows hostile labels as text, runs nothing, loads nothing and needs no scrolling sideways",
  ignore: chromiumPath() === undefined,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const stdin = linesToBytes(logOfKeys(HOSTILE_LABELS));
      const { code, stdout, stderr } = await runTask(["report", "--audit", "--file", "-"], {
        kvPath: `${folder}/nowhere.sqlite3`,
        stdin,
      });
      assertEquals(code, 0, stderr);
      await Deno.writeTextFile(`${folder}/report.html`, stdout);
      await using browser = await launchChromium(chromiumPath());
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1280, 390]) {
          const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
          const messages: string[] = [];
          const requests: string[] = [];
          page.on("console", (message) => messages.push(message.text()));
          page.on("pageerror", (error) => messages.push(error.message));
          page.on("request", (request) => requests.push(request.url()));
          await page.goto(`file://${folder}/report.html`);
          assertEquals([messages, requests.length], [[], 1]);
          const seen = await page.evaluate<Record<string, unknown>>(`({
            title: document.title,
            scripts: document.querySelectorAll("script, img, [onload], [onerror]").length,
            labels: [...document.querySelectorAll("td bdi")].map((it) => it.textContent),
            charts: [...document.querySelectorAll("svg")]
              .filter((it) => it.getBoundingClientRect().width > 0).length,
            areIdsOnOneLine: [...document.querySelectorAll("td code")]
              .every((it) => getComputedStyle(it).whiteSpace === "nowrap"),
            isWithinWindow: document.documentElement.scrollWidth <= innerWidth,
            background: getComputedStyle(document.body).backgroundColor,
          })`);
          assertEquals(seen, {
            title: "Animal Store report",
            scripts: 0,
            labels: HOSTILE_LABELS,
            charts: 4,
            areIdsOnOneLine: true,
            isWithinWindow: true,
            background: colorScheme === "light" ? "rgb(244, 246, 248)" : "rgb(17, 20, 24)",
          });
        }
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
