import { assertEquals, assertMatch } from "@std/assert";
import { safeInteger } from "eventstore-less/encoding";
import { z } from "zod";
import { valuePreservingFaults } from "../../../src/eventstore_less/encoding/value_preserving.ts";

const Inner = z.strictObject({ a: z.string() });
interface Tree {
  children: Tree[];
}
const Tree: z.ZodType<Tree> = z.strictObject({
  get children() {
    return z.array(Tree);
  },
});

/** The member of an object, and what the message about it must say; nothing if it is allowed. */
const CASES: Record<string, [member: z.core.$ZodType, said?: RegExp]> = {
  "a text": [z.string().min(1).max(9).regex(/a/).refine((it) => it !== "b").describe("x")],
  "an e-mail address": [z.email()],
  "a UUID": [z.uuid()],
  "a time": [z.iso.datetime()],
  "a template": [z.templateLiteral(["a-", z.string()])],
  "a trimmed text": [z.string().trim(), /^data\.part would change the text.*\.trim\(\)/],
  "a lower-case text": [z.string().toLowerCase(), /would change the text/],
  "a normalized text": [z.string().normalize(), /would change the text/],
  "a normalized address": [z.url({ normalize: true }), /would change the text/],
  "an overwritten text": [z.string().overwrite((it) => it), /would change the text/],
  "a coerced text": [z.coerce.string(), /without z\.coerce/],
  "a coerced bigint": [z.coerce.bigint(), /without z\.coerce/],
  "a coerced boolean": [z.coerce.boolean(), /without z\.coerce/],
  "a boolean": [z.boolean()],
  "a bigint": [z.bigint().min(0n).multipleOf(2n)],
  "a safe integer": [safeInteger(1)],
  "a safe integer in a union with a text": [z.union([safeInteger(), z.string()])],
  "a bigint that becomes a number": [
    z.bigint().min(0n).max(2n ** 60n).transform(Number),
    /would change the value/,
  ],
  "a bigint without bounds that becomes a number": [
    z.bigint().transform(Number),
    /would change the value/,
  ],
  "a number": [z.number(), /^data\.part is a number.*safeInteger\(\)/],
  "an integer": [z.int(), /safeInteger\(\)/],
  "a coerced number": [z.coerce.number(), /without z\.coerce/],
  "not a number": [z.nan(), /\.nullable\(\)/],
  "null": [z.null()],
  "a nullable": [z.string().nullable()],
  "an optional": [z.string().optional()],
  "an optional nullable": [z.string().optional().nullable().optional()],
  "undefined": [z.undefined(), /\.optional\(\)/],
  "an enum": [z.enum(["a", "b"])],
  "an enum of numbers": [z.enum({ a: 1 }), /the number 1.*use 1n/],
  "a literal": [z.literal(["a", 1n, true, null])],
  "a literal number": [z.literal(7), /the number 7.*use 7n/],
  "a literal undefined": [z.literal(undefined), /\.optional\(\)/],
  "a default": [z.string().default("a"), /would add a value/],
  "a prefault": [z.string().prefault("a"), /would add a value/],
  "a catch": [z.string().catch("a"), /would replace a wrong value/],
  "a date": [z.date(), /z\.iso\.datetime\(\)/],
  "a coerced date": [z.coerce.date(), /without z\.coerce/],
  "a transform": [z.string().transform((it) => it.length), /would change the value/],
  "a preprocess": [z.preprocess(String, z.string()), /would change the value/],
  "a pipe that checks twice": [z.string().pipe(z.email())],
  "a codec": [
    z.codec(z.string(), z.date(), { decode: (it) => new Date(it), encode: String }),
    /without the codec/,
  ],
  "a text that becomes a boolean": [z.stringbool(), /without the codec/],
  "a list": [z.array(z.array(Inner)).max(3)],
  "a list in a list": [
    z.array(z.array(z.number())),
    /^data\.part\[\]\[\] is a number/,
  ],
  "a list with holes": [z.array(z.string().optional()), /^data\.part\[\] can be absent/],
  "a tuple": [z.tuple([z.string(), z.bigint()], z.boolean())],
  "the rest of a tuple": [z.tuple([z.string()], z.date()), /^data\.part\[1\] is a Date/],
  "an object": [z.strictObject({ inner: Inner.optional() }).readonly()],
  "an object that drops members": [z.object({ a: z.string() }), /use z\.strictObject\(\)/],
  "an object that keeps any members": [z.looseObject({ a: z.string() }), /z\.strictObject\(\)/],
  "an object with other members": [Inner.catchall(z.string()), /z\.strictObject\(\)/],
  "a member of an object": [z.strictObject({ a: z.date() }), /^data\.part\.a is a Date/],
  "a member that JSON loses": [
    z.strictObject({ ["__proto__"]: z.string() }),
    /has a member "__proto__"/,
  ],
  "a record": [z.record(z.string().min(1), Inner)],
  "a record of an enum": [z.partialRecord(z.enum(["a", "b"]), z.bigint())],
  "a record of numbers": [z.record(z.string(), z.number()), /^data\.part\[\] is a number/],
  "a record by numbers": [z.record(z.number(), z.string()), /names that are not texts/],
  "a record by trimmed names": [z.record(z.string().trim(), z.string()), /names would change/],
  "a loose record": [z.looseRecord(z.string(), z.string()), /use z\.record\(\)/],
  "a union": [z.union([z.string(), z.bigint(), z.array(z.string()), Inner, z.null()])],
  "a union of two integers": [z.union([z.bigint(), safeInteger()]), /cannot tell apart/],
  "a part of a union": [z.union([z.string(), z.date()]), /^data\.part is a Date/],
  "a discriminated union": [
    z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("a"), a: z.string() }),
      z.strictObject({ kind: z.literal("b"), b: z.bigint() }),
    ]),
  ],
  "an intersection": [z.intersection(Inner, Inner), /use \.extend\(\)/],
  "a brand": [z.string().brand("Name")],
  "anything": [z.any(), /accepts anything/],
  "an unknown": [z.unknown(), /accepts anything/],
  "never": [z.never(), /accepts no value/],
  "any JSON": [z.json(), /nested without end/],
  "a lazy one": [z.lazy(() => z.string()), /nested without end/],
  "a tree": [Tree, /^data\.part\.children\[\] contains itself/],
  "a map": [z.map(z.string(), z.string()), /use z\.record\(\)/],
  "a set": [z.set(z.string()), /use z\.array\(\)/],
  "a class": [z.instanceof(URL), /use a schema of JSON/],
  "a file": [z.file(), /is a file/],
  "a symbol": [z.symbol(), /is a symbol/],
  "a promise": [z.promise(z.string()), /is a promise/],
  "a function": [z.custom<() => void>((it) => typeof it === "function"), /use a schema of JSON/],
  "whether it is valid": [z.success(z.string()), /use the schema inside/],
};

for (const [name, [part, said]] of Object.entries(CASES)) {
  Deno.test(`a schema of ${name} is ${said === undefined ? "allowed" : "refused in words"}`, () => {
    const faults = valuePreservingFaults(z.strictObject({ part }), "data");
    if (said === undefined) return assertEquals(faults, []);
    assertEquals(faults.length, 1, faults.join("\n"));
    assertMatch(faults[0], said);
  });
}
