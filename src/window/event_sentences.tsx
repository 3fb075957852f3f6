/** Events in words: one alone, and a run of several that happened at once, such as those of an import. */

import type { ComponentChildren, JSX } from "preact";
import { categoryIdOf, isPetEvent, kindOf, petIdOf, type StoreEvent } from "./events.ts";
import { type AnyField, differencesOf, type Patch } from "./fields.tsx";
import { EVENTS_KEPT } from "./feed.ts";
import { Name } from "./name.tsx";

const SHORTEST_RUN = 3;
const LONGEST_GAP_MS = 60_000;

/** Splits events, the newest first, into runs. Events that are no run are alone. */
export function runsOf(events: readonly StoreEvent[]): StoreEvent[][] {
  const runs: StoreEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run !== undefined && continues(run, event)) run.push(event);
    else runs.push([event]);
  }
  return runs.flatMap((run) => run.length < SHORTEST_RUN ? run.map((event) => [event]) : [run]);
}

function continues(run: readonly StoreEvent[], event: StoreEvent): boolean {
  const later = run.at(-1)!;
  const gapMs = Date.parse(later.time) - Date.parse(event.time);
  const isSameKind = isPetEvent(later) && isPetEvent(event) && verbOf(later) === verbOf(event);
  return isSameKind && gapMs <= LONGEST_GAP_MS;
}

export function RunSentence({ run }: { run: readonly StoreEvent[] }): JSX.Element {
  const [event] = run;
  if (run.length === 1) return <Sentence event={event} />;
  const animals = new Set(run.map(petIdOf)).size;
  const number = (animals === 1 ? run.length : animals).toLocaleString("en");
  // The page has forgotten what was before.
  const count = run.length === EVENTS_KEPT ? `At least ${number}` : number;
  if (animals > 1) return <>{count} animals {verbOf(event)}</>;
  return <>{subjectOf(event)} was changed {count} times</>;
}

function Sentence({ event }: { event: StoreEvent }): JSX.Element {
  const categoryId = categoryIdOf(event);
  if (categoryId !== undefined) return <CategorySentence id={categoryId} event={event} />;
  const isChange = isPetEvent(event) && event.type === "PetUpdated";
  if (!isChange) return <>{subjectOf(event)} was {kindOf(event)}</>;
  const { previous } = event.data;
  const changes = differencesOf(event.data, previous as Patch).map(sentenceOf);
  return (
    <>
      <Name of={previous.name ?? event.data.name} /> {changes.map(joined)}
    </>
  );
}

function CategorySentence({ id, event }: { id: bigint; event: StoreEvent }): JSX.Element {
  const { name } = Object(event.data);
  if (event.type === "CategoryRemoved") {
    return (
      <>
        Category {id} has the name <Name of={name} /> no more
      </>
    );
  }
  if (event.type !== "CategoryNamed") return <>Category {id} was changed</>;
  return (
    <>
      Category {id} was named <Name of={name} />
    </>
  );
}

function sentenceOf({ field, after }: { field: AnyField; after: unknown }): ComponentChildren {
  return field.sentence(after);
}

function joined(change: ComponentChildren, index: number): ComponentChildren {
  return index === 0 ? change : <>{" and "}{change}</>;
}

/** The subject of an event in words. An event of an unknown type may have no name. */
function subjectOf(event: StoreEvent): ComponentChildren {
  const { name } = Object(event.data);
  if (typeof name === "string") return <Name of={name} />;
  const id = petIdOf(event);
  return id === undefined ? event.subject.replace("/", " ") : `Animal ${id}`;
}

/** The event in words that do not name its animal. Events of one run have the same words. */
function verbOf(event: StoreEvent): string {
  if (isPetEvent(event) && event.type === "PetUpdated") {
    const [difference, ...more] = differencesOf(event.data, event.data.previous as Patch);
    const isAlone = difference !== undefined && more.length === 0;
    const sentence = isAlone ? difference.field.sentenceOfSeveral(difference.after) : undefined;
    if (sentence !== undefined) return sentence;
  }
  return `were ${kindOf(event)}`;
}
