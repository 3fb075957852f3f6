import type { Operation } from "../api/operation.ts";
import { bookVisit, type BookVisitDeps } from "./book_visit.ts";
import { listVisits, type ListVisitsDeps } from "./list_visits.ts";

export const VISIT_OPERATIONS: readonly Operation<BookVisitDeps & ListVisitsDeps>[] = [
  listVisits,
  bookVisit,
];
