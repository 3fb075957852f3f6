/** A process with a consumer, for the test that kills it: prints each position that the consumer gets. */

import { openEventStore } from "eventstore-less";
import { application } from "../tools/bookings.ts";

const store = await openEventStore(application, Deno.args[0]);
store.consume("printer", ({ position }) => console.log(position));
