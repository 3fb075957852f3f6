// The words for each status of an animal. The status "" means that the animal has no status.

export const STATUS_LABELS = {
  "": "No status",
  available: "Available",
  pending: "Pending",
  sold: "Sold",
};

/** What a list of events says when an animal gets the status. */
export const STATUS_CHANGES = {
  "": "lost its status",
  available: "became available",
  pending: "became pending",
  sold: "was sold",
};

/** The same of several animals. */
export const STATUS_CHANGES_OF_SEVERAL = {
  "": "lost their status",
  available: "became available",
  pending: "became pending",
  sold: "were sold",
};

/** A tab lists the animals of one status. The tab "" lists all, and `none` those without a status. */
export const TAB_LABELS = tabLabels();

function tabLabels() {
  const { "": none, ...labels } = STATUS_LABELS;
  return { "": "All", ...labels, none };
}

/** Whether the tab lists an animal. */
export function isInTab(tab, { status = "none" }) {
  return tab === "" || tab === status;
}

/** The animal in words, without its identifier and its name. */
export function describePet({ categoryId, status = "" }) {
  return `category ${categoryId}, ${STATUS_LABELS[status].toLowerCase()}`;
}
