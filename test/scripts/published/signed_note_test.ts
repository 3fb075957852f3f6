import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { createPrivateKey } from "node:crypto";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import {
  decodeVerifierKey,
  encodeVerifierKey,
  isSignedBy,
  openCheckpoint,
  signCheckpoint,
  signNote,
} from "../../../src/eventstore_less/tools/published/signed_note.ts";

/** A note, its key and its signature from the documentation of golang.org/x/mod/sumdb/note. */
const VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const TEXT = "If you think cryptography is the answer to your problem,\n" +
  "then you don't know what your problem is.\n";
const SIGNATURE =
  "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";
const SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

/** The key pair of test 1 in RFC 8032. */
const signer = {
  name: "log.shop.example/pets",
  privateKey: createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${SEED}`, "hex"),
    format: "der",
    type: "pkcs8",
  }),
};

Deno.test("isSignedBy() accepts the example of Go's note package, and no altered one", () => {
  const key = decodeVerifierKey(VKEY);
  const cases: [expected: boolean | undefined, line: string, text?: string][] = [
    [true, SIGNATURE],
    [false, SIGNATURE, TEXT.replace("your", "our")],
    [false, SIGNATURE.replace("ZJkuBS9", "ZJkuBS8")],
    [undefined, SIGNATURE.replace("x08g", "AAAA")],
    [undefined, SIGNATURE.replace("Peter", "P ")],
    [undefined, "— other AAAAAAAA"],
    [undefined, ""],
  ];
  for (const [expected, line, text = TEXT] of cases) {
    assertEquals(isSignedBy(key, line, text), expected, line);
  }
});

Deno.test("a vkey is encoded as decoded, and a malformed one is refused", () => {
  const vkey = encodeVerifierKey(signer);
  assertEquals(
    vkey,
    "log.shop.example/pets+" + vkey.split("+")[1] + "+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea",
  );
  assertEquals(decodeVerifierKey(`${vkey}\n`).name, signer.name);
  for (
    const bad of [
      "",
      "name",
      VKEY.slice(0, -1),
      VKEY.replace("Peter", "Paul"),
      VKEY.replace("c74f20a3", "c74f20a4"),
      VKEY.replace("+AR", "+CR"),
      VKEY.replace("PeterNeumann", "Peter Neumann"),
    ]
  ) {
    assertThrows(() => decodeVerifierKey(bad), Error, "is not the vkey of an Ed25519 key");
  }
});

Deno.test("a checkpoint is opened as signed, and only by the key of its origin", () => {
  const head = { size: 7, root: new Uint8Array(32).fill(9) };
  const vkey = encodeVerifierKey(signer);
  const checkpoint = signCheckpoint(head, signer);
  assertEquals(openCheckpoint(checkpoint.note, vkey, "It"), checkpoint);
  const cosigned = `${checkpoint.note}— witness.example ${btoa("\0".repeat(76))}\n`;
  assertEquals(openCheckpoint(cosigned, vkey, "It"), { ...checkpoint, note: cosigned });
  const signed = (text: string) => signNote(text, signer);
  const root = head.root.toBase64();
  const other = "It is not one of the log log.shop.example/pets";
  for (
    const [note, message] of [
      [signed(`elsewhere.example\n7\n${root}\n`), other],
      [signed(`${signer.name}\n07\n${root}\n`), other],
      [signed(`${signer.name}\n7\nCQkJ\n`), other],
      [signed(`${signer.name}\n7\n`), other],
      [
        checkpoint.note.replace("7", "8"),
        "It has a signature by log.shop.example/pets that is not",
      ],
      [checkpoint.note.replace("— log", "— blog"), "It is not signed by the key log.shop.example"],
      [checkpoint.note.split("\n—")[0], "It is not signed by the key log.shop.example/pets+"],
      ["", "It is not signed by the key log.shop.example/pets+"],
    ]
  ) assertThrows(() => openCheckpoint(note, vkey, "It"), RefusedError, message);
});
