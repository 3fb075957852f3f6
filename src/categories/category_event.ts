import type { Recorded } from "eventstore-less";
import type { RecordedEvent } from "../../events/all_events.ts";
import { CATEGORY_EVENT_TYPES, type CategoryEventBody } from "../../events/category.ts";

export type CategoryEvent = Recorded<CategoryEventBody>;

export function isCategoryEvent(event: RecordedEvent): event is CategoryEvent {
  return (CATEGORY_EVENT_TYPES as readonly string[]).includes(event.type);
}
