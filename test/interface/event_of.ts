/** The events of the interface (section 6), as a story has them. */

const SCHEMAS = {
  PetCreated: "pet-created:1",
  PetUpdated: "pet-updated:1",
  PetRemoved: "pet-removed:1",
  PetRestored: "pet-restored:7.0",
  CategoryNamed: "category-named:6.0",
  CategoryRemoved: "category-removed:6.0",
};

/** An event with all that it has, and nothing else: no hash, and no Idempotency-Key. */
export function eventOf(
  type: keyof typeof SCHEMAS,
  subject: string,
  data: string,
  actor = "",
): string {
  return `{"specversion":"1.0","id":"…","source":"urn:animal-store","type":"${type}","time":"…",` +
    `"sequence":"…","subject":"${subject}","dataschema":"urn:animal-store:${SCHEMAS[type]}",` +
    `${actor}"datacontenttype":"application/json","data":${data}}`;
}

/** The key of the story, after {@linkcode WHO}, as a key sees it that may write. */
export const BY_KEY = '"actor":"{keyId}","actorlabel":"{label}",';

/** The same, as a key sees it that may only read. */
export const BY_ID = '"actor":"{keyId}",';

/** Learns the id and the label of the key. */
export const WHO = `
  > GET /key
  < 200
  < {"id":"{keyId}","label":"{label}",…}
`;
