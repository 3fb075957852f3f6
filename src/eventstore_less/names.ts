/** The name of the application where spaces or capitals are not possible. */

import { NAME } from "eventstore-less/application";

/** In URNs and for PostgreSQL's list of clients: `animal-store` for Animal Store. */
export const DASHED_NAME = NAME.toLowerCase().replaceAll(" ", "-");

/** In SQL and in metrics: `animal_store`. */
export const SQL_NAME = DASHED_NAME.replaceAll("-", "_");
