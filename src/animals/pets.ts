/** All that the engine must know of animals: their events, the records that these make, and the numbers of the head. */

import {
  categoryIdIn,
  encodePet,
  fieldsByCheck,
  Pet,
  PET_CHECK,
  PET_RELEASES,
  releasesOf,
  statusIn,
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

/** Keeps a byte order mark, which would be a difference. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

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

const LEAVES_PET = { kinds: ["pet", "pet_by_category"], content: contentOf };

const PET_EVENTS: EventDefinitions<PetEventBody> = {
  PetCreated: {
    ...OF_PET,
    isFirst: true,
    project(recorded) {
      const content = contentOf(recorded);
      return petKeysOf(recorded.event.data).map((key) => ({ key, content }));
    },
    leaves: LEAVES_PET,
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
      const content = contentOf(recorded);
      const removed = petKeysOf(data, data.previous).map((key): ProjectionRecord => ({ key }));
      // The pet may stay in its lists, so the records that are removed come before those that are written.
      return [...removed, ...petKeysOf(data).map((key) => ({ key, content }))];
    },
    leaves: LEAVES_PET,
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
      return [removal, ...petKeysOf(data).map((key) => ({ key }))];
    },
    leaves: {
      kinds: ["removed_pet"],
      content: ({ event: { position } }) => removalContentOf(position),
    },
    tally: ({ status }) => [[petListOf(status), -1]],
  },
};

function contentOf(recorded: RecordedData<Pet>): Uint8Array {
  return petContentOf(recorded.event.position, petTextOf(recorded));
}

const PET_KINDS: Record<string, KindDefinition> = {
  pet: {
    key: [PET_LISTS, "number"],
    owner: ([, , id]) => `pet ${id}`,
    describe: ([, list, id]) => `Pet ${id} in the list ${list}`,
    isAt: ([, list], content) => isInList(list, petTextIn(content)),
  },
  pet_by_category: {
    key: ["text", PET_LISTS, "number"],
    owner: ([, , , id]) => `pet ${id}`,
    describe: ([, category, list, id]) => `Pet ${id} in the list ${list} of category ${category}`,
    isAt([, category, list], content) {
      const petText = petTextIn(content);
      return isInList(list, petText) && category === categoryIdIn(petText);
    },
  },
  removed_pet: {
    key: ["number"],
    owner: ([, id]) => `pet ${id}`,
    describe: ([, id]) => `The removal of pet ${id}`,
    isAt: (_key, content) => petTextIn(content) === "",
  },
};

/** The text of the pet in a content, after its position; empty if that is the content of a removal. */
function petTextIn(content: Uint8Array): string {
  const text = decoder.decode(content);
  const start = text.indexOf("{");
  return start === -1 ? "" : text.slice(start);
}

function isInList(list: string | number, petText: string): boolean {
  return petText !== "" && list === petListOf(statusIn(petText));
}

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
