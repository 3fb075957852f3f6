import { issueApiKey } from "../../src/keys/write_api_key.ts";
import type { Service } from "../../src/service.ts";
import { useRealStore } from "./real_store.ts";

/** A temporary store file that several processes can share. */
export class TempStore implements AsyncDisposable {
  readonly kvPath: string;
  /** The folder of the store's files; it holds nothing else. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.kvPath = `${folder}/pets.sqlite3`;
  }

  /** Creates the folder in `parent`, by default in the system's temporary folder. */
  static async make(parent?: string): Promise<TempStore> {
    return new TempStore(await Deno.makeTempDir(parent === undefined ? {} : { dir: parent }));
  }

  /** Opens the store next to the processes that use it, as a tool does. */
  use<T>(work: (service: Service) => Promise<T>): Promise<T> {
    return useRealStore(this.kvPath, work);
  }

  async issueApiKey(): Promise<string> {
    return (await this.use((service) => issueApiKey(service, { label: "test" }))).token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
