import { assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, hash, sign } from "node:crypto";
import { HASH_BYTES, isConsistent, type TreeHead } from "../../../scripts/published/merkle_tree.ts";
import type { PublishOptions } from "../../../scripts/publish/publish_log.ts";
import { RefusedError } from "../../../scripts/cli/refused_error.ts";
import {
  decodeVerifierKey,
  encodeVerifierKey,
  openCheckpoint,
  partsOf,
} from "../../../scripts/published/signed_note.ts";
import { sampleLog } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { publish as publishLines, signer } from "./publish_lines.ts";
import { filesIn } from "./with_published.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

const LINES = sampleLog(300);
const LOG_KEY = encodeVerifierKey(signer);

/** Publishes the first lines of the log, and resolves to the names in the signatures of the checkpoint. */
async function publish(dir: string, size: number, options: Partial<PublishOptions> = {}) {
  await publishLines(dir, LINES.slice(0, size), options);
  const note = await Deno.readTextFile(`${dir}/checkpoint`);
  assertEquals(openCheckpoint(note, LOG_KEY, "It").size, size);
  return partsOf(note)[1].map((line) => line.split(" ")[1]);
}

/** A witness's key: its vkey, and what makes its signature lines (https://c2sp.org/tlog-cosignature). */
function witnessKey(name: string) {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  const material = Buffer.concat([Uint8Array.of(4), Buffer.from(x!, "base64url")]);
  const id = hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), material]), "hex").slice(0, 8);
  return {
    name,
    key: decodeVerifierKey(`${name}+${id}+${material.toString("base64")}`),
    /** The cosignature with the id of its key. */
    cosign(text: string): Buffer {
      const time = Buffer.from("000000006553f100", "hex");
      const message = `cosignature/v1\ntime ${time.readBigUInt64BE()}\n${text}`;
      return Buffer.concat([
        Buffer.from(id, "hex"),
        time,
        sign(null, Buffer.from(message), privateKey),
      ]);
    },
  };
}

/** A witness as its specification describes it (https://c2sp.org/tlog-witness), for one log. */
class Witness implements AsyncDisposable {
  readonly identity = witnessKey("witness.example/w1");
  /** The head that it has cosigned last. */
  latest: TreeHead | undefined;
  /** The old sizes in the requests, each with the status of the response. */
  readonly requests: [oldSize: number, status: number][] = [];
  /** Changes the bytes of a cosignature. */
  change = (bytes: Uint8Array): Uint8Array => bytes;
  #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => this.#respond(await request.text()),
  );

  get address(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  #respond(body: string): Response {
    const end = body.indexOf("\n\n");
    const [first, ...proof] = body.slice(0, end).split("\n");
    const oldSize = Number(/^old (\d+)$/.exec(first)?.[1]);
    const checkpoint = openCheckpoint(body.slice(end + 2), LOG_KEY, "It");
    const { latest } = this;
    const hashes = proof.map((line) => Uint8Array.fromBase64(line));
    const isExtended = latest === undefined
      ? hashes.length === 0
      : isConsistent(latest, checkpoint, hashes);
    const size = latest?.size ?? 0;
    const status = oldSize !== size ? 409 : isExtended ? 200 : 422;
    this.requests.push([oldSize, status]);
    if (status !== 200) return new Response(`${size}\n`, { status });
    this.latest = checkpoint;
    const { name, cosign } = this.identity;
    const cosignature = this.change(cosign(partsOf(checkpoint.note)[0]));
    const line = `— ${name} ${Buffer.from(cosignature).toString("base64")}`;
    return new Response(`${line}\n— unknown.example AAAAAAAA\n— ${signer.name} AAAAAAAA\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const test = testNeeding(permissions("net", "read", "write"));

test("publishLog() keeps the cosignature of a witness, whatever that has seen before", async () => {
  await using temp = await TempStore.make();
  await using witness = new Witness();
  const { address, identity: { key, name } } = witness;
  const witnesses = [address];
  assertEquals(await publish(temp.folder, 90), [signer.name]);
  for (const size of [100, 256, 256, 300]) {
    const options = { witnesses, witnessKeys: [key] };
    assertEquals(await publish(temp.folder, size, options), [signer.name, name]);
  }
  assertEquals(await publish(temp.folder, 300, { witnesses }), [signer.name, name]);
  // It had not seen the first checkpoint, and says so.
  const known = [100, 256, 256, 300].map((oldSize): [number, number] => [oldSize, 200]);
  assertEquals(witness.requests, [[90, 409], [0, 200], ...known]);
});

test("publishLog() publishes nothing without a cosignature that can be used", async () => {
  await using temp = await TempStore.make();
  await using witness = new Witness();
  const { address, identity: { key } } = witness;
  const witnesses = [address];
  await publish(temp.folder, 100, { witnesses, witnessKeys: [key] });
  const before = await filesIn(temp.folder);
  const { latest } = witness;
  const refused = async (message: string, witnessKeys = [key]) => {
    const publishing = () => publish(temp.folder, 300, { witnesses, witnessKeys });
    await assertRejects(publishing, RefusedError, message);
    assertEquals(await filesIn(temp.folder), before);
    witness.latest = latest;
  };
  const unusable = "gives no cosignature that can be used";
  await refused(unusable, [witnessKey("witness.example/w1").key]);
  const changes: Witness["change"][] = [
    (it) => it.slice(1),
    (it) => Uint8Array.of(...it, 0),
    (it) => it.with(-1, it.at(-1)! ^ 1),
  ];
  for (const change of changes) {
    witness.change = change;
    await refused(unusable);
  }
  witness.latest = { size: 100, root: new Uint8Array(HASH_BYTES) };
  await refused("with status 422 (the log does not extend what it has cosigned)");
  witness.latest = { size: 1_000, root: new Uint8Array(HASH_BYTES) };
  await refused("has cosigned 1,000 events, but the log has 300");
});
