/** All that the engine must know of animals: their events, the records that these make, and the numbers of the head. */

import {
  type Collection,
  type EventDefinition,
  type EventDefinitions,
  type KindDefinition,
  type ProjectionKey,
  recordOf,
} from "eventstore-less";
import { needsRelease, PERSONAL_PET_FIELDS, type Pet, PET_RELEASES } from "../../events/pet.ts";
import { PET_EVENT_DATA, type PetChange, type PetEventBody } from "../../events/pet_event.ts";
import { petContentOf, removalContentOf } from "./pet_content.ts";
import { faultOfPetCounts, petsIn } from "./pet_counts.ts";
import { PetHistory } from "./pet_history.ts";
import {
  PET_KIND,
  PET_LISTS,
  petKey,
  petListOf,
  PETS_COLLECTION,
  REMOVED_PET_KIND,
  removedPetKey,
} from "./pet_keys.ts";

/** The fields and statuses that releases have added to the data of each event. */
const ADDED = Object.fromEntries(
  PET_RELEASES.map((release) => [release, (data: Pet & Partial<PetChange>) => {
    return needsRelease(release, data) || needsRelease(release, data.previous ?? {});
  }]),
);

/** The parts of the definition of each event of a pet. */
const OF_PET = {
  added: ADDED,
  id: ({ id }) => id,
  shown: ({ status }) => ({ status: [status] }),
} satisfies Partial<EventDefinition<Pet>>;

/** An event after which a pet is another one. */
const CHANGE = {
  ...OF_PET,
  project(recorded) {
    const { event: { data, position } } = recorded;
    const written = { key: keyOf(data), content: petContentOf(position, data) };
    const { id, previous: { status } } = data;
    if (status === undefined) return [written];
    return [{ key: petKey(petListOf(status), id) }, written];
  },
  tally({ status, previous }) {
    if (previous.status === undefined) return [];
    return [[petListOf(previous.status), -1], [petListOf(status), 1]];
  },
  shown: ({ status, previous }) => ({ status: [status, previous.status] }),
} satisfies Partial<EventDefinition<PetChange>>;

const PET_EVENTS: EventDefinitions<PetEventBody> = {
  PetCreated: {
    ...OF_PET,
    release: "1",
    data: PET_EVENT_DATA.PetCreated,
    isFirst: true,
    // Its data is the pet, so the text in the line is that of the record.
    project: (recorded) => [{ key: keyOf(recorded.event.data), content: recordOf(recorded) }],
    tally: ({ status }) => [[petListOf(status), 1]],
  },
  PetUpdated: { ...CHANGE, release: "1", data: PET_EVENT_DATA.PetUpdated },
  PetRemoved: {
    ...OF_PET,
    release: "1",
    data: PET_EVENT_DATA.PetRemoved,
    /** The record of a removal tells a removed pet from one whose record is lost. Only a restore deletes it. */
    project({ event: { data, position } }) {
      const removal = { key: removedPetKey(data.id), content: removalContentOf(position) };
      return [{ key: petKey(petListOf(data.status), data.id) }, removal];
    },
    tally: ({ status }) => [[petListOf(status), -1]],
  },
  PetRestored: {
    ...OF_PET,
    release: "7.0",
    data: PET_EVENT_DATA.PetRestored,
    project(recorded) {
      const { data } = recorded.event;
      const written = { key: keyOf(data), content: recordOf(recorded) };
      return [{ key: removedPetKey(data.id) }, written];
    },
    tally: ({ status }) => [[petListOf(status), 1]],
  },
};

function keyOf({ status, id }: Pet): ProjectionKey {
  return petKey(petListOf(status), id);
}

const PET_KINDS: Record<string, KindDefinition> = {
  [PET_KIND]: {
    key: [PET_LISTS, "number"],
    isNumbered: true,
    owner: ([, , id]) => `pet ${id}`,
    describe: ([, list, id]) => `Pet ${id} in the list ${list}`,
  },
  [REMOVED_PET_KIND]: {
    key: ["number"],
    isNumbered: true,
    owner: ([, id]) => `pet ${id}`,
    describe: ([, id]) => `The removal of pet ${id}`,
  },
};

export const PETS: Collection<PetEventBody> = {
  name: PETS_COLLECTION,
  isId: (text) => /^[1-9]\d{0,14}$/.test(text),
  exampleId: "7",
  events: PET_EVENTS,
  personal: PERSONAL_PET_FIELDS,
  kinds: PET_KINDS,
  /** Commands read pets from a cache, and name the predecessors of their events. */
  keysOf: () => [],
  hadUnnamedCounts: true,
  newHistory: () => new PetHistory(),
  faultOfHead: faultOfPetCounts,
  summaryOf: (counts) => ({ pets: petsIn(counts) }),
};
