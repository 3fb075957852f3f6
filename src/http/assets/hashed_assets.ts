import type { HttpResponse } from "../http_response.ts";
import { ERRORS, HttpError } from "../errors.ts";
import type { StaticAsset } from "./static_asset.ts";

const HASH_DIGITS = 16;
const HASHED_NAME = new RegExp(`^(.+)\\.([0-9a-f]{${HASH_DIGITS}})(\\.[a-z]+)$`);

/** `Cache-Control` of one year for content that never changes at its address (RFC 8246). */
export const IMMUTABLE = "public, max-age=31536000, immutable";

/**
 * A folder of assets whose addresses change with their content. `page.css` is at `<folder>/page.<hash>.css`;
 * `<folder>/page.css` gives 404.
 */
export class HashedAssets {
  #prefix: string;
  #assets: ReadonlyMap<string, StaticAsset>;

  constructor(folder: string, assets: ReadonlyMap<string, StaticAsset>) {
    this.#prefix = `${folder}/`;
    this.#assets = assets;
  }

  /** Inserts the hash into each address in the HTML that ends with `<folder>/<name>`. */
  async addHashes(html: string): Promise<string> {
    for (const name of this.#assets.keys()) {
      html = html.replaceAll(`${this.#prefix}${name}"`, `${await this.addressOf(name)}"`);
    }
    return html;
  }

  /** The address of an asset, `<folder>/<name>` with its hash. */
  async addressOf(name: string): Promise<string> {
    const asset = this.#assets.get(name);
    if (asset === undefined) throw new Error(`There is no asset ${name}`);
    return this.#prefix + name.replace(/\.[a-z]+$/, `.${await hashOf(asset)}$&`);
  }

  /**
   * Returns the handler of GET and HEAD for a path, or `undefined` if no asset has its name. A wrong hash
   * gives 404.
   */
  find(path: string): ((requestHeaders: Headers) => Promise<HttpResponse>) | undefined {
    if (!path.startsWith(this.#prefix, 1)) return undefined;
    const name = path.slice(1 + this.#prefix.length);
    const [, stem, hash, extension] = HASHED_NAME.exec(name) ?? [];
    const asset = this.#assets.get(`${stem}${extension}`);
    return asset && (async (requestHeaders) => {
      if (await hashOf(asset) === hash) return asset.respond(requestHeaders);
      throw new HttpError("not_found", ERRORS.not_found.when);
    });
  }
}

/** The first digits of the SHA-256 of the content. */
async function hashOf(asset: StaticAsset): Promise<string> {
  const quoted = await asset.identityTag();
  return quoted.slice(1, 1 + HASH_DIGITS);
}
