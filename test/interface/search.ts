import type { Section, Story } from "./story.ts";
import { adds, refusedQueries } from "./told.ts";

/** An animal of the category in a request. */
const named = (name: string) => `{"name":${JSON.stringify(name)},"categoryId":{category}}`;

/** What `name` promises, a search, the names that it finds, and others. */
type Search = [clause: string, search: string, found: string[], others: string[]];

const SEARCHES: Search[] = [
  ["a search finds a word in the name", "rex", ["rex", "a rex, too"], ["max"]],
  ["a part of a word is enough", "re", ["rex", "rexine", "T-Rex", "Andrea"], ["ear"]],
  ["one character is enough", "x", ["Rex", "Max"], ["Mia"]],
  ["a search is without regard to case: in lower case", "rex", ["REX", "rEx"], ["MAX"]],
  ["a search is without regard to case: in upper case", "REX", ["rex", "Rex"], ["max"]],
  ["a search without accents finds names with them", "zoe", ["Zoë", "ZOÉ", "Zoe"], ["Zo"]],
  ["a search with accents finds names without them", "ZOË", ["Zoe", "zoé", "Zoë"], ["Zo"]],
  ["accents may be characters of their own in a name", "zoë", ["Zoe\u0308 ii"], ["Zo\u0308 ii"]],
  ["accents may be characters of their own in a search", "zoe\u0308", ["Zoë", "Zoe"], ["Zo"]],
  ["the words of a search may be in any order", "dog zoe", ["Bello, Zoë's dog"], ["dog", "Zoe"]],
  ["a name needs each word of a search", "rex max", ["Rex and Max"], ["Rex", "Max"]],
  ["a comma separates words of a search", "II,ZÖE", ["Zoe ii"], ["Zoe", "ii"]],
  ["a comma separates words of a name", "bello dog", ["dog,Bello"], ["Bello, do", "g Bello"]],
  ["white space of any kind separates words", "a\t\n\u00a0\u3000b", ["b and a", "ab"], ["a", "b"]],
  ["a word of a search is in one word of a name", "rexmax", ["Rexmax"], ["Rex max", "Rex,max"]],
  ["a dot is a part of a word", "rex t.", ["T. Rex"], ["T, Rex"]],
  ["a search of separators finds all animals", " , ", ["Rex", "Max"], []],
  ["a search of one comma finds all animals", ",", ["Rex", "Max"], []],
  ["letters of full width are as others", "ＲＥＸ", ["Rex", "ｒｅｘ"], ["Max"]],
  ["a sign of several letters is as these", "kg", ["5 ㎏", "5 KG"], ["5 g"]],
  ["a sign of a search is as its letters, too", "㎏", ["5 kg", "5 ㎏"], ["5 k g"]],
  ["ß is as SS in a name", "STRASSE", ["Straße", "strasse"], ["Strase"]],
  ["ß is as SS in a search", "straße", ["STRASSE", "Straẞe"], ["Strase"]],
  ["the Turkish İ is as I", "istanbul", ["İstanbul", "ISTANBUL"], ["stanbul"]],
  ["the Turkish ı is as I", "ISIK", ["ışık", "isik"], ["sk"]],
  ["a Turkish search finds names with I", "ıİ", ["II", "ii"], ["I"]],
  ["Ø is as O", "soren", ["Søren", "SØREN"], ["Seren"]],
  ["Ł is as L", "lodz", ["Łódź", "łódź"], ["odz"]],
  ["Đ is as D", "dorde", ["Đorđe", "đorđe"], ["ore"]],
  ["Æ is as AE", "aesop", ["Æsop", "æsop"], ["Esop"]],
  ["Œ is as OE", "oeuvre", ["Œuvre", "œuvre"], ["euvre"]],
  ["a search may have these letters, too", "ØŁĐÆŒ", ["oldaeoe"], ["old"]],
  ["the final sigma is as another one", "ΟΔΟΣ", ["οδος", "οδοσ"], ["οδο"]],
  [
    "characters of a name that nobody sees do not count",
    "zoe rex",
    [
      "\u200bZ\u200co\u200de\u2060 \ufeffR\u00ade\u200ex\u200f",
      "Zoe\u061c \u202aRe\u3164x\ufe0f\u202e",
    ],
    ["Zoe"],
  ],
  [
    "characters of a search that nobody sees do not count",
    "\u200fm\ufeffa\u00adx\u2066\u2069",
    ["Max"],
    ["Rex"],
  ],
  ["signs of an address are found", "a&b=c#d+%20?/", ["a&b=c#d+%20?/"], ["a", "a b"]],
  ["% and _ are no pattern", "1%_", ["1%_"], ["100 %", "1ab"]],
  ["a search is no regular expression", ".*", ["a.*b"], ["Rex", "ab"]],
  ["a search is no JSON: a backslash", "\\u", ["C:\\Users"], ["Zo\u00eb \u0001"]],
  ["a search is no JSON: quotes", '"', ['"Rex"'], ["Rex"]],
  ["a search is no JSON: the name of a field", "categoryid", [], ["Rex"]],
  ["undefined and null are words like others", "undefined", ["undefined"], ["Rex", "null"]],
  ["a search may have 100 characters", "🐈".repeat(100), ["🐈".repeat(101)], ["🐈".repeat(99)]],
];

const BY_NAME: Story[] = SEARCHES.map(([clause, search, found, others]) => ({
  clause,
  told: `
    ${[...others, ...found].map((name, index) => adds(`id${index}`, named(name))).join("")}
    > GET /pets?categoryId={category}&name=${encodeURIComponent(search)}
    < 200
    < [${found.toReversed().map((name) => `{"id":…,${named(name).slice(1)}`)}]
  `,
}));

const ANIMALS: Record<string, string> = {
  bello: String
    .raw`{"name":"Bello, der Große {word}","categoryId":{otherCategory},"note":"Mag Käse\r\nund Zoë's Katze"}`,
  zoe: '{"name":"Zoë {word}","categoryId":{category},"status":"sold"}',
  kathe: '{"name":"Käthe {word}","categoryId":{category},"note":"ab Mai reserviert"}',
  max: '{"name":"Max {word}","categoryId":{otherCategory}}',
};

/** Names one category, and adds animals to it and to another one, which has no name. */
const ADDS_ANIMALS = `
  > PUT /categories/{category}
  > {"name":"Katzen, groß {word}"}
  < 201
  ${Object.entries(ANIMALS).map(([id, body]) => adds(id, body)).join("")}
`;

/** A query for some of them, and the list of these. */
const finds = (query: string, found: string[]) => `
  > GET /pets?${query}
  < 200
  < [${found.map((id) => `{"id":{${id}},${ANIMALS[id].slice(1)}`)}]
`;

/** What `q` promises, a search, and what it finds, the newest one first. */
const TEXT_SEARCHES: [clause: string, search: string, found: string[]][] = [
  ["q finds a word in the name or in the note", "zoe", ["zoe", "bello"]],
  ["q finds a word in the name of the category, too", "katze", ["kathe", "zoe", "bello"]],
  ["q compares words without regard to accents and case", "kase BELLO", ["bello"]],
  ["words may be on different lines of a note", "und mag", ["bello"]],
  ["words may be in the name and in the category", "gross kathe", ["kathe"]],
  ["words may be in the name, the note and the category", "mai katzen kathe", ["kathe"]],
  ["q finds only animals with each word", "kase bello mai", []],
  ["no word is in two lines of a note", "käseund", []],
  ["no word is in a name and a note", "{word}mag", []],
  ["no word is in a name and a category", "{word}katzen", []],
  ["no word is in a note and a category", "reserviertkatzen", []],
  ["the name of a field is not found", "note", []],
  ["the id of a category is not found", "{otherCategory}", []],
];

const BY_TEXT: Story[] = [
  ...TEXT_SEARCHES.map(([clause, search, found]) => ({
    clause,
    told: `
      ${ADDS_ANIMALS}
      ${finds(`q=${search.replaceAll(" ", "%20")}%20{word}`, found)}
    `,
  })),
  {
    clause: "q goes together with status and categoryId",
    told: `
      ${ADDS_ANIMALS}
      ${finds("q={word}", ["max", "kathe", "zoe", "bello"])}
      ${finds("q={word}&categoryId={category}", ["kathe", "zoe"])}
      ${finds("q={word}&status=sold", ["zoe"])}
    `,
  },
  {
    clause: "q of separators finds all animals",
    told: `
      ${ADDS_ANIMALS}
      ${finds("q=%20,%20&categoryId={category}", ["kathe", "zoe"])}
    `,
  },
  {
    clause: "name does not look in notes and in the names of categories",
    told: `
      ${ADDS_ANIMALS}
      ${finds("name=kase%20{word}", [])}
      ${finds("name=katze%20{word}", [])}
      ${finds("name=gross%20{word}", ["bello"])}
    `,
  },
  {
    clause: "q follows the name of a category",
    told: `
      ${ADDS_ANIMALS}
      ${finds("q=katzen%20{word}", ["kathe", "zoe"])}
      ${finds("q=gross%20katzen%20{word}", ["kathe", "zoe"])}
      > PUT /categories/{category}
      > {"name":"Vögel {word}"}
      < 200
      ${finds("q=katzen%20{word}", [])}
      ${finds("q=vogel%20{word}", ["kathe", "zoe"])}
      > DELETE /categories/{category}
      < 204
      ${finds("q=vogel%20{word}", [])}
    `,
  },
  {
    clause: "q follows a note",
    told: `
      ${ADDS_ANIMALS}
      > PATCH /pets/{kathe}
      > {"note":"kein Vogel"}
      < 200
      > GET /pets?q=vogel%20{word}
      < 200
      < [{"id":{kathe},"name":"Käthe {word}","categoryId":{category},"note":"kein Vogel"}]
      > PATCH /pets/{kathe}
      > {"note":null}
      < 200
      ${finds("q=vogel%20{word}", [])}
    `,
  },
];

const OF_ALL: Story[] = [
  {
    clause: "Link leads to the next page of a search, whatever its characters",
    told: `
      ${adds("first", named("Zoë, a&b=c#d+ %20"))}
      ${adds("second", named("Zoë, a&b=c#d+ %20"))}
      > GET /pets?categoryId={category}&limit=1&name=zo%C3%AB,a%26b=c%23d%2B%20%2520
      < 200
      < link: <{base}/{next}>; rel="next"
      < [{"id":{second},${named("Zoë, a&b=c#d+ %20").slice(1)}]
      > GET /{next}
      < 200
      < link: (none)
      < [{"id":{first},${named("Zoë, a&b=c#d+ %20").slice(1)}]
    `,
  },
  {
    clause: "name looks at all animals of the store",
    told: `
      ${ADDS_ANIMALS}
      ${finds("name={word}", ["max", "kathe", "zoe", "bello"])}
    `,
  },
  {
    clause: "name follows a change of the name",
    told: `
      ${adds("rex", '{"name":"Rex {word}","categoryId":{category}}')}
      > PATCH /pets/{rex}
      > {"name":"Max {word}"}
      < 200
      > GET /pets?name=rex%20{word}
      < 200
      < []
      > GET /pets?name=max%20{word}
      < 200
      < [{"id":{rex},"name":"Max {word}","categoryId":{category}}]
    `,
  },
];

export const SEARCH: Section = {
  title: "4.1 Find animals by words",
  contract: [],
  beyond: [
    ...BY_NAME,
    ...OF_ALL,
    ...BY_TEXT,
    ...refusedQueries("/pets", [
      [
        "a name of no or of more than 100 characters gets 400",
        'Query parameter "name" must be 1 to 100 characters long',
        ["name=", `name=${encodeURIComponent("🐈".repeat(101))}`],
      ],
      [
        "q of no or of more than 100 characters gets 400",
        'Query parameter "q" must be 1 to 100 characters long',
        ["q=", `q=${"a".repeat(101)}`],
      ],
      ["q with name gets 400", 'Query parameter "q" cannot be used with name', ["q=a&name=a"]],
    ]),
  ],
};
