import { APPLICATION } from "../../src/application.ts";

/** The forms of subjects, for messages: pets/7, keys/01KA7Z9MZ4QH4C4P5R4Z2Y0V7B. */
export const SUBJECT_FORMS = APPLICATION.collections.map(({ name, exampleId }) =>
  `${name}/${exampleId}`
);

/** Whether a text is the subject of some event: the name of a collection, a slash, and the id of a subject of it. */
export function isSubject(text: string): boolean {
  return APPLICATION.collections.some(({ name, isId }) => {
    const start = `${name}/`;
    return text.startsWith(start) && isId(text.slice(start.length));
  });
}
