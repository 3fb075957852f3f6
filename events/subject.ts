/** The subjects of events: `pets/7`, or `keys/` and the id of an API key. */

const PETS = "pets/";
const KEYS = "keys/";

export function petSubject(petId: number): string {
  return PETS + petId;
}

export function keySubject(keyId: string): string {
  return KEYS + keyId;
}

/** The text after `pets/`, which need not be an id; `undefined` if the subject is not a pet. */
export function petIdIn(subject: string): string | undefined {
  return subject.startsWith(PETS) ? subject.slice(PETS.length) : undefined;
}

/** The text after `keys/`, which need not be an id; `undefined` if the subject is not an API key. */
export function keyIdIn(subject: string): string | undefined {
  return subject.startsWith(KEYS) ? subject.slice(KEYS.length) : undefined;
}
