import { assertEquals } from "@std/assert";
import { EMPTY_HEAD, encodeHead, type Head, headEntryOf } from "../../src/log/head.ts";

const HEAD: Head = {
  ...EMPTY_HEAD,
  position: 12_345_678_901,
  lastPetId: 12_345,
  lastHash: "0123456789abcdef".repeat(4),
  keyPosition: 7,
  generation: 3,
};

Deno.test("encodeHead() writes JSON that decodes to the same head", () => {
  const heads: Head[] = [
    EMPTY_HEAD,
    HEAD,
    { ...HEAD, building: { generation: 4, until: 99 } },
    { ...HEAD, removing: 2 },
    { ...HEAD, building: { generation: 4, until: 0 }, removing: 5 },
  ];
  for (const head of heads) {
    const value = encodeHead(head);
    assertEquals(JSON.parse(value), JSON.parse(JSON.stringify(head)));
    const versionstamp = "00000000000000010000";
    assertEquals(headEntryOf({ key: ["head"], value, versionstamp }), { head, versionstamp });
  }
});
