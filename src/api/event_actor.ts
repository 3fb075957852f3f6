import type { Extensions } from "eventstore-less/parts";
import type { ApiKeyLabels } from "../keys/api_key_reader.ts";

/** The attributes of an event for clients that say who caused it. Only keys that may write get labels. */
export function actorAttributes(actor: string, labels: ApiKeyLabels | undefined): Extensions {
  return { actor, actorlabel: labels?.get(actor) };
}
