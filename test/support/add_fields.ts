import { editFile } from "./edit_file.ts";

/** The text before which entries are added to the list of a pet's fields, as the guide of src/README.md says. */
export const END_OF_FIELDS = "} satisfies Record<string, PetField>;";

/** The text before which rows are added to the table of section 2 in src/http/README.md. */
export const END_OF_RESOURCES = "\n(1) A client does not send it.";

/** Adds entries to the list of a pet's fields in a copy of the project. */
export async function addFields(project: string, entries: string): Promise<void> {
  await editFile(`${project}/events/pet.ts`, [[END_OF_FIELDS, `${entries}\n${END_OF_FIELDS}`]]);
}

/** The text before which an entry is added to the list of fields of the window. */
const END_OF_WINDOW_FIELDS = "  status,\n};";

/** Adds an entry to the list of fields of the window in a copy of the project. */
export async function addFieldOfWindow(project: string, entry: string): Promise<void> {
  const added = `  status,\n${entry}\n};`;
  await editFile(`${project}/src/window/fields.tsx`, [[END_OF_WINDOW_FIELDS, added]]);
}
