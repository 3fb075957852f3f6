import { editFile } from "./edit_file.ts";

/** The text before which entries are added to the list of a pet's fields, as the guide of src/README.md says. */
export const END_OF_FIELDS = "} satisfies Record<string, PetField>;";

/** Adds entries to the list of a pet's fields in a copy of the project. */
export async function addFields(project: string, entries: string): Promise<void> {
  await editFile(`${project}/events/pet.ts`, [[END_OF_FIELDS, `${entries}\n${END_OF_FIELDS}`]]);
}
