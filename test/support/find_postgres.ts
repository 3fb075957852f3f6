/** PostgreSQL's programs on this machine. */

/** The folder of a Debian package. Its programs are not in the path. */
const DEBIAN_FOLDER = "/usr/lib/postgresql";

/** Resolves to the folder of the newest server's programs, or to `undefined` if there is no server. */
export async function findPostgres(): Promise<string | undefined> {
  for (const folder of [...debianFolders(), await pathFolder()]) {
    if (folder !== undefined && isFile(`${folder}/initdb`)) return folder;
  }
}

function debianFolders(): string[] {
  try {
    const versions = [...Deno.readDirSync(DEBIAN_FOLDER)].map(({ name }) => name);
    return versions.sort((one, other) => Number(other) - Number(one))
      .map((version) => `${DEBIAN_FOLDER}/${version}/bin`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function pathFolder(): Promise<string | undefined> {
  try {
    const { stdout } = await new Deno.Command("pg_config", { args: ["--bindir"] }).output();
    return new TextDecoder().decode(stdout).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
