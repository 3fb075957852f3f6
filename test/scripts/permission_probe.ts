/** Replaces a program in a copy of the project, and prints what its permissions allow. */

import { statfsSync } from "node:fs";
import { userInfo } from "node:os";

const attempts: Record<string, () => unknown> = {
  "read a file": () => Deno.statSync("deno.json"),
  "write a file": () => Deno.removeSync(Deno.makeTempFileSync()),
  "write the source": () => Deno.writeTextFileSync("src/probe.txt", ""),
  "write the configuration": () => Deno.writeTextFileSync("deno.json", "{}"),
  "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  "connect": () => Deno.connect({ hostname: "127.0.0.1", port: 1 }),
  "run a program": () => new Deno.Command("true").outputSync(),
  "load a library": () => Deno.dlopen("missing.so", {}),
  "read KV_PATH": () => Deno.env.get("KV_PATH"),
  "read CORS_ORIGINS": () => Deno.env.get("CORS_ORIGINS"),
  "read HOME": () => Deno.env.get("HOME"),
  "read the size of a disk": () => statfsSync("."),
  "read the user's name": () => userInfo(),
  "ask for the host's name": () => Deno.hostname(),
};

const allowed: string[] = [];
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    allowed.push(name);
  } catch (error) {
    // Any other error means that the permission was granted.
    if (!(error instanceof Deno.errors.NotCapable)) allowed.push(name);
  }
}
console.log(JSON.stringify(allowed));
Deno.exit(0);
