import type { ApiKeyIssuedData } from "./api_key.ts";
import type { NewPet } from "./pet.ts";

/**
 * The members of events whose texts can hold personal data, because people write them, by the kind of the subject.
 * `restore --redact` replaces them, also the former values of a change.
 */
export const PERSONAL_DATA = {
  pets: ["name"],
  keys: ["label"],
} satisfies { pets: (keyof NewPet)[]; keys: (keyof ApiKeyIssuedData)[] };
