import { publishLog } from "../../support/tools.ts";
import { generateKeyPairSync } from "node:crypto";
import { type PublishDeps } from "../../../src/eventstore_less/tools/publish_log.ts";
import { WritableFolder } from "../../../src/eventstore_less/tools/published/published_folder.ts";

const encoder = new TextEncoder();

/** Signs the log by default. */
export const signer = {
  name: "log.shop.example/pets",
  privateKey: generateKeyPairSync("ed25519").privateKey,
};

/** Publishes a log of these lines. */
export async function publish(
  dir: string,
  lines: string[],
  options: Partial<PublishDeps> = {},
): Promise<void> {
  const readLines = async function* (from: number) {
    for (let start = from - 1; start < lines.length; start += 100) {
      yield await Promise.resolve(lines.slice(start, start + 100).map((it) => encoder.encode(it)));
    }
  };
  using folder = new WritableFolder(dir);
  await publishLog({ folder, readLines, signer, entries: false, ...options });
}
