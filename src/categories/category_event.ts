import type { Recorded, RecordedEvent } from "eventstore-less/definitions";
import { CATEGORY_EVENT_TYPES, type CategoryEventBody } from "../../events/category.ts";

export type CategoryEvent = Recorded<CategoryEventBody>;

export function isCategoryEvent(event: RecordedEvent): event is CategoryEvent {
  return (CATEGORY_EVENT_TYPES as readonly string[]).includes(event.type);
}
