import { globSync } from "node:fs";
import process from "node:process";
import { assertEquals } from "@std/assert";
import { commandPrefix as commandPrefixOnNode } from "../../src/runtime/node/command_prefix.ts";
import { callCommandsBy, commandName, namesOfNewFiles } from "../../src/runtime/words.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("commandName() is the call of a task, or of the program that runs the commands, whose user may write the new files", () => {
  assertEquals(commandName("audit --json"), "deno task audit --json");
  const nameOf = () => namesOfNewFiles(Date.parse("2026-11-20T08:09:10.123Z"));
  assertEquals(nameOf()("seen.json"), "seen-20261120-080910.json");
  callCommandsBy("pets");
  try {
    assertEquals(commandName("audit --json"), "pets audit --json");
    assertEquals(nameOf()("seen.json"), "/var/lib/animal-store/seen-20261120-080910.json");
  } finally {
    callCommandsBy(undefined);
  }
});

testNeeding(permissions("read"))(
  "On Node, a shell takes the path of the program for one argument",
  () => {
    const program = process.argv[1];
    try {
      process.argv[1] = '/srv/the "old"\\new $& shop\n/store.mjs';
      assertEquals(commandPrefixOnNode(), `node '${process.argv[1]}'`);
      process.argv[1] = "/srv/store.mjs";
      assertEquals(commandPrefixOnNode(), "node /srv/store.mjs");
    } finally {
      process.argv[1] = program;
    }
  },
);

testNeeding(permissions("read"))(
  "Only one source has the words by which a command is called",
  async () => {
    const found: string[] = [];
    for (
      const path of globSync("{events,src,scripts}/**/*.{ts,js,html,css}", { cwd: ROOT.pathname })
    ) {
      const source = await Deno.readTextFile(new URL(path, ROOT));
      if (withoutComments(source).includes("deno task")) found.push(path);
    }
    assertEquals(found, ["src/runtime/deno/command_prefix.ts"]);
  },
);

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[^]*?\*\/|(?:^|\s+)\/\/.*$/gm, "");
}
