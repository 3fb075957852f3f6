// The words for each status of an animal. The status "" means that the animal has no status.

export const STATUS_LABELS = {
  "": "No status",
  available: "Available",
  pending: "Pending",
  sold: "Sold",
};

/** A tab lists the animals of one status, and the tab "" lists all. */
export const TAB_LABELS = { ...STATUS_LABELS, "": "All" };

/** What a list of events says when an animal gets the status. */
export const STATUS_CHANGES = {
  "": "has no status any more",
  available: "became available",
  pending: "became pending",
  sold: "was sold",
};

/** The animal in words, without its identifier. */
export function describePet({ name, categoryId, status = "" }) {
  return `${name}, category ${categoryId}, ${STATUS_LABELS[status].toLowerCase()}`;
}
