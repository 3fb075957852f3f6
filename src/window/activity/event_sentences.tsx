/** Events in words: one alone, and a run of several that happened at once, such as those of an import. */

import type { ComponentChildren, JSX } from "preact";
import { AnimalLink } from "../navigation/animal_link.tsx";
import {
  categoryIdOf,
  isPetEvent,
  kindOf,
  type PetEvent,
  petIdOf,
  type StoreEvent,
} from "../data/events.ts";
import { differencesOf, type Patch } from "../data/fields.ts";
import { ChangeSentence } from "../animal/change_sentence.tsx";
import { animals, grouped } from "../parts/count_words.ts";
import { Name } from "../parts/name.tsx";

const SHORTEST_RUN = 3;
const LONGEST_GAP_MS = 60_000;
/** Nobody changes animals one by one so fast: changes to different values are one action, for example an Undo. */
const LONGEST_GAP_OF_ACTION_MS = 1_000;

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
  if (!isPetEvent(later) || !isPetEvent(event) || later.actor !== event.actor) return false;
  if (verbOf(later) === verbOf(event)) return gapMs <= LONGEST_GAP_MS;
  const isSameField = fieldsOf(event) !== "" && fieldsOf(later) === fieldsOf(event);
  return isSameField && gapMs <= LONGEST_GAP_OF_ACTION_MS;
}

export interface RunProps {
  run: readonly StoreEvent[];
  /** Whether the run may begin before its events. */
  isCut: boolean;
}

export function RunSentence({ run, isCut }: RunProps): JSX.Element {
  const [event] = run;
  if (run.length === 1) return <Sentence event={event} />;
  const count = new Set(run.map(petIdOf)).size;
  if (count > 1) return <>{isCut && "At least "}{animals(count)} {verbOfRun(run)}</>;
  const times = grouped(run.length);
  return <>{subjectOf(event)} was changed {isCut && "at least "}{times} times</>;
}

function Sentence({ event }: { event: StoreEvent }): JSX.Element {
  const categoryId = categoryIdOf(event);
  if (categoryId !== undefined) return <CategorySentence id={categoryId} event={event} />;
  const isChange = isPetEvent(event) && event.type === "PetUpdated";
  if (!isChange) return <>{subjectOf(event)} was {kindOf(event)}</>;
  const previous = event.data.previous as Patch;
  const name = previous.name ?? event.data.name;
  return <ChangeSentence name={nameOf(event, name)} after={event.data} previous={previous} />;
}

function CategorySentence({ id, event }: { id: bigint; event: StoreEvent }): JSX.Element {
  const { name } = Object(event.data);
  if (event.type === "CategoryRemoved") {
    return (
      <>
        The category name <Name of={name} /> was removed
      </>
    );
  }
  if (event.type !== "CategoryNamed") return <>Category {id} was changed</>;
  return (
    <>
      A category was named <Name of={name} />
    </>
  );
}

/** The subject of an event in words. An event of an unknown type may have no name. */
function subjectOf(event: StoreEvent): ComponentChildren {
  const { name } = Object(event.data);
  if (typeof name === "string") return nameOf(event, name);
  const id = petIdOf(event);
  return id === undefined ? event.subject.replace("/", " ") : `Animal ${id}`;
}

function nameOf(event: StoreEvent, name: string): JSX.Element {
  const id = petIdOf(event);
  return id !== undefined ? <AnimalLink id={id} name={name} /> : <Name of={name} />;
}

/** The words for all events of a run. */
function verbOfRun(run: readonly StoreEvent[]): string {
  const [event] = run;
  const isOneVerb = run.every((it) => verbOf(it) === verbOf(event));
  if (isOneVerb || !isPetEvent(event)) return verbOf(event);
  return `got another ${fieldsOf(event)}`;
}

/** The labels of the fields that a change has changed, in small letters: "" for another event. */
function fieldsOf(event: PetEvent): string {
  if (event.type !== "PetUpdated") return "";
  const differences = differencesOf(event.data, event.data.previous as Patch);
  return differences.map(({ field }) => field.label.toLowerCase()).join(" and ");
}

/** The event in words that do not name its animal. */
function verbOf(event: StoreEvent): string {
  if (isPetEvent(event) && event.type === "PetUpdated") {
    const [difference, ...more] = differencesOf(event.data, event.data.previous as Patch);
    const isAlone = difference !== undefined && more.length === 0;
    const sentence = isAlone ? difference.field.sentenceOfSeveral(difference.after) : undefined;
    if (sentence !== undefined) return sentence;
  }
  return `were ${kindOf(event)}`;
}
