import { assertEquals, assertThrows } from "@std/assert";
import { joinModules } from "../../../src/http/window/join_modules.ts";

Deno.test("joinModules() runs each module once, after those that it imports, in a scope of its own", () => {
  const script = joinModules({
    "main.js": 'import { add } from "./add.js";\nimport {\n  log,\n  Log,\n} from "./log.js";\n' +
      'log("main");\nadd(new Log());\n',
    "add.js": "// Adds.\n\n" +
      'import { log } from "./log.js";\nconst NAME = "add";\nlog(NAME);\n' +
      "export async function add() {\n  log(NAME);\n}\n",
    "log.js":
      'const NAME = "log";\n/** Logs. */\nexport function log(it) {\n  globalThis.out(it);\n}\n' +
      "log(NAME);\nexport class Log {}\n",
    "unused.js": "throw 1;\n",
  });
  const lines: string[] = [];
  Object.assign(globalThis, { out: (line: string) => lines.push(line) });
  new Function(script)();
  assertEquals(lines, ["log", "add", "main", "add"]);
});

Deno.test("joinModules() refuses circles, other modules and other forms of exports", () => {
  const cases = [
    ['import { a } from "./a.js";\n', "a.js is not a module"],
    ['import { a } from "./main.js";\n', "main.js imports itself"],
    ["export default 1;\n", "cannot be joined: export default 1;"],
    ['import "./a.js";\n', 'cannot be joined: import "./a.js";'],
  ];
  for (const [text, message] of cases) {
    assertThrows(() => joinModules({ "main.js": text }), Error, message);
  }
});
