import { VERSION } from "../../src/settings/version.ts";
import { editFile } from "./edit_file.ts";

/** Sets the version in a copy of the project, as the guides of src/README.md say. */
export async function setVersion(project: string, version: string): Promise<void> {
  for (const file of ["src/settings/version.ts", "src/eventstore_less/deno.json"]) {
    await editFile(`${project}/${file}`, [[VERSION, version]]);
  }
}
