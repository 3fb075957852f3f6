import { ERRORS, HttpError } from "../api/errors.ts";

/** The id after "/pets/" in a path. Throws `pet_not_found`, with these headers, if it is not an integer. */
export function petIdOf(path: string, headers: Record<string, string> = {}): number {
  const [, petId] = PET_ID.exec(path)!;
  // An integer that is too large exceeds every id, so it is harmless.
  if (/^(0|-?[1-9]\d*)$/.test(petId)) return Number(petId);
  const message = "The identifier of an animal is an integer without leading zeros, such as 42";
  throw new HttpError("pet_not_found", message, headers);
}

const PET_ID = /\/pets\/([^/]*)/;

export function petNotFoundError(headers: Record<string, string> = {}): HttpError {
  return new HttpError("pet_not_found", ERRORS.pet_not_found.when, headers);
}
