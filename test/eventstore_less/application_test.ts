import {
  assertEquals,
  assertLessOrEqual,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type Collection,
  dataOf,
  defineApplication,
  defineCollection,
  InvalidEventError,
  openEventStore,
} from "eventstore-less";
import { audit } from "eventstore-less/tools";
import { z } from "zod";
import { APPLICATION } from "../../src/application.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

const PROGRAM = new URL("smallest_application.ts", import.meta.url);

testNeeding(permissions("read"))(
  "the smallest application has at most 20 lines, and runs",
  async () => {
    const lines = (await Deno.readTextFile(PROGRAM)).trimEnd().split("\n");
    assertLessOrEqual(lines.length, 20);
    const printed: unknown[] = [];
    const { log } = console;
    console.log = (...values) => printed.push(...values);
    try {
      await import(PROGRAM.href);
    } finally {
      console.log = log;
    }
    assertEquals(printed, [1, { id: "milk", text: "Buy milk" }]);
  },
);

const Note = z.strictObject({ id: z.string(), text: z.string() });

const NOTES = defineCollection({
  name: "notes",
  events: {
    NoteTaken: {
      data: Note,
      project: ({ event, line }) => [{ key: ["note", event.data.id], content: dataOf(line) }],
    },
  },
  kinds: { note: { key: ["text"] }, by_day: { key: ["text", "number"] } },
});

Deno.test("a definition has defaults for what it leaves out", () => {
  const { collections: [collection], events, kinds } = defineApplication({
    name: "Notes",
    collections: [NOTES],
  });
  const { isId, exampleId, personal, keysOf, newHistory, faultOfHead, summaryOf } = collection;
  assertEquals(["1", "a.B_c~d:e@f+g-9", "x".repeat(100)].filter(isId).length, 3);
  const refused = ["", "x".repeat(101), " ", "a/b", 'a"b', "a\\b", "a{b", "é", "a\n"];
  assertEquals(refused.filter(isId), []);
  assertEquals([exampleId, personal, keysOf("x")], ["1", [], [["note", "x"]]]);
  assertEquals([newHistory, faultOfHead, summaryOf], [undefined, undefined, undefined]);
  const { id, isFirst, release, versions } = events.NoteTaken;
  assertEquals([id({ id: "x" }), id({ id: 7n })], ["x", "7"]);
  assertEquals([isFirst, release, versions], [false, "1.0", ["1.0"]]);
  assertEquals(kinds.get("by_day")!.owner(["by_day", "2026-01-01", 7]), "by_day 2026-01-01 7");
  assertEquals(kinds.get("note")!.isNumbered, false);
});

Deno.test("keysOf() has by default the first key of one element, if the id can be in it", () => {
  const keysOf = (kinds: Collection["kinds"], id: string) => {
    return defineApplication({ name: "Notes", collections: [{ ...NOTES, kinds }] })
      .collections[0].keysOf(id);
  };
  const list = { key: ["text", "text"] } as const;
  assertEquals(keysOf({ list, note: { key: ["number"] } }, "12"), [["note", 12]]);
  assertEquals(keysOf({ note: { key: ["number"] } }, "x"), []);
  assertEquals(keysOf({ list }, "x"), []);
  assertEquals(keysOf({ note: { key: [["a", "b"]] } }, "a"), []);
});

/** Changes of a good definition, and what the message must say. */
const FAULTS: Record<string, [change: Record<string, unknown>, said: string, name?: string]> = {
  "a name with other characters": [{}, 'The name "Notés" is not of 2 to 32 letters', "Notés"],
  "a short name": [{}, "The name N is not of 2 to 32 letters", "N"],
  "a long name": [{}, "is not of 2 to 32 letters", "N".repeat(33)],
  "a name with two blanks": [{}, "single blanks or dashes", "My  Notes"],
  "a name that begins with a digit": [{}, "the first is a letter", "7 Notes"],
  "no name": [{}, "is not of 2 to 32 letters", ""],
  "a name that is a word of SQL": [{}, "the schema user in PostgreSQL", "User"],
  "a name of PostgreSQL": [{}, "the schema pg_notes in PostgreSQL", "PG Notes"],
  "a collection with a slash": [{ name: "a/b" }, 'The collection "a/b" has a name that is not'],
  "a collection of every object": [
    { name: "constructor" },
    "The collection constructor has a name",
  ],
  "a type in lower case": [
    { events: { noteTaken: NOTES.events.NoteTaken } },
    "The type noteTaken has a name that is not a capital letter",
  ],
  "a type with a dash": [
    { events: { "Note-Taken": NOTES.events.NoteTaken } },
    "such as InvoiceIssued",
  ],
  "a schema that changes values": [
    ofEvent({ data: Note.extend({ count: z.number() }) }),
    "The type NoteTaken has a schema that cannot be stored: data.count is a number",
  ],
  "no schema": [ofEvent({ data: { id: "text" } }), "is not a z.strictObject() of Zod 4"],
  "a schema of a text": [ofEvent({ data: z.string() }), "is not a z.strictObject() of Zod 4"],
  "no id": [
    ofEvent({ data: z.strictObject({ name: z.string() }) }),
    "has neither id() nor a member id in its data",
  ],
  "no project()": [ofEvent({ project: undefined }), "has no function project()"],
  "a release of three numbers": [
    ofEvent({ release: "1.0.0" }),
    'the release "1.0.0", which is not two',
  ],
  "a release before the first one": [ofEvent({ release: "0.1" }), "the first one from 1 on"],
  "an addition of no release": [
    ofEvent({ added: { "01.0": () => true } }),
    'has additions of "01.0", which is not two numbers',
  ],
  "an addition without a function": [
    ofEvent({ added: { "1.1": true } }),
    'has no function for the additions of "1.1"',
  ],
  "a kind with a blank": [{ kinds: { "a note": { key: [] } } }, 'The kind "a note" has a name'],
  "a kind of the engine": [
    { kinds: { event_by_idempotency_key: { key: ["text", "text"] } } },
    "The kind event_by_idempotency_key is one of the engine",
  ],
  "an unknown element": [{ kinds: { note: { key: ["bigint"] } } }, "has bigint in its key"],
  "an empty list": [{ kinds: { note: { key: [[]] } } }, "has [] in its key"],
  "a numbered kind without a number": [
    { kinds: { note: { key: ["text"], isNumbered: true } } },
    "The kind note is numbered, but its key ends with no number",
  ],
  "an example that isId() refuses": [
    { isId: (text: string) => text !== "1" },
    'has the exampleId "1", but isId() refuses it',
  ],
  "an example with a slash": [
    { exampleId: "a/b" },
    'the exampleId "a/b", which is not of 1 to 100',
  ],
  "an isId() that fails": [
    {
      isId: () => {
        throw new Error("broken");
      },
    },
    'a function that fails for its exampleId "1": Error: broken',
  ],
  "a key of no kind": [
    { keysOf: (id: string) => [["letter", id]] },
    'has the key ["letter","1"] by keysOf("1")',
  ],
  "a key of another form": [
    { keysOf: (id: string) => [["note", Number(id)]] },
    'has the key ["note",1] by keysOf("1")',
  ],
  "a personal member that no data has": [
    { personal: ["text", "author"] },
    "The collection notes has author as personal, but no data has a text of that name",
  ],
  "a personal member without a text": [
    { ...ofEvent({ data: Note.extend({ age: z.bigint() }) }), personal: ["age"] },
    "The collection notes has age as personal, but no data has a text of that name",
  ],
  "a personal member whose text cannot be erased": [
    {
      ...ofEvent({ data: Note.extend({ mails: z.array(z.email()).optional() }) }),
      personal: ["mails"],
    },
    "its schema refuses (removed) or (removed) 2, which replaces it if it is erased",
  ],
};

function ofEvent(change: object) {
  return { events: { NoteTaken: { ...NOTES.events.NoteTaken, ...change } } };
}

const define = (change: object, name = "Notes") => {
  return defineApplication({ name, collections: [{ ...NOTES, ...change } as typeof NOTES] });
};

for (const [fault, [change, said, name]] of Object.entries(FAULTS)) {
  Deno.test(`defineApplication() refuses ${fault}`, () => {
    const { message } = assertThrows(() => define(change, name), TypeError);
    const [title, ...sentences] = message.split("\n");
    assertEquals(title, `The application ${name ?? "Notes"} cannot be defined:`);
    assertEquals(sentences.length, 1, message);
    assertStringIncludes(sentences[0], said);
  });
}

Deno.test("defineApplication() names all faults, and each repeated name", () => {
  const { message } = assertThrows(() => {
    return defineApplication({ name: "Notes", collections: [NOTES, NOTES] });
  }, TypeError);
  assertEquals(message.split("\n").slice(1), [
    "The collection notes is defined twice",
    "The type NoteTaken is defined twice",
    "The kind note is defined twice",
    "The kind by_day is defined twice",
  ]);
});

Deno.test("a schema that contains itself is refused before its text is asked for", () => {
  const Tree = z.strictObject({
    id: z.string(),
    get children() {
      return z.array(Tree);
    },
  });
  assertThrows(() => define(ofEvent({ data: Tree })), TypeError, "data.children[] contains itself");
});

Deno.test("the animal store is an application whose subjects have their own ids", () => {
  for (const { exampleId, isId } of APPLICATION.collections) assertEquals(isId(exampleId), true);
});

Deno.test("two applications are used in one process, each with its names", async () => {
  await using notes = await openEventStore(define({}), ":memory:");
  await using others = await openEventStore(define({}, "Other Notes"), ":memory:");
  const data = { id: "1", text: "a" };
  for (const store of [notes, others]) {
    await store.append({ subject: "notes/1", decide: () => [{ type: "NoteTaken", data }] });
    assertEquals((await audit(store)).faults, []);
  }
  const wrong: Parameters<typeof notes.append>[0] = {
    // @ts-expect-error -- the types of the data follow from the schema
    decide: () => [{ type: "NoteTaken", data: {} }],
  };
  await assertRejects(() => notes.append(wrong), InvalidEventError);
  assertEquals(others.application.eventSource, "urn:other-notes");
});
