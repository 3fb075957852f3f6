import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import type { NewPet, Pet } from "../../../events/pet.ts";
import {
  type Columns,
  doubledField,
  guessColumns,
  missingColumns,
} from "../../../src/window/import/columns.ts";
import {
  idempotencyKeyOf,
  idsIn,
  type Plan,
  planAdditions,
  planAgain,
  planChanges,
  type Reading,
} from "../../../src/window/import/plan.ts";
import { NO_MEANINGS } from "../../../src/window/import/meanings.ts";
import { readTable, type Table } from "../../../src/window/import/table.ts";

const OPEN_QUOTE =
  "has a quote that is open to the end of the file. Close or delete it, and choose the file again";

const utf8 = (text: string) => new TextEncoder().encode(text);
/** A file whose characters are bytes. */
const bytesOf = (text: string) => Uint8Array.from(text, (it) => it.charCodeAt(0));

function tableOf(content: string | Uint8Array, encoding?: string) {
  return readTable(typeof content === "string" ? utf8(content) : content, encoding);
}

function readingOf(table: Table): Reading {
  return { table, columns: guessColumns(table.titles), meanings: NO_MEANINGS };
}

function planOf(content: string | Uint8Array, encoding?: string): Plan {
  const table = tableOf(content, encoding);
  return planAdditions(readingOf(table));
}

/** The animals that a plan adds, each as its fields. */
function addedBy({ entries }: Plan): unknown[][] {
  return entries.map((it) => {
    assert(it.kind === "addition");
    const { name, categoryId, status } = it.pet;
    return status === undefined ? [name, categoryId] : [name, categoryId, status];
  });
}

const fieldsSetIn = (pet: NewPet) =>
  Object.fromEntries(Object.entries(pet).filter(([, value]) => value !== undefined));

const leftOutBy = ({ leftOut }: Plan) =>
  leftOut.map(({ row, fault }) => [row.line, row.text, fault]);

const keysOf = ({ entries }: Plan) =>
  entries.map((it) => it.kind === "addition" ? idempotencyKeyOf(it) : undefined);

Deno.test("planAdditions() reads what spreadsheets and programs write", () => {
  const cases: [file: string | Uint8Array, added: unknown[][], leftOut: unknown[][]][] = [
    [
      "sep=;\r\nName;Category;Status\r\nBello;7;available\r\nMinka;8;\r\n",
      [["Bello", 7n, "available"], ["Minka", 8n]],
      [],
    ],
    [
      'Category, Name, Status\n7, "Rex", "available"\n8, "Socks, the cat", sold\n',
      [["Rex", 7n, "available"], ["Socks, the cat", 8n, "sold"]],
      [],
    ],
    [
      "name,categoryId,status\nRex,7.0,available\nMia,,\nTom,8.0,sold\n",
      [["Rex", 7n, "available"], ["Tom", 8n, "sold"]],
      [[3, "Mia,,", "Category is missing"]],
    ],
    [
      "\ufeffSTATUS|Colour|category_ID| Pet Name \r\nNo status|red| 007 | Zoë  Ann\r\npending||-3.00|'=1\r\n",
      [["Zoë  Ann", 7n], ["=1", -3n, "pending"]],
      [],
    ],
    [
      'name,category\n"  ",7\n\u00a0,7\n"Rex\n  the dog",9\n"Mia"a,8\n" Tom ",1\n',
      [["Rex\n  the dog", 9n], ["Tom", 1n]],
      [
        [2, '"  ",7', "Name is missing"],
        [3, "\u00a0,7", "Name is missing"],
        [6, '"Mia"a,8', "The line has text after a closing quote"],
      ],
    ],
  ];
  for (const [file, added, leftOut] of cases) {
    const plan = planOf(file);
    assertEquals(addedBy(plan), added);
    assertEquals(leftOutBy(plan), leftOut);
  }
});

Deno.test("planAdditions() names each line that it leaves out, with its text", () => {
  const plan = planOf(
    'name,category,status\nRex,x,\n,7,\nMia,9223372036854775808,\nZoe,7,lost\nMax,7,,more\n"Bo"o,7,\nOk,7\n,y\n',
  );
  assertEquals(leftOutBy(plan), [
    [2, "Rex,x,", "There is no category “x”"],
    [3, ",7,", "Name is missing"],
    [4, "Mia,9223372036854775808,", "Category is too large"],
    [5, "Zoe,7,lost", "Status must be Available, Pending or Sold"],
    [6, "Max,7,,more", "The line has more cells than the first line"],
    [7, '"Bo"o,7,', "The line has text after a closing quote"],
    [9, ",y", "Name is missing; There is no category “y”"],
  ]);
  assertEquals(addedBy(plan), [["Ok", 7n]]);
});

Deno.test("planAdditions() takes no error of a spreadsheet for a name or a category", () => {
  const plan = planOf("name,category,colour\n#N/A,7,\nRex,#REF!,\nMia,7,#N/A\n#1,7,\n");
  assertEquals(addedBy(plan), [["Mia", 7n], ["#1", 7n]]);
  assertEquals(leftOutBy(plan), [
    [2, "#N/A,7,", "Name is an error of the spreadsheet: #N/A"],
    [3, "Rex,#REF!,", "Category is an error of the spreadsheet: #REF!"],
  ]);
});

Deno.test("planAdditions() adds no animal of lines that a stray quote may have joined", () => {
  const plan = planOf('name,category,status\nRex,7,\n"Mia,8,\nTom,9",7\nZoe,7\n"Max,7,\nBo,8,\n');
  assertEquals(addedBy(plan), [["Rex", 7n], ["Zoe", 7n]]);
  assertEquals(leftOutBy(plan), [
    [3, '"Mia,8,\nTom,9",7', "The line has fewer cells than the first line"],
    [6, '"Max,7,\nBo,8,', `Line 6 ${OPEN_QUOTE}`],
  ]);
});

Deno.test("planAdditions() gives a line the same key again, in a corrected file and in another order", () => {
  const first = planOf("Name,Category,Status\nAda,1,available\nBen,1,\nCleo,1,adopted\nBen,1,\n");
  const keys = keysOf(first);
  assertEquals(new Set(keys).size, 3);
  const corrected = planOf("Name,Category,Status\nAda,1,available\nBen,1,\nCleo,1,sold\nBen,1,\n");
  const correctedKeys = keysOf(corrected);
  assertEquals([correctedKeys[0], correctedKeys[1], correctedKeys[3]], keys);
  assert(!keys.includes(correctedKeys[2]));
  const resaved = planOf('status;name;category\r\n;"Ben";1.0\r\n;Ben;1\r\nAvailable; Ada ;1\r\n');
  assertEquals(keysOf(resaved), [keys[1], keys[2], keys[0]]);
  for (const key of keys) assert(/^[!-~]{1,255}$/.test(key!));
  assertNotEquals(keysOf(planOf("Name,Category\nBen,11\n")), [keys[1]]);
  const again = [
    ...keysOf(planAgain(first.entries, "a")),
    ...keysOf(planAgain(first.entries, "b")),
  ];
  assertEquals(new Set([...keys, ...again]).size, 9);
});

Deno.test("planAdditions() gives lines that look alike the same keys, and keeps their names as they are", () => {
  const plan = planOf("Name,Category\nM\u00e1x,7\nMa\u0301x,7\nM\u200b\u00e1x \u200b,7\nMax,7\n");
  assertEquals(addedBy(plan).map(([name]) => name), [
    "M\u00e1x",
    "Ma\u0301x",
    "M\u200b\u00e1x \u200b",
    "Max",
  ]);
  const counts = plan.entries.map((it) => it.kind === "addition" && it.countBefore);
  assertEquals(counts, [0, 1, 2, 0]);
  const decomposed = keysOf(planOf("Name,Category\nMa\u0301x,7\n"));
  assertEquals(decomposed, keysOf(plan).slice(0, 1));
});

Deno.test("planAdditions() finds no two keys alike among many animals", () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `Animal ${index},${index % 9}\n`);
  const plan = planOf(`Name,Category\n${lines.join("")}`);
  assertEquals(new Set(keysOf(plan)).size, 100_000);
});

Deno.test("readTable() keeps UTF-8 with one wrong byte, and its line is left out", () => {
  const file = new Uint8Array([
    ...utf8("Name,Category,Status\nŽofie,8,\nZoë,8,sold\n小白,8,\n"),
    ...bytesOf("J\xfcrgen,9,\n"),
  ]);
  const plan = planOf(file);
  assertEquals(addedBy(plan), [["Žofie", 8n], ["Zoë", 8n, "sold"], ["小白", 8n]]);
  assertEquals(leftOutBy(plan), [
    [5, "J\ufffdrgen,9,", "The line has a character that is not UTF-8"],
  ]);
});

Deno.test("readTable() adds nothing of UTF-16 without a mark until a reader chooses it", () => {
  for (const name of ["Rex", "Zoë", "小白"]) {
    const text = `Name,Category\r\n${name},7\r\nMia,8\r\n`;
    const wide = new Uint8Array(Uint16Array.from(text, (it) => it.charCodeAt(0)).buffer);
    const { origin } = tableOf(wide);
    assertEquals([origin.kind === "csv" && origin.isAssumed, addedBy(planOf(wide))], [true, []]);
    assertEquals(addedBy(planOf(wide, "utf-16le")), [[name, 7n], ["Mia", 8n]]);
  }
});

Deno.test("readTable() names the assumed encoding, and reads the file again in a chosen one", () => {
  const file = bytesOf("Name;Category;Status\r\nPu\xb9e\xb3ek;7;available\r\n\xafaba;8;\r\n");
  assertEquals(tableOf(file).origin, { kind: "csv", encoding: "windows-1252", isAssumed: true });
  assertEquals(addedBy(planOf(file))[0][0], "Pu¹e³ek");
  assertEquals(addedBy(planOf(file, "windows-1250")), [["Puąełek", 7n, "available"], ["Żaba", 8n]]);
});

Deno.test("readTable() refuses a file without a row, and one whose first line has a stray quote", () => {
  assertThrows(() => tableOf(""), Error, "The file is empty");
  assertThrows(() => tableOf("\n , \n"), Error, "The file is empty");
  assertThrows(
    () => tableOf('name,"category\nRex,7\n'),
    Error,
    `Line 1 ${OPEN_QUOTE}: name,"category`,
  );
});

Deno.test("guessColumns() finds titles in other cases, with other characters and with a prefix", () => {
  const cases: [titles: string, columns: Columns][] = [
    ["status;Colour;category_ID;Name;id", { name: 3, categoryId: 2, status: 0, id: 4 }],
    ["Animal name;animal-category;PetStatus", { name: 0, categoryId: 1, status: 2 }],
    ["animal_name;Name;CATEGORY", { name: 1, categoryId: 2 }],
    ["animal_id;Availability;Category no.", { status: 1, categoryId: 2 }],
    ["Art;Number;statuses", {}],
    ["Tiername;Kategorie;Verf\u00fcgbarkeit", { name: 0, categoryId: 1, status: 2 }],
    ["Nombre;Nom;Cate\u0301gorie;\u00c9tat", { name: 1, categoryId: 2, status: 3 }],
    ["Nombre;Categor\u00eda;Estado", { name: 0, categoryId: 1, status: 2 }],
  ];
  for (const [titles, columns] of cases) assertEquals(guessColumns(titles.split(";")), columns);
  assertEquals(missingColumns({ status: 1 }), ["Name", "Category"]);
  assertEquals(missingColumns({ name: 0, categoryId: 0 }), []);
});

Deno.test("doubledField() names the field of a column that no animal gets", () => {
  const titles = ["categoryName", "pet_status", "Colour", ""];
  assertEquals(titles.map(doubledField), ["Category", "Status", undefined, undefined]);
});

Deno.test("planAdditions() reads the columns that a reader has chosen", () => {
  const table = tableOf("animal_id,animal_name,kind_no,sold?\nA1,*MOCHI,3,sold\nA2,,4,\n");
  const columns = { ...guessColumns(table.titles), categoryId: 2, status: 3 };
  const plan = planAdditions({ ...readingOf(table), columns });
  assertEquals(addedBy(plan), [["*MOCHI", 3n, "sold"]]);
  assertEquals(leftOutBy(plan), [[3, "A2,,4,", "Name is missing"]]);
});

const PETS: Pet[] = [
  { id: 1, name: "Rex", categoryId: 7n },
  { id: 2, name: " odd ", categoryId: 2n ** 63n - 1n, status: "sold" },
  { id: 3, name: "=Mia", categoryId: -8n, status: "available" },
];
const BY_ID = new Map(PETS.map((pet) => [pet.id, pet]));

Deno.test("planChanges() changes only what differs from the animals with these ids", () => {
  const changesOf = (file: string) => {
    const table = tableOf(file);
    return planChanges(readingOf(table), BY_ID);
  };
  const patchesOf = ({ entries }: Plan) =>
    entries.map((it) => it.kind === "change" ? [it.before.id, it.patch] : fieldsSetIn(it.pet));
  const exported =
    'name,categoryId,status,id\r\nRex,7,,1\r\n" odd ",9223372036854775807,sold,2\r\n' +
    "'=Mia,-8,available,3\r\n";
  const same = changesOf(exported);
  assertEquals([same.entries, same.leftOut, same.unchanged], [[], [], 3]);
  const edited = exported.replace("Rex,7,", "Rex II,7,pending").replace(",sold,2", ",,2.0");
  const plan = changesOf(edited);
  assertEquals(patchesOf(plan), [[1, { name: "Rex II", status: "pending" }], [2, {
    status: null,
  }]]);
  assertEquals(plan.unchanged, 1);
  // A file may have only some of the columns.
  assertEquals(patchesOf(changesOf("ID,Status\n1,sold\n2,sold\n")), [[1, { status: "sold" }]]);
  assertEquals(patchesOf(changesOf("id,name,category\n,New,4\n")), [
    { name: "New", categoryId: 4n },
  ]);
  const faulty = changesOf(
    "id,status\n9,sold\nA1,sold\n1\u200b,sold\n1,\n,sold\n3,gone\n0,\n9.0072E+15,\n",
  );
  assertEquals(leftOutBy(faulty), [
    [2, "9,sold", "There is no animal with this id"],
    [3, "A1,sold", "Id must be a whole number"],
    [5, "1,", "An earlier line has the same id"],
    [6, ",sold", "Name is missing; Category is missing"],
    [7, "3,gone", "Status must be Available, Pending or Sold"],
    [8, "0,", "There is no animal with this id"],
    [9, "9.0072E+15,", "Id is a number that a spreadsheet has rounded: 9.0072E+15"],
  ]);
});

Deno.test("idsIn() has each id once", () => {
  const table = tableOf("id,name\n3,a\n1.0,b\n,c\nx,d\n3,e\n0,f\n");
  assertEquals(idsIn(table, { id: 0 }), [3, 1]);
  assertEquals(idsIn(table, {}), []);
});
