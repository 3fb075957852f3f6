/** Replaces a program in a copy of the project, and prints what its permissions allow. */

const kvPath = Deno.env.get("KV_PATH") || ".data/pets.sqlite3";
const isAddress = kvPath.startsWith("http:");
const storeFolder = isAddress ? "none" : kvPath.replace(/[^/]*$/, "");
const storePort = isAddress ? Number(new URL(kvPath).port) : 1;
const listener = { hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")) };

const attempts: Record<string, () => unknown> = {
  "read /etc/passwd": () => Deno.readTextFileSync("/etc/passwd"),
  "read /etc/shadow": () => Deno.readTextFileSync("/etc/shadow"),
  "write /tmp": () => Deno.removeSync(Deno.makeTempFileSync({ dir: "/tmp" })),
  "read the source": () => Deno.readTextFileSync("src/settings/config.ts"),
  "write the source": () => Deno.writeTextFileSync("src/probe.txt", ""),
  "write the configuration": () => Deno.writeTextFileSync("deno.json", "{}"),
  "write the project": () => Deno.writeTextFileSync("probe.txt", ""),
  "read the store": () => Deno.statSync(`${storeFolder}probe.txt`),
  "write the store": () => Deno.writeTextFileSync(`${storeFolder}probe.txt`, ""),
  "read the export": () => Deno.statSync("exports/log.jsonl"),
  "write the checkpoint": () => Deno.writeTextFileSync("checkpoints/probe.txt", ""),
  "listen": () => Deno.listen(listener).close(),
  "connect to the store": () => Deno.connect({ hostname: "127.0.0.1", port: storePort }),
  "connect elsewhere": () => Deno.connect({ hostname: "127.0.0.1", port: 9 }),
  "run a program": () => new Deno.Command("true").outputSync(),
  "read HOME": () => Deno.env.get("HOME"),
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
