const ROOT = new URL("../../", import.meta.url);

/**
 * Runs `use` with a copy of what an installation needs, alone in a temporary folder. A test can change the copy
 * while a developer works on the project.
 */
export async function withProjectCopy(
  use: (project: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const project = `${folder}/project`;
  try {
    for (const name of ["events", "scripts", "src"]) {
      await copyFolder(new URL(`${name}/`, ROOT), `${project}/${name}`);
    }
    for (const name of ["deno.json", "deno.lock"]) {
      await Deno.copyFile(new URL(name, ROOT), `${project}/${name}`);
    }
    await use(project);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function copyFolder(from: URL, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(new URL(`${name}/`, from), `${to}/${name}`);
    else await Deno.copyFile(new URL(name, from), `${to}/${name}`);
  }
}
