/** The page of one animal: how it is now, and its whole history. */

import { signal, useSignal } from "@preact/signals";
import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Pet } from "../../../events/pet.ts";
import {
  hasMore,
  isRemoved,
  loadMore,
  petOf,
  refreshAnimals,
  rowIds,
  wanted,
} from "../data/animals.ts";
import { StatusPill, viewOf } from "./field_views.tsx";
import { StatusPicker } from "./status_picker.tsx";
import { NOT_FOUND, request, ResponseError } from "../data/api.ts";
import { removeOrAsk, restoreAnimal } from "./change_animal.tsx";
import { openEditDialog } from "./animal_dialog.tsx";
import {
  isPetEvent,
  kindOf,
  type PetEvent,
  petIdOf,
  petIn,
  type StoreEvent,
} from "../data/events.ts";
import {
  type AnyField,
  differencesOf,
  FIELDS,
  FIELDS_BESIDE_NAME,
  type Patch,
} from "../data/fields.ts";
import { By } from "./by.tsx";
import { onEvents } from "../data/feed.ts";
import { NO_FILTER } from "../data/filter.ts";
import { restoreFocus } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import { mayWrite } from "../data/key_info.ts";
import { attempt, showProblem } from "../parts/messages.tsx";
import { Name, spokenName } from "../parts/name.tsx";
import { PageHeading } from "../parts/page_heading.tsx";
import { isPrinting, printedDate } from "../parts/printing.ts";
import { addressOf, onFollow, showList, showOtherAnimal } from "../navigation/navigation.ts";
import { BackLink } from "../navigation/back_link.tsx";
import { Query } from "../data/queries.ts";
import { ExactTime, RelativeTime } from "../parts/relative_time.tsx";
import { changing } from "../data/write_animal.ts";

const EVENTS_PER_PAGE = 100;
const IN_HEADING: readonly string[] = ["name", "status"];
const BESIDE_HEADING = FIELDS.filter(({ name }) => !IN_HEADING.includes(name));
const BETWEEN_FIELDS = " · ";

/** The name of the animal whose page is shown, for the title of the tab. */
export const shownName = signal<string | undefined>(undefined);

/** The events of an animal as far as they are read, the newest one first. */
type Past = Pick<History, "events" | "nextPage">;

interface History {
  /** `undefined` until it is known. */
  pet: Pet | undefined;
  isRemoved: boolean;
  /** Whether there is no such animal. */
  isUnknown: boolean;
  /** The newest one first. */
  events: readonly StoreEvent[];
  /** Path of older events; `undefined` if there are none. */
  nextPage: string | undefined;
  isLoading: boolean;
}

export function AnimalPage({ id }: { id: number }): JSX.Element {
  const { history, loadOlder } = useHistory(id);
  const { isUnknown, isLoading } = history;
  useEffect(() => {
    shownName.value = history.pet?.name;
    return () => shownName.value = undefined;
  }, [history.pet?.name]);
  // The button that removes it is gone then.
  useEffect(restoreFocus, [history.isRemoved]);
  return (
    <article class="animal" aria-busy={isLoading}>
      <nav aria-label="Animals">
        <BackLink />
        <span class="space" />
        <Neighbours id={id} />
      </nav>
      <div class="facts">
        <PageHeading>{headingOf(history)}</PageHeading>
        <Controls history={history} />
      </div>
      {isUnknown
        ? <p class="soft">No animal ever had this id.</p>
        : <Contents history={history} loadOlder={loadOlder} />}
      {isPrinting.value && <p class="soft small">Printed on {printedDate()}</p>}
    </article>
  );
}

function headingOf({ pet, isUnknown }: History): JSX.Element {
  if (pet !== undefined) return <Name of={pet.name} />;
  return <>{isUnknown ? "There is no such animal" : "Loading …"}</>;
}

interface ContentsProps {
  history: History;
  loadOlder: () => void;
}

function Contents({ history, loadOlder }: ContentsProps): JSX.Element {
  const { pet, isRemoved, isLoading, events, nextPage } = history;
  return (
    <>
      {isRemoved && (
        <div class="banner">
          <p role="status">This animal was removed.</p>
          {mayWrite.value && (
            <button
              type="button"
              disabled={changing.value.has(pet!.id)}
              onClick={() => restoreAnimal(pet!)}
            >
              Restore
            </button>
          )}
        </div>
      )}
      <div class="columns">
        {pet !== undefined && (
          <section>
            <h2>Details</h2>
            <Details pet={pet} history={history} />
          </section>
        )}
        <section class="past">
          <h2>History</h2>
          <ol class="events history">
            {events.map((event) => <HistoryEntry key={event.id} event={event} />)}
          </ol>
          {isLoading && <p class="note">Loading …</p>}
          {!isLoading && nextPage !== undefined && (
            <p class="note">
              <button type="button" onClick={loadOlder}>Show older changes</button>
            </p>
          )}
        </section>
      </div>
    </>
  );
}

function Controls({ history: { pet, isRemoved } }: { history: History }): JSX.Element | null {
  if (pet === undefined || isRemoved) return null;
  if (!mayWrite.value || isPrinting.value) return <StatusPill status={pet.status} />;
  return (
    <>
      <StatusPicker pet={pet} patch={changing.value.get(pet.id)} />
      <span class="buttons">
        <button type="button" onClick={() => openEditDialog(pet)}>Edit</button>
        <button type="button" class="quiet" onClick={() => removeOrAsk(pet)}>Remove</button>
      </span>
    </>
  );
}

interface DetailsProps {
  pet: Pet;
  history: History;
}

function Details({ pet, history: { events, nextPage } }: DetailsProps): JSX.Element {
  const last = events[0];
  // While older events are not loaded, the oldest one is not the addition.
  const added = nextPage === undefined ? events.at(-1) : undefined;
  return (
    <dl class="details">
      <Detail label="Id">{pet.id}</Detail>
      {BESIDE_HEADING.filter((field) => hasValue(field, pet)).map((field) => (
        <Detail key={field.name} label={field.label}>
          <Value field={field} pet={pet} />
        </Detail>
      ))}
      {added !== undefined && (
        <Detail label="Added">
          <RelativeTime of={added.time} />
          <By event={added} />
        </Detail>
      )}
      {last !== undefined && last !== added && (
        <Detail label="Last change">
          <RelativeTime of={last.time} />
          <By event={last} />
        </Detail>
      )}
    </dl>
  );
}

function hasValue({ name }: AnyField, pet: Pet): boolean {
  return pet[name] !== undefined;
}

/** A category leads to its animals. */
function Value({ field, pet }: { field: AnyField; pet: Pet }): JSX.Element {
  const shown = viewOf(field).showWhole(pet[field.name]);
  if (field.name !== "categoryId") return <>{shown}</>;
  const filter = {
    ...NO_FILTER,
    order: wanted.value.order,
    categoryId: field.textOf(pet.categoryId),
  };
  return <a href={addressOf(filter)} onClick={onFollow(() => showList(filter))}>{shown}</a>;
}

function Detail({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Links to the animals before and after this one, in the list from which the reader came. */
function Neighbours({ id }: { id: number }): JSX.Element | null {
  const place = rowIds.value.indexOf(id);
  const isLast = place >= 0 && place === rowIds.value.length - 1;
  useEffect(() => {
    if (isLast && hasMore.value) loadMore();
  }, [isLast]);
  if (place < 0) return null;
  return (
    <>
      <Neighbour words="Previous" id={rowIds.value[place - 1]}>
        <Icon name="back" /> Previous
      </Neighbour>
      <Neighbour words="Next" id={rowIds.value[place + 1]}>
        Next <Icon name="next" />
      </Neighbour>
    </>
  );
}

interface NeighbourProps {
  words: string;
  /** `undefined` at the end of the list. */
  id: number | undefined;
  children: ComponentChildren;
}

function Neighbour({ words, id, children }: NeighbourProps): JSX.Element {
  const pet = id === undefined ? undefined : petOf(id);
  if (pet === undefined) {
    return <span class="back" role="link" aria-disabled="true">{children}</span>;
  }
  const { id: other, name } = pet;
  return (
    <a
      class="back"
      href={addressOf(wanted.value, other)}
      title={name}
      aria-label={`${words}: ${spokenName(name)}`}
      onClick={onFollow(() => showOtherAnimal(other))}
    >
      {children}
    </a>
  );
}

function HistoryEntry({ event }: { event: StoreEvent }): JSX.Element {
  const { time } = event;
  const kind = kindOf(event);
  return (
    <li class={`dot ${kind}`}>
      <div class="sentence">
        <b>{kind[0].toUpperCase() + kind.slice(1)}</b>
        {isPetEvent(event) && <EventDetails event={event} />}
        <span class="soft small">
          <ExactTime of={time} />
          <By event={event} />
        </span>
      </div>
    </li>
  );
}

/** The animal as of an event, or the fields that a change has changed. */
function EventDetails({ event }: { event: PetEvent }): JSX.Element {
  const { data } = event;
  if (event.type !== "PetUpdated") {
    return (
      <p>
        <Name of={data.name} />
        {FIELDS_BESIDE_NAME.map((field) => {
          const shown = viewOf(field).show(data[field.name]);
          const isEmpty = shown === "" || shown === undefined;
          return isEmpty ? null : <Fragment key={field.name}>{BETWEEN_FIELDS}{shown}</Fragment>;
        })}
      </p>
    );
  }
  return (
    <dl>
      {differencesOf(event.data, event.data.previous as Patch).map(({ field, before, after }) => (
        <div key={field.name}>
          <dt>{field.label}</dt>
          <dd>
            <del>{viewOf(field).showWhole(before)}</del>
            <ins>{viewOf(field).showWhole(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The animal and its events, which follow the store. */
function useHistory(id: number) {
  const past = useSignal<Past>({ events: [], nextPage: undefined });
  const isLoading = useSignal(true);
  const about = `history ${id}`;
  const showUnlessGone = (error: unknown) => {
    const isGone = error instanceof ResponseError && error.status === NOT_FOUND;
    if (!isGone) showProblem(error, about);
  };
  const read = async (path: string) => {
    const { body, nextPage } = await request<StoreEvent[]>(path);
    const { events, nextPage: older } = past.value;
    const isAgain = events.length > 0 && path === firstPageOf(id);
    past.value = { events: merged(events, body), nextPage: isAgain ? older : nextPage };
  };
  const load = async (action: () => Promise<unknown>) => {
    isLoading.value = true;
    await attempt(about, action, showUnlessGone);
    isLoading.value = false;
  };
  useEffect(() => {
    const newest = new Query(() => read(firstPageOf(id)));
    load(() => Promise.all([refreshAnimals([id]), newest.refresh()]));
    return onEvents((batch) => {
      const own = batch.filter((event) => petIdOf(event) === id);
      if (own.length === 0) return;
      // The stream does not say who it was.
      past.value = { ...past.value, events: merged(own, past.value.events) };
      attempt(about, () => newest.refresh(), showUnlessGone);
    });
  }, []);
  const { events, nextPage } = past.value;
  const isGone = isRemoved(id);
  // A page that is opened after the removal has never seen the animal.
  const pet = petOf(id) ?? (isGone ? events.filter(isPetEvent).map(petIn)[0] : undefined);
  const history: History = {
    pet,
    isRemoved: isGone && pet !== undefined,
    isUnknown: isGone && pet === undefined && !isLoading.value,
    events,
    nextPage,
    isLoading: isLoading.value,
  };
  return { history, loadOlder: () => load(() => read(nextPage!)) };
}

function firstPageOf(id: number): string {
  return `pets/${id}/events?limit=${EVENTS_PER_PAGE}`;
}

/** Some events and others, each once, the newest first. If both have an event, that of `more` stays. */
function merged(events: readonly StoreEvent[], more: readonly StoreEvent[]): StoreEvent[] {
  const byId = new Map([...events, ...more].map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : -1);
}
