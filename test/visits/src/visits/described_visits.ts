/** The schemas, examples and tag that the described operations of visits share. */

import { schemaComponent } from "../api/component.ts";
import type { Tag } from "../api/operation.ts";
import { Visit } from "../../events/visit.ts";

export const VISITS_TAG: Tag = { name: "Visits", description: "The visits to the vet" };
export const VISIT = schemaComponent("Visit", Visit);
export const EXAMPLE_VISIT = { id: 1, day: "2026-12-01", visitor: "Ann" };
