import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { objectEncoder } from "../../src/encoding/object_encoder.ts";

const Inner = z.strictObject({ to: z.bigint(), from: z.string().nullable().optional() });

const Outer = z.strictObject({
  id: z.bigint().transform(Number),
  "a b": z.bigint().optional(),
  isOpen: z.boolean().optional(),
  inner: Inner.refine(({ to }) => to > 0n).nullable().optional(),
  list: z.array(z.string()).optional(),
});

Deno.test("objectEncoder() writes members in the order of the schema, and exact integers", () => {
  const encode = objectEncoder(Outer);
  const cases: [object: object, text: string][] = [
    [{}, "{}"],
    [{ id: 7, isOpen: undefined }, '{"id":7}'],
    [{ isOpen: false, id: 7, other: 1 }, '{"id":7,"isOpen":false}'],
    [{ "a b": 2n ** 63n - 1n }, '{"a b":9223372036854775807}'],
    [{ inner: null, id: 7 }, '{"id":7,"inner":null}'],
    [
      { list: ['"'], inner: { from: null, to: -(2n ** 63n), more: 1 } },
      '{"inner":{"to":-9223372036854775808,"from":null},"list":["\\""]}',
    ],
  ];
  for (const [object, text] of cases) assertEquals(encode(object), text);
  assertThrows(() => encode({ list: [1n] }), TypeError);
});
