/** All that the engine must know of API keys: their events, and the records that these make. */

import {
  type Collection,
  encodeJson,
  type EventDefinitions,
  type KindDefinition,
} from "eventstore-less";
import { Ulid } from "eventstore-less/encoding";
import { type ApiKeyEventBody, ApiKeyIssuedData, ApiKeyRevokedData } from "../../events/api_key.ts";
import { revocationOf } from "./api_key.ts";
import { ApiKeyHistory } from "./api_key_history.ts";
import { issuedRecordKey, stateRecordKey } from "./record_keys.ts";

const API_KEY_EVENTS: EventDefinitions<ApiKeyEventBody> = {
  ApiKeyIssued: {
    data: ApiKeyIssuedData,
    release: "1",
    added: { 2: ({ readOnly }) => readOnly !== undefined },
    id: ({ keyId }) => keyId,
    isFirst: true,
    project({ event: { data: { tokenHash, ...terms }, position, time } }) {
      const issued = encodeJson({ position, issuedAt: time, ...terms });
      const state = encodeJson({ position });
      return [
        { key: issuedRecordKey(tokenHash), content: issued },
        { key: stateRecordKey(tokenHash), content: state },
      ];
    },
  },
  ApiKeyRevoked: {
    data: ApiKeyRevokedData,
    release: "1",
    id: ({ keyId }) => keyId,
    isFirst: false,
    project({ event }) {
      const content = encodeJson({ position: event.position, ...revocationOf(event) });
      return [{ key: stateRecordKey(event.data.tokenHash), content }];
    },
  },
};

const OF_API_KEY: KindDefinition = { key: ["text"], owner: () => "an API key" };

export const API_KEYS: Collection<ApiKeyEventBody> = {
  name: "keys",
  isId: (text) => Ulid.safeParse(text).success,
  exampleId: "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  events: API_KEY_EVENTS,
  personal: ["label"] satisfies (keyof ApiKeyIssuedData)[],
  kinds: { issued_key: OF_API_KEY, key_state: OF_API_KEY },
  newHistory: () => new ApiKeyHistory(),
};
