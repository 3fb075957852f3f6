/** Asks a witness to cosign a checkpoint (https://c2sp.org/tlog-witness). */

import { counted } from "../cli/format.ts";
import { RefusedError } from "../cli/refused_error.ts";
import {
  cosignaturesIn,
  type SignedCheckpoint,
  type VerifierKey,
} from "../published/signed_note.ts";
import type { TileTree } from "../published/tile_tree.ts";

/** Of a status, according to the specification. */
const MEANINGS: Record<number, string> = {
  403: "it does not know the key",
  404: "it does not know the origin",
  409: "it has cosigned another history",
  422: "the log does not extend what it has cosigned",
};

const TIME_LIMIT_MS = 30_000;

/** An answer is some signature lines. */
const ANSWER_LIMIT_BYTES = 16 * 1024;

/**
 * Resolves to the checkpoint with valid cosignatures of a witness by one of `keys`, or with all if there are no keys.
 * The witness has probably seen `previousSize`. Rejects with `RefusedError` if it refuses.
 */
export async function requestCosignature(
  url: string,
  keys: readonly VerifierKey[],
  checkpoint: SignedCheckpoint,
  tree: TileTree,
  previousSize: number,
): Promise<SignedCheckpoint> {
  const ask = (oldSize: number) => {
    const proof = tree.consistencyProof(oldSize).map((hash) => `${hash.toBase64()}\n`);
    return post(url, `old ${oldSize}\n${proof.join("")}\n${checkpoint.note}`);
  };
  let answer = await ask(previousSize);
  if (answer.status === 409 && /^\d{1,15}\n$/.test(answer.text)) {
    // Only the witness knows which checkpoint it has cosigned last.
    const oldSize = Number(answer.text);
    if (oldSize > checkpoint.size) {
      const sizes = `${counted(oldSize, "event")}, but the log has ${checkpoint.size}`;
      throw new RefusedError(`The witness ${url} has cosigned ${sizes}`);
    }
    answer = await ask(oldSize);
  }
  const { status, text } = answer;
  if (status !== 200) {
    const reason = `status ${status} (${MEANINGS[status] ?? "see its operator"})`;
    throw new RefusedError(`The witness ${url} refuses the checkpoint with ${reason}`);
  }
  const lines = cosignaturesIn(text, keys, checkpoint.note);
  if (lines.length === 0) {
    throw new RefusedError(`The witness ${url} gives no cosignature that can be used`);
  }
  return { ...checkpoint, note: `${checkpoint.note}${lines.join("\n")}\n` };
}

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  const address = `${url.replace(/\/+$/, "")}/add-checkpoint`;
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const response = await fetch(address, { method: "POST", body, redirect: "error", signal });
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.length > ANSWER_LIMIT_BYTES) throw new Error("its answer is too long");
    }
    return { status: response.status, text };
  } catch (cause) {
    throw new Error(`The witness ${url} cannot be asked`, { cause });
  }
}
