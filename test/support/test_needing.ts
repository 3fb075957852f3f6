/** Something that this run of the tests may lack. */
export interface Need {
  /** Names it, and says how to get it if that is not obvious. */
  name: string;
  isMet: boolean;
}

/** The permissions of Deno with these names. A plain `deno test` has none. */
export function permissions(...names: Deno.PermissionName[]): Need {
  const flags = names.toSorted().map((name) => `--allow-${name}`).join(" ");
  const isGranted = (name: Deno.PermissionName) =>
    Deno.permissions.querySync({ name }).state === "granted";
  return { name: `${flags}, as deno task test gives`, isMet: names.every(isGranted) };
}

/** Some seconds for one test, which a plain `deno test` does not take, because it runs after each change. */
export const SECONDS: Need = {
  name: "some seconds, as deno task test takes",
  isMet: permissions("run").isMet,
};

/** The permissions that a test needs to start processes. */
export const PROCESSES = permissions("env", "net", "read", "run", "write");

export const LINUX: Need = { name: "Linux", isMet: Deno.build.os === "linux" };

export const NOT_WINDOWS: Need = {
  name: "a system other than Windows",
  isMet: Deno.build.os !== "windows",
};

/** The number of tests that lack a need, by its name. Deno gives each test file modules of its own. */
const leftOut = new Map<string, number>();

/**
 * Returns a function that declares tests. Deno ignores them unless all needs are met. At the end of a test file, one
 * line for each reason says how many of its tests were left out.
 */
export function testNeeding(...needs: Need[]) {
  const lacking = needs.find(({ isMet }) => !isMet);
  return (name: string, fn: (context: Deno.TestContext) => Promise<void> | void): void => {
    if (lacking !== undefined) countLeftOut(lacking);
    Deno.test({ name, ignore: lacking !== undefined, fn });
  };
}

function countLeftOut({ name }: Need): void {
  if (leftOut.size === 0) addEventListener("unload", reportLeftOut);
  const count = leftOut.get(name) ?? 0;
  leftOut.set(name, count + 1);
}

function reportLeftOut(): void {
  for (const [name, count] of leftOut) {
    const tests = count === 1 ? "1 test that needs" : `${count} tests that need`;
    console.log(`Left out ${tests} ${name}`);
  }
}
