import { PARTS } from "eventstore-less/application";
import type { Part } from "eventstore-less/definitions.ts";

const parts: readonly Part[] = PARTS;

/** The forms of subjects, for messages: pets/7, keys/ID. */
export const SUBJECT_FORMS = parts.map(({ collection, exampleId }) => `${collection}/${exampleId}`);

/** Whether a text is the subject of some event: the name of a collection, a slash, and the id of a subject of it. */
export function isSubject(text: string): boolean {
  return parts.some(({ collection, isId }) => {
    const start = `${collection}/`;
    return text.startsWith(start) && isId(text.slice(start.length));
  });
}
