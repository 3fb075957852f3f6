import { assertEquals } from "@std/assert";
import process from "node:process";
import { asCalled, jsonAsCalled } from "../../src/runtime/node/as_called.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

testNeeding(permissions("read"))(
  "jsonAsCalled() returns JSON, whatever the path of the program on Node is",
  () => {
    const program = process.argv[1];
    const path = '/srv/the "old"\\new $& shop\n/store.mjs';
    try {
      process.argv[1] = path;
      const remedy = asCalled("Run deno task audit");
      assertEquals(remedy, `Run node '${path}' audit`);
      const value = { remedy: "Run deno task audit", advice: ["deno task audit", 7], event: "x" };
      assertEquals(JSON.parse(jsonAsCalled(value)), {
        remedy,
        advice: [`node '${path}' audit`, 7],
        event: "x",
      });
    } finally {
      process.argv[1] = program;
    }
  },
);
