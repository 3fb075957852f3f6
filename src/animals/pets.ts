/** All that the engine must know of animals: their events, the records that these make, and the numbers of the head. */

import {
  encodePet,
  fieldsByCheck,
  Pet,
  PET_CHECK,
  PET_RELEASES,
  releasesOf,
} from "../../events/pet.ts";
import {
  checkPetUpdated,
  encodePetUpdated,
  type PetEventBody,
  PetUpdatedData,
  releasesOfChange,
} from "../../events/pet_event.ts";
import type {
  Collection,
  EventDefinition,
  EventDefinitions,
  KindDefinition,
  ProjectionRecord,
  RecordedData,
} from "eventstore-less/definitions.ts";
import { petContentOf, petTextOf, removalContentOf } from "./pet_content.ts";
import { faultOfPetCounts, petCount } from "./pet_counts.ts";
import { PetHistory } from "./pet_history.ts";
import { PET_LISTS, petKeysOf, petListOf, PETS_COLLECTION, removedPetKey } from "./pet_keys.ts";

const NOTHING = new Uint8Array();

/** What the events have in common whose data is a pet. */
const OF_PET = {
  data: Pet,
  added: PET_RELEASES,
  versionsOf: releasesOf,
  encode: encodePet,
  check: (parsed) => fieldsByCheck(parsed, PET_CHECK) as Pet | undefined,
  id: ({ id }) => id,
  shown: ({ status }) => ({ status: [status] }),
} satisfies Partial<EventDefinition<Pet>>;

const PET_EVENTS: EventDefinitions<PetEventBody> = {
  PetCreated: {
    ...OF_PET,
    isFirst: true,
    project: recordsOf,
    tally: ({ status }) => [[petListOf(status), 1]],
  },
  PetUpdated: {
    data: PetUpdatedData,
    added: PET_RELEASES,
    versionsOf: releasesOfChange,
    encode: encodePetUpdated,
    check: checkPetUpdated,
    id: ({ id }) => id,
    isFirst: false,
    project(recorded) {
      const { data } = recorded.event;
      const [written, writtenByCategory] = recordsOf(recorded);
      const { status, categoryId } = data.previous;
      const staysInList = status === undefined;
      if (staysInList && categoryId === undefined) return [written];
      const [key, keyByCategory] = petKeysOf(data, data.previous);
      const removed = staysInList ? [{ key: keyByCategory }] : [{ key }, { key: keyByCategory }];
      return [...removed, written, writtenByCategory];
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
    /** The record of a removal tells a removed pet from one whose records are lost. Nothing deletes it. */
    project({ event: { data, position } }) {
      const removal = { key: removedPetKey(data.id), content: removalContentOf(position) };
      return [...petKeysOf(data).map((key) => ({ key })), removal];
    },
    tally: ({ status }) => [[petListOf(status), -1]],
  },
};

/** The record of a pet, and that of its category, which says by its key alone where the pet is. */
function recordsOf(recorded: RecordedData<Pet>): ProjectionRecord[] {
  const { data, position } = recorded.event;
  const [key, keyByCategory] = petKeysOf(data);
  return [
    { key, content: petContentOf(position, petTextOf(recorded)) },
    { key: keyByCategory, content: NOTHING },
  ];
}

const PET_KINDS: Record<string, KindDefinition> = {
  pet: {
    key: [PET_LISTS, "number"],
    owner: ([, , id]) => `pet ${id}`,
    describe: ([, list, id]) => `Pet ${id} in the list ${list}`,
    onePerSubject: true,
  },
  pet_by_category: {
    key: ["text", PET_LISTS, "number"],
    owner: ([, , , id]) => `pet ${id}`,
    describe: ([, category, list, id]) => `Pet ${id} in the list ${list} of category ${category}`,
    onePerSubject: true,
  },
  removed_pet: {
    key: ["number"],
    owner: ([, id]) => `pet ${id}`,
    describe: ([, id]) => `The removal of pet ${id}`,
    onePerSubject: true,
  },
};

export const PETS: Collection<PetEventBody> = {
  name: PETS_COLLECTION,
  isId: (text) => /^[1-9]\d{0,14}$/.test(text),
  exampleId: "7",
  events: PET_EVENTS,
  kinds: PET_KINDS,
  newHistory: () => new PetHistory(),
  faultOfHead: faultOfPetCounts,
  summaryOf: (head) => ({ pets: petCount(head) }),
};
