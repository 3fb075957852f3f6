import { assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, hash, sign } from "node:crypto";
import { HASH_BYTES, isConsistent, leafHash } from "../../../scripts/publish/merkle_tree.ts";
import { RefusedError } from "../../../scripts/cli/refused_error.ts";
import {
  decodeVerifierKey,
  encodeVerifierKey,
  openCheckpoint,
  signCheckpoint,
} from "../../../scripts/publish/signed_note.ts";
import { TileBuilder, tilePath, TileTree } from "../../../scripts/publish/tile_tree.ts";
import { requestCosignature } from "../../../scripts/publish/witness.ts";
import { permitted } from "../../support/permitted.ts";

const SIGNER = {
  name: "log.shop.example/pets",
  privateKey: generateKeyPairSync("ed25519").privateKey,
};
const LOG_KEY = decodeVerifierKey(encodeVerifierKey(SIGNER));

/** The tree of that many lines. */
function treeOf(size: number): TileTree {
  const files = new Map<string, Uint8Array>();
  const builder = new TileBuilder(({ level, index, hashes }) =>
    files.set(tilePath(level, index), hashes)
  );
  while (builder.size < size) builder.push(leafHash(Uint8Array.of(builder.size % 256)));
  for (const { level, index, hashes } of builder.partialTiles()) {
    files.set(tilePath(level, index, hashes.length / HASH_BYTES), hashes);
  }
  return new TileTree((path) => files.get(path), size);
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
  latest = { size: 0, root: treeOf(0).root() };
  /** The old sizes in the requests, each with the status of the response. */
  readonly requests: [oldSize: number, status: number][] = [];
  /** Changes the bytes of a cosignature. */
  change = (bytes: Uint8Array) => bytes;
  #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => this.#respond(await request.text()),
  );

  /** Asks it to cosign the tree of that many lines, and resolves to the names in the signatures. */
  async ask(size: number, previousSize: number, keys = [this.identity.key]) {
    const tree = treeOf(size);
    const checkpoint = signCheckpoint({ size, root: tree.root() }, SIGNER);
    const address = `http://127.0.0.1:${this.#server.addr.port}/`;
    const { note } = await requestCosignature(address, keys, checkpoint, tree, previousSize);
    assertEquals(openCheckpoint(note, LOG_KEY, "It").size, size);
    return note.split("\n\n")[1].trim().split("\n").map((line) => line.split(" ")[1]);
  }

  #respond(body: string): Response {
    const end = body.indexOf("\n\n");
    const [first, ...proof] = body.slice(0, end).split("\n");
    const oldSize = Number(/^old (\d+)$/.exec(first)?.[1]);
    const checkpoint = openCheckpoint(body.slice(end + 2), LOG_KEY, "It");
    const status = oldSize !== this.latest.size
      ? 409
      : isConsistent(this.latest, checkpoint, proof.map((line) => Uint8Array.fromBase64(line)))
      ? 200
      : 422;
    this.requests.push([oldSize, status]);
    if (status === 409) return new Response(`${this.latest.size}\n`, { status });
    if (status === 422) return new Response(null, { status });
    this.latest = checkpoint;
    const { name, cosign } = this.identity;
    const cosignature = cosign(checkpoint.note.slice(0, checkpoint.note.indexOf("\n\n") + 1));
    const line = `— ${name} ${Buffer.from(this.change(cosignature)).toString("base64")}`;
    return new Response(`${line}\n— unknown.example AAAAAAAA\n— ${SIGNER.name} AAAAAAAA\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const ignore = !permitted("net");
const NAMES = [SIGNER.name, "witness.example/w1"];

Deno.test({
  name: "requestCosignature() adds the cosignature, whatever the witness has seen before",
  ignore,
  async fn() {
    await using witness = new Witness();
    for (const [size, previousSize] of [[100, 90], [256, 100], [256, 256], [300, 256]]) {
      assertEquals(await witness.ask(size, previousSize), NAMES);
    }
    assertEquals(await witness.ask(300, 0, []), NAMES);
    const unexpected = [[90, 409], [0, 200]];
    const expected = [[100, 200], [256, 200], [256, 200]];
    assertEquals(witness.requests, [...unexpected, ...expected, [0, 409], [300, 200]]);
  },
});

Deno.test({
  name: "requestCosignature() refuses a cosignature that cannot be used, and another history",
  ignore,
  async fn() {
    await using witness = new Witness();
    const refused = (message: string, keys = [witness.identity.key]) =>
      assertRejects(
        () => witness.ask(300, Math.min(300, witness.latest.size), keys),
        RefusedError,
        message,
      );
    await refused("gives no cosignature that can be used", [witnessKey("witness.example/w1").key]);
    for (
      const change of [
        (it: Uint8Array) => it.slice(1),
        (it: Uint8Array) => Uint8Array.of(...it, 0),
        (it: Uint8Array) => it.with(-1, it.at(-1)! ^ 1),
      ]
    ) {
      witness.change = change;
      await refused("gives no cosignature that can be used");
    }
    witness.latest = { size: 300, root: new Uint8Array(HASH_BYTES) };
    await refused("with status 422 (the log does not extend what it has cosigned)");
    witness.latest = { size: 1_000, root: new Uint8Array(HASH_BYTES) };
    await refused("has cosigned 1000 events, but the log has 300");
  },
});
