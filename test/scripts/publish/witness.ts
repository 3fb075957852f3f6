import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { openCheckpoint, type SignedCheckpoint } from "../../../scripts/publish/checkpoint.ts";
import { isConsistent } from "../../../scripts/publish/merkle_tree.ts";
import type { VerifierKey } from "../../../scripts/publish/signed_note.ts";

const COSIGNATURE_TYPE = 4;

/** A witness's key: its vkey, and what makes its signature lines (https://c2sp.org/tlog-cosignature). */
export function witnessKey(
  name: string,
  privateKey: KeyObject = generateKeyPairSync("ed25519").privateKey,
) {
  const jwk = createPublicKey(privateKey).export({ format: "jwk" });
  const material = Buffer.concat([
    Buffer.from([COSIGNATURE_TYPE]),
    Buffer.from(jwk.x!, "base64url"),
  ]);
  const content = Buffer.concat([Buffer.from(`${name}\n`), material]);
  const id = Buffer.from(hash("sha256", content, "hex").slice(0, 8), "hex");
  return {
    vkey: `${name}+${id.toString("hex")}+${material.toString("base64")}`,
    cosign(text: string, time: number): string {
      const timestamp = Buffer.alloc(8);
      timestamp.writeBigUInt64BE(BigInt(time));
      const message = `cosignature/v1\ntime ${time}\n${text}`;
      const signature = sign(null, Buffer.from(message), privateKey);
      return `— ${name} ${Buffer.concat([id, timestamp, signature]).toString("base64")}`;
    },
  };
}

/** A witness as its specification describes it (https://c2sp.org/tlog-witness), for one log. */
export class Witness implements AsyncDisposable {
  readonly key = witnessKey("witness.example/w1");
  readonly address: string;
  /** Requests that it has got, each with the old size and the status. */
  readonly requests: [oldSize: number, status: number][] = [];
  /** The last checkpoint that it has cosigned. */
  latest: SignedCheckpoint | undefined;
  /** The key of the log. */
  log: VerifierKey | undefined;
  #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(options, async (request) => {
      const body = await request.text();
      const oldSize = Number(/^old (\d+)\n/.exec(body)?.[1]);
      const response = this.#respond(oldSize, body);
      this.requests.push([oldSize, response.status]);
      return response;
    });
    this.address = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  #respond(oldSize: number, body: string): Response {
    const end = body.indexOf("\n\n");
    const proof = body.slice(0, end).split("\n").slice(1)
      .map((line) => Uint8Array.fromBase64(line));
    if (this.log === undefined) return new Response(null, { status: 404 });
    const checkpoint = openCheckpoint(body.slice(end + 2), this.log);
    const { latest } = this;
    if (oldSize !== (latest?.size ?? 0)) {
      return new Response(`${latest?.size ?? 0}\n`, { status: 409 });
    }
    if (latest !== undefined && !isConsistent(latest, checkpoint, proof)) {
      return new Response(null, { status: 422 });
    }
    if (latest === undefined && proof.length > 0) return new Response(null, { status: 422 });
    this.latest = checkpoint;
    const text = checkpoint.note.slice(0, checkpoint.note.indexOf("\n\n") + 1);
    const line = this.key.cosign(text, 1_700_000_000);
    return new Response(`${line}\n— unknown.example AAAAAAAA\n— ${checkpoint.origin} AAAAAAAA\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
