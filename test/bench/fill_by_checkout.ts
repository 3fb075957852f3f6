import { existsSync } from "node:fs";

/** The paths of the module with `fillStore()`: today's, and an earlier one. */
const FILL_STORE_MODULES = ["test/support/fill_store.ts", "test/bench/fill_store.ts"];

/** Lets the code of a checkout write a store file with that many pets. Resolves to an API key. */
export async function fillByCheckout(root: URL, path: string, pets: number): Promise<string> {
  const modules = FILL_STORE_MODULES.map((module) => new URL(module, root));
  const module = modules.find((url) => existsSync(url));
  if (module === undefined) throw new Error(`${root.pathname} has no ${FILL_STORE_MODULES[0]}`);
  const script = `const { fillStore } = await import(${JSON.stringify(module)});
    console.log(await fillStore(${JSON.stringify(path)}, ${pets}));`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--no-check", script],
    cwd: root,
  }).output();
  if (!success) throw new Error(`fillStore() failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}
