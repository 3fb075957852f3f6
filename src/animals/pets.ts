/** All that the engine must know of animals: their events, the records that these make, and the numbers of the head. */

import { PERSONAL_DATA } from "../../events/personal_data.ts";
import { needsRelease, Pet, PET_RELEASES, type PetPatch } from "../../events/pet.ts";
import { type PetEventBody, PetUpdatedData } from "../../events/pet_event.ts";
import type {
  Collection,
  EventDefinition,
  EventDefinitions,
  KindDefinition,
  ProjectionRecord,
  RecordedData,
} from "eventstore-less/definitions.ts";
import { petContentOf, petTextOf, removalContentOf } from "./pet_content.ts";
import { faultOfPetCounts, petsIn } from "./pet_counts.ts";
import { PetHistory } from "./pet_history.ts";
import { PET_LISTS, petKey, petListOf, PETS_COLLECTION, removedPetKey } from "./pet_keys.ts";

/** What releases have added to the data of each event: fields and statuses. */
const ADDED = Object.fromEntries(
  PET_RELEASES.map((release) => [release, (data: Pet & { previous?: PetPatch }) => {
    return needsRelease(release, data) || needsRelease(release, data.previous ?? {});
  }]),
);

/** What the events have in common whose data is a pet. */
const OF_PET = {
  data: Pet,
  release: "1",
  added: ADDED,
  id: ({ id }) => id,
  shown: ({ status }) => ({ status: [status] }),
} satisfies Partial<EventDefinition<Pet>>;

const PET_EVENTS: EventDefinitions<PetEventBody> = {
  PetCreated: {
    ...OF_PET,
    isFirst: true,
    project: (recorded) => [recordOf(recorded)],
    tally: ({ status }) => [[petListOf(status), 1]],
  },
  PetUpdated: {
    data: PetUpdatedData,
    release: "1",
    added: ADDED,
    id: ({ id }) => id,
    isFirst: false,
    project(recorded) {
      const { data } = recorded.event;
      const { status } = data.previous;
      const written = recordOf(recorded);
      if (status === undefined) return [written];
      return [{ key: petKey(petListOf(status), data.id) }, written];
    },
    tally({ status, previous }) {
      if (previous.status === undefined) return [];
      return [[petListOf(previous.status), -1], [petListOf(status), 1]];
    },
    shown: ({ status, previous }) => ({ status: [status, previous.status] }),
  },
  PetRemoved: {
    ...OF_PET,
    isFirst: false,
    /** The record of a removal tells a removed pet from one whose record is lost. Nothing deletes it. */
    project({ event: { data, position } }) {
      const removal = { key: removedPetKey(data.id), content: removalContentOf(position) };
      return [{ key: petKey(petListOf(data.status), data.id) }, removal];
    },
    tally: ({ status }) => [[petListOf(status), -1]],
  },
};

function recordOf(recorded: RecordedData<Pet>): ProjectionRecord {
  const { data, position } = recorded.event;
  const key = petKey(petListOf(data.status), data.id);
  return { key, content: petContentOf(position, petTextOf(recorded)) };
}

const PET_KINDS: Record<string, KindDefinition> = {
  pet: {
    key: [PET_LISTS, "number"],
    owner: ([, , id]) => `pet ${id}`,
    describe: ([, list, id]) => `Pet ${id} in the list ${list}`,
  },
  removed_pet: {
    key: ["number"],
    owner: ([, id]) => `pet ${id}`,
    describe: ([, id]) => `The removal of pet ${id}`,
  },
};

export const PETS: Collection<PetEventBody> = {
  name: PETS_COLLECTION,
  isId: (text) => /^[1-9]\d{0,14}$/.test(text),
  exampleId: "7",
  events: PET_EVENTS,
  personal: PERSONAL_DATA.pets,
  kinds: PET_KINDS,
  newHistory: () => new PetHistory(),
  faultOfHead: faultOfPetCounts,
  summaryOf: (counts) => ({ pets: petsIn(counts) }),
};
