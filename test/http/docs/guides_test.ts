import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { escape } from "@std/html/entities";
import { GUIDES } from "../../../src/http/docs/guides.ts";
import { ERRORS } from "../../../src/http/errors.ts";
import { permitted } from "../../support/permitted.ts";
import { canRun, type Language, runSample } from "./run_sample.ts";
import { serveOnSocket } from "../../support/test_each_way.ts";
import { openTestService } from "../../support/test_service.ts";

const BASE = "https://animals.example/v1";

Deno.test("the guide to errors has every code with its status and its remedy", () => {
  const guide = contentOf("errors");
  for (const [code, { status, when, remedy }] of Object.entries(ERRORS)) {
    const row = guide.split("<tr>").find((row) => row.includes(`<code id="${code}">`));
    assert(row !== undefined, code);
    for (const text of [`>${status}<`, escape(when), escape(remedy)]) {
      assertStringIncludes(row, text);
    }
  }
});

Deno.test("the guide to errors lists the codes by their status", () => {
  const statuses = [...contentOf("errors").matchAll(/>(\d{3})</g)].map(([, status]) =>
    Number(status)
  );
  assertEquals(statuses.length, Object.keys(ERRORS).length);
  assertEquals(statuses, statuses.toSorted());
});

Deno.test("the guide to retries names the status of a reused Idempotency-Key", () => {
  const { status } = ERRORS.idempotency_key_reused;
  const text = contentOf("retries").replace(/\s+/g, " ");
  assertStringIncludes(text, `The same value with another animal gets ${status}.`);
});

Deno.test("every address in a sample of a guide begins with the given base", () => {
  const addresses = GUIDES.flatMap(({ name }) =>
    samplesOf(contentOf(name)).flatMap(({ code }) => code.match(/https?:[^"\s>]+/g) ?? [])
  );
  assertEquals(addresses.length, 5);
  for (const address of addresses) assertStringIncludes(address, `${BASE}/pets`);
});

const PETS = 250;

/** The programs in guides, with what they print in a store of {@linkcode PETS} pets. */
const PROGRAMS: [guide: string, language: Language, printed: RegExp][] = [
  ["paging", "Python", new RegExp(`^${PETS} Rex\n([0-9]+ Rex\n){${PETS - 2}}1 Rex\n$`)],
  ["paging", "JavaScript", new RegExp(`^${PETS} Rex\n([0-9]+ Rex\n){${PETS - 2}}1 Rex\n$`)],
  ["retries", "curl", new RegExp(`^{"id":${PETS + 1},"name":"Rex",`)],
  ["polling", "curl", new RegExp(`^\\[{"id":${PETS},"name":"Rex"`)],
];

for (const [name, language, printed] of PROGRAMS) {
  const isMissing = !permitted("net") || !canRun(language);
  Deno.test({
    name: `the guide to ${name} has a program in ${language} that works` +
      (isMissing ? " (ignored: nothing that may run it)" : ""),
    ignore: isMissing,
    async fn() {
      await using service = await openTestService();
      await using server = serveOnSocket(service);
      const pet = { name: "Rex", categoryId: 7 };
      const additions = await Promise.all(Array.from({ length: PETS }, () => service.add(pet)));
      await Promise.all(additions.map(({ body }) => body?.cancel()));
      const guide = contentOf(name, `http://127.0.0.1:${server.port}/v1`);
      const sample = samplesOf(guide).find((sample) => sample.language === language)!;
      assertMatch(await runSample(language, sample.code, service.token), printed);
    },
  });
}

function contentOf(name: string, base = BASE): string {
  return GUIDES.find((guide) => guide.name === name)!.content(base);
}

/** The blocks of code of a guide. */
function samplesOf(html: string): { language: string; code: string }[] {
  return [...html.matchAll(/<figcaption>(.+?)<\/figcaption><pre.*?><code>([^]+?)<\/code>/g)]
    .map(([, language, code]) => ({ language, code: unescape(code) }));
}

/** Reverses `escape`. */
function unescape(html: string): string {
  return html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
