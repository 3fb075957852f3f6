// The fields of an animal as people write them: what is wrong with a text, and what the interface gets.

import { STATUS_LABELS } from "./statuses.js";

export const FIELD_LABELS = { name: "Name", categoryId: "Category", status: "Status" };

const NAME_MAX_LENGTH = 1_000;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const WHOLE_NUMBER = /^[+-]?\d+$/;
const LONGEST_NUMBER = 100;

/** The faults of the fields that are given, by their names. Without faults, the object is empty. */
export function faultsOf({ name, categoryId, status }) {
  const faults = {
    name: name === undefined ? undefined : faultOfName(name),
    categoryId: categoryId === undefined ? undefined : faultOfCategory(categoryId),
    status: status === undefined ? undefined : faultOfStatus(status),
  };
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

function faultOfName(name) {
  if (name === "") return "Name is missing";
  if ([...name].length > NAME_MAX_LENGTH) {
    return `Name has more than ${NAME_MAX_LENGTH.toLocaleString()} characters`;
  }
  if (!name.isWellFormed()) return "Name has a broken character";
}

export function faultOfCategory(text) {
  const trimmed = text.trim();
  if (trimmed === "") return "Category is missing";
  if (!WHOLE_NUMBER.test(trimmed)) return "Category must be a whole number";
  if (trimmed.length > LONGEST_NUMBER) return "Category is too large";
  const number = BigInt(trimmed.replace("+", ""));
  if (number > INT64_MAX) return "Category is too large";
  if (number < INT64_MIN) return "Category is too small";
}

function faultOfStatus(status) {
  if (Object.hasOwn(STATUS_LABELS, status)) return undefined;
  const statuses = Object.keys(STATUS_LABELS).filter((it) => it !== "");
  return `Status must be one of ${statuses.join(", ")}`;
}

/** A category without faults, as the interface writes it: for example 7 for " 007". */
export function categoryOf(text) {
  return String(BigInt(text.trim().replace("+", "")));
}

/** The faults that an Error of the interface names, by their fields. */
export function faultsOfError({ code, message }) {
  const faults = {};
  if (code !== "invalid_body") return faults;
  for (const part of message.split("; ")) {
    const match = /^Field "(\w+)" (.+)$/.exec(part);
    const label = FIELD_LABELS[match?.[1]];
    if (label) faults[match[1]] = `${label} ${match[2]}`;
  }
  return faults;
}

/** The message of an Error for people, who do not know the names of the fields. */
export function messageOf({ message }) {
  return message
    .replaceAll(/(?:Field )?"(name|categoryId|status)"/g, (_, name) => FIELD_LABELS[name])
    .replaceAll(/\bcategoryId\b/g, "Category");
}
