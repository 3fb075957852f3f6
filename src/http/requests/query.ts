import { PetStatus } from "../../../events/pet.ts";
import { HttpError, quoted } from "../errors.ts";

/** Parses the value of a query parameter. Calls `refuse` if it is not valid, with a fault that follows the name. */
export type ValueParser<Value> = (value: string, refuse: (fault: string) => never) => Value;

/**
 * Parses a query, given without its question mark, by the parsers of its parameters. Throws `invalid_parameter` if one is
 * unknown, repeated or not valid.
 */
export function parseQuery<Query>(
  search: string,
  parsers: { [Name in keyof Query]-?: ValueParser<Query[Name]> },
): Partial<Query> {
  const query: Partial<Query> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const refuse = (fault: string) => {
      throw new HttpError("invalid_parameter", `Query parameter ${quoted(name)} ${fault}`);
    };
    if (!Object.hasOwn(parsers, name)) {
      const names = Object.keys(parsers).join(", ");
      refuse(`is not known: ${names === "" ? "this operation takes none" : `use ${names}`}`);
    }
    const known = name as keyof Query;
    if (Object.hasOwn(query, known)) refuse("is repeated");
    query[known] = parsers[known](value, refuse);
  }
  return query;
}

/** The number of 1 to 19 digits; `NaN` for any other text. */
export function parseDigits(value: string): number {
  return /^\d{1,19}$/.test(value) ? Number(value) : NaN;
}

export function integerFrom(min: number, max: number): ValueParser<number> {
  return (value, refuse) => {
    const number = parseDigits(value);
    return number >= min && number <= max
      ? number
      : refuse(`must be an integer from ${min} to ${max}`);
  };
}

export const parseStatus: ValueParser<PetStatus> = (value, refuse) => {
  const { data, error } = PetStatus.safeParse(value);
  return error === undefined ? data : refuse(error.issues[0].message);
};
