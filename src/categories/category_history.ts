import type { History, SubjectState } from "eventstore-less";
import { assertNever, isErased } from "eventstore-less/parts";
import type { RecordedLine } from "../../events/all_events.ts";
import type { Category, CategoryNamedData } from "../../events/category.ts";
import { foldCase } from "../encoding/fold_case.ts";
import { isCategoryEvent } from "./category_event.ts";
import {
  categoryContentOf,
  categoryKey,
  removalContentOf,
  removedCategoryKey,
} from "./category_records.ts";

/**
 * The rules of the history of categories: each event continues from its category, and no two categories share a name.
 * Names that differ only in what nobody sees may stay from earlier versions.
 */
export class CategoryHistory implements History {
  /** The ids of the categories by their names, without regard to case. Without erased names. */
  #idsByName = new Map<string, bigint>();
  /** Whether every line so far could be read. Only then has an unknown category no name. */
  #isComplete = true;

  check({ event }: RecordedLine, subject: SubjectState): string[] {
    if (!isCategoryEvent(event)) return [];
    switch (event.type) {
      case "CategoryNamed":
        return this.#checkNaming(event.data, subject);
      case "CategoryRemoved":
        this.#free(event.data);
        return this.#checkBefore(event.data, "data", subject);
      default:
        return assertNever(event);
    }
  }

  lose(): void {
    this.#idsByName.clear();
    this.#isComplete = false;
  }

  #checkNaming({ id, name, previous }: CategoryNamedData, subject: SubjectState): string[] {
    const faults = previous === undefined
      ? checkUnnamed(id, subject)
      : this.#checkBefore({ id, name: previous.name }, "previous", subject);
    if (previous !== undefined) this.#free({ id, name: previous.name });
    if (previous?.name === name) faults.push("its previous names name, but did not change it");
    if (isErased(name)) return faults;
    const other = this.#idsByName.get(foldCase(name));
    if (other !== undefined) faults.push(`it gives category ${id} the name of category ${other}`);
    this.#idsByName.set(foldCase(name), id);
    return faults;
  }

  #free({ id, name }: Category): void {
    const folded = foldCase(name);
    if (this.#idsByName.get(folded) === id) this.#idsByName.delete(folded);
  }

  /** Checks that the category is there after the lines so far, with that name. */
  #checkBefore(
    { id, name }: Category,
    member: "data" | "previous",
    { position, hasRecord }: SubjectState,
  ): string[] {
    if (position === 0) {
      return this.#isComplete
        ? [`its ${member} has the name of category ${id}, which had none`]
        : [];
    }
    if (hasRecord(categoryKey(id), categoryContentOf(position, name))) return [];
    return [`its ${member} does not match category ${id} as it was before`];
  }
}

/** Checks that the category has no name after the lines so far: it is not known, or was removed. */
function checkUnnamed(id: bigint, { position, hasRecord }: SubjectState): string[] {
  const isRemoved = hasRecord(removedCategoryKey(id), removalContentOf(position));
  if (position === 0 || isRemoved) return [];
  return [`it has no previous name of category ${id}, which had one`];
}
