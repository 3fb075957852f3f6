import type { Head, Runtime } from "eventstore-less";
import type { HeadReader } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { apiKeyPositionOf } from "./api_key_position.ts";
import { listApiKeys } from "./api_key_reader.ts";

interface NextApiKeyExpiryDeps {
  heads: HeadReader;
  runtime: Runtime;
  store: Store;
}

/** When a key expires, in milliseconds since the Unix epoch. */
interface ApiKeyExpiry {
  id: string;
  expiresAt: number;
}

/** Finds when the next key expires whose holder has no successor. Reads the keys again only after an event of a key. */
export class NextApiKeyExpiry {
  readonly #deps: NextApiKeyExpiryDeps;
  /** The earliest expiry first. */
  #expiries: ApiKeyExpiry[] = [];
  #apiKeyPosition = 0;

  constructor(deps: NextApiKeyExpiryDeps) {
    this.#deps = deps;
  }

  /** Resolves to the next expiry; to `undefined` if no live key expires, or if the keys cannot be read. */
  async read(): Promise<ApiKeyExpiry | undefined> {
    const { heads, runtime } = this.#deps;
    try {
      await heads.use(({ head }) => this.#refresh(head));
    } catch {
      // A gauge without a value is enough: requests and the audit report the failure.
      return undefined;
    }
    return this.#expiries.find(({ expiresAt }) => expiresAt > runtime.now());
  }

  async #refresh(head: Head): Promise<void> {
    const apiKeyPosition = apiKeyPositionOf(head);
    if (apiKeyPosition === this.#apiKeyPosition) return;
    const apiKeys = await listApiKeys(this.#deps.store, head);
    // A key with a revocation was revoked, or rotated: then its successor is what counts.
    const lasting = apiKeys.filter(({ revokedAt }) => revokedAt === undefined);
    const expiries = lasting.flatMap(({ id, expiresAt }) =>
      expiresAt === undefined ? [] : [{ id, expiresAt }]
    );
    this.#expiries = expiries.sort((one, other) => one.expiresAt - other.expiresAt);
    this.#apiKeyPosition = apiKeyPosition;
  }
}
