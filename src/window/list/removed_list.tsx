/** The list of the removed animals, of which the reader restores one or several. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { By } from "../animal/by.tsx";
import { restoreAnimal } from "../animal/change_animal.tsx";
import { restoreAnimals } from "../animal/change_animals.tsx";
import { viewOf } from "../animal/field_views.tsx";
import { FIELDS_BESIDE_NAME } from "../data/fields.ts";
import { mayWrite } from "../data/key_info.ts";
import {
  loadMoreRemoved,
  loadRemoval,
  removalEventOf,
  type RemovedPet,
  removedPets,
  removedQuery,
} from "../data/removed.ts";
import { changing } from "../data/write_animal.ts";
import { AnimalLink } from "../navigation/animal_link.tsx";
import { connectionProblem } from "../parts/connection.ts";
import { animals, grouped } from "../parts/count_words.ts";
import { restoreFocus } from "../parts/focus.ts";
import { attempt } from "../parts/messages.tsx";
import { spokenName } from "../parts/name.tsx";
import { RelativeTime } from "../parts/relative_time.tsx";

const ABOUT = "removed animals";
const BETWEEN_FIELDS = " · ";

export function RemovedList(): JSX.Element {
  const isFailed = useSignal(false);
  const load = async (read: () => Promise<void>) => {
    isFailed.value = false;
    isFailed.value = !await attempt(ABOUT, read);
  };
  const read = () => load(() => removedQuery.refresh());
  useEffect(() => {
    read();
  }, []);
  const isUnknown = removedPets.value === undefined;
  return (
    <div role="tabpanel" id="animals" aria-labelledby="tab-removed" aria-busy={isUnknown}>
      {!isUnknown && <Removed onMore={() => load(loadMoreRemoved)} />}
      {isUnknown && !isFailed.value && <p class="note">{connectionProblem.value || "Loading …"}</p>}
      {isFailed.value && (
        <p class="note">
          <button type="button" onClick={read}>Try again</button>
        </p>
      )}
    </div>
  );
}

function Removed({ onMore }: { onMore: () => void }): JSX.Element {
  const { pets, nextPage } = removedPets.value!;
  const chosen = useSignal<ReadonlySet<number>>(new Set());
  // The row that had the focus may be gone.
  useEffect(restoreFocus, [pets]);
  if (pets.length === 0) {
    return <p class="empty" role="status">No animals are removed.</p>;
  }
  const selected = pets.filter(({ id }) => chosen.value.has(id));
  const choose = (id: number, isChosen: boolean) => {
    const ids = new Set(chosen.value);
    if (isChosen) ids.add(id);
    else ids.delete(id);
    chosen.value = ids;
  };
  const chooseAll = (isChosen: boolean) => {
    chosen.value = new Set(isChosen ? pets.map(({ id }) => id) : []);
  };
  const restoreSelected = async () => {
    chooseAll(false);
    await restoreAnimals(selected);
  };
  return (
    <>
      {mayWrite.value && (
        <div class="line removed-tools">
          <label>
            <input
              type="checkbox"
              checked={selected.length === pets.length}
              indeterminate={selected.length > 0 && selected.length < pets.length}
              onClick={() => chooseAll(selected.length < pets.length)}
            />
            Select {animals(pets.length)}
            {nextPage !== undefined && " shown"}
          </label>
          <button
            type="button"
            disabled={selected.length === 0}
            onClick={restoreSelected}
          >
            Restore {selected.length > 0 && grouped(selected.length)} selected
          </button>
        </div>
      )}
      <ul class="removed-list" aria-label="Removed animals">
        {pets.map((pet) => (
          <Row
            key={pet.id}
            pet={pet}
            isChosen={chosen.value.has(pet.id)}
            onChoose={(isChosen) => choose(pet.id, isChosen)}
          />
        ))}
      </ul>
      {nextPage !== undefined && (
        <p class="note">
          <button type="button" onClick={onMore}>Show more</button>
        </p>
      )}
    </>
  );
}

interface RowProps {
  pet: RemovedPet;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

function Row({ pet, isChosen, onChoose }: RowProps): JSX.Element {
  const { id, name, removedAt } = pet;
  const row = useRef<HTMLLIElement>(null);
  useRemoval(row, pet);
  const removal = removalEventOf(pet);
  return (
    <li ref={row}>
      {mayWrite.value && (
        <input
          type="checkbox"
          aria-label={`Select ${spokenName(name)}`}
          checked={isChosen}
          onClick={() => onChoose(!isChosen)}
        />
      )}
      <p class="what">
        <AnimalLink id={id} name={name} />
        <span class="soft small">
          {FIELDS_BESIDE_NAME.map((field) => {
            const shown = viewOf(field).show(pet[field.name]);
            const isEmpty = shown === "" || shown === undefined;
            return isEmpty ? null : <span key={field.name}>{shown}{BETWEEN_FIELDS}</span>;
          })}
          Id {id}
        </span>
      </p>
      <p class="when soft small">
        Removed <RelativeTime of={removedAt} />
        {removal !== undefined && <By event={removal} />}
      </p>
      {mayWrite.value && (
        <button
          type="button"
          aria-label={`Restore ${spokenName(name)}`}
          disabled={changing.value.has(id)}
          onClick={() => restoreAnimal(pet)}
        >
          Restore
        </button>
      )}
    </li>
  );
}

/** Reads who removed an animal, once its row is on the screen: each one takes a request. */
function useRemoval(row: { current: HTMLElement | null }, pet: RemovedPet): void {
  useEffect(() => {
    const observer = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      observer.disconnect();
      // Without it, the row says when. A failure is tried again when the row is drawn again.
      loadRemoval(pet).catch(() => {});
    });
    observer.observe(row.current!);
    return () => observer.disconnect();
  }, [pet.removedAt]);
}
