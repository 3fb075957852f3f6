import { errorOf } from "./story.ts";

/** Texts in a path that are the id of nothing. */
export const NO_IDS = [
  ...["secret", "1.0", "01", "+1", "-0", "0x1", "NaN"],
  ...["%2F1", "1%20", "%00", "%3", "%zz", "%2531"],
];

export const NO_ID_OF_ANIMAL = errorOf(
  404,
  "pet_not_found",
  "The identifier of an animal is an integer without leading zeros, such as 42",
);
