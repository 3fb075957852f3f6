// What the page shows, in its address: the tab, the filters, and the animal whose page is open.

const FILTERS = ["status", "categoryId", "name"];

/** Returns the filter and the id of the animal; `undefined` if the list is shown. */
export function readAddress() {
  const query = new URLSearchParams(location.search);
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const animalId = Number(query.get("animal")) || undefined;
  return { filter, animalId };
}

/** The address of the page that shows this. */
export function addressOf({ filter, animalId }) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  if (animalId !== undefined) query.set("animal", animalId);
  const search = query.toString();
  return search === "" ? location.pathname : `?${search}`;
}
