/**
 * The receivers of the guide verify what the service's own sender and signing send, with the packages that others wrote. If
 * these cannot be installed, the test is ignored with one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { guides } from "../../src/http/docs/guides.ts";
import { signatureHeaders } from "../../src/webhooks/sending/webhook_signature.ts";
import { freePort } from "../support/free_port.ts";
import { readLines } from "../support/service_process.ts";
import { type Need, testNeeding } from "../support/test_needing.ts";
import { expectDone, install } from "../support/third_party_tools.ts";
import { until } from "../support/until.ts";
import { sendOnce } from "../webhooks/sending/send_once.ts";
import {
  GO_BIN,
  HERE,
  installNodePackages,
  installPythonTools,
  NODE_FOLDER,
  PYTHON_BIN,
} from "./contract_tools.ts";

const GO_MODULE = `${HERE}/clients/go_receiver`;
const GO_FOLDER = `${GO_BIN}/receiver`;

const MINUTE_MS = 60_000;

/** 32 bytes each, as those of the service. */
const SECRET = `whsec_${btoa("a".repeat(32))}`;
const NEW_SECRET = `whsec_${btoa("b".repeat(32))}`;
const FOREIGN_SECRET = `whsec_${btoa("c".repeat(32))}`;

const ID = "0000000000000017-93d8a1b2c3d4e5f6";
const BODY = JSON.stringify({ id: ID, type: "PetCreated", data: { id: 1, name: "Rëx 🐶" } });

/** How a program of the guide runs, in a folder. */
interface Running {
  cwd: string;
  command: string[];
}

/** A language: the mark of its program in the guide, and what writes this program to a file. */
type Receiver = [mark: string, need: Need, write: (program: string) => Promise<Running>];

/** The packages of the folder are those that npm has installed. */
const DENO_RUN = ["run", "--check", "--no-lock", "--node-modules-dir=manual", "--allow-all"];

const RECEIVERS: Receiver[] = [
  ["typescript", await install("packages from npm", installNodePackages), async (program) => {
    await Deno.writeTextFile(`${NODE_FOLDER}/receiver.ts`, program);
    return { cwd: NODE_FOLDER, command: [Deno.execPath(), ...DENO_RUN, "receiver.ts"] };
  }],
  ["python", await install("tools from PyPI", installPythonTools), async (program) => {
    await Deno.writeTextFile(`${PYTHON_BIN}/receiver.py`, program);
    return { cwd: PYTHON_BIN, command: [`${PYTHON_BIN}/python`, "receiver.py"] };
  }],
  ["go", await install("a module from Go's proxy", downloadGoModule), async (program) => {
    await Deno.mkdir(GO_FOLDER, { recursive: true });
    for (const file of ["go.mod", "go.sum"]) {
      await Deno.copyFile(`${GO_MODULE}/${file}`, `${GO_FOLDER}/${file}`);
    }
    await Deno.writeTextFile(`${GO_FOLDER}/main.go`, program);
    await expectDone("go", ["build", "-o", "receiver", "."], { cwd: GO_FOLDER });
    return { cwd: GO_FOLDER, command: [`${GO_FOLDER}/receiver`] };
  }],
];

function downloadGoModule(): Promise<string> {
  return expectDone("go", ["mod", "download"], { cwd: GO_MODULE });
}

function programOf(mark: string): string {
  const { description } = guides("").find(({ name }) => name === "Receive webhooks")!;
  return new RegExp(`\`\`\`${mark}\n([^]+?)\`\`\``).exec(description)![1];
}

/** Headers that were signed some time ago. */
function signed(secrets: string[], agoMs = 0): Record<string, string> {
  return signatureHeaders({ id: ID, time: Date.now() - agoMs, body: BODY }, secrets);
}

/** Deliveries, and the status of each. Those with 204 are printed. */
function deliveries(): [what: string, headers: Record<string, string>, body: string, number][] {
  const own = signed([SECRET]);
  return [
    ["genuine", own, BODY, 204],
    ["four minutes old", signed([SECRET], 4 * MINUTE_MS), BODY, 204],
    ["of a rotation", signed([NEW_SECRET, SECRET]), BODY, 204],
    ["altered", own, BODY.replace("Rëx", "Max"), 400],
    ["altered in its id", { ...own, "webhook-id": ID.replace("17", "18") }, BODY, 400],
    ["six minutes old", signed([SECRET], 6 * MINUTE_MS), BODY, 400],
    ["six minutes early", signed([SECRET], -6 * MINUTE_MS), BODY, 400],
    ["foreign", signed([FOREIGN_SECRET]), BODY, 400],
    ["not signed", {}, BODY, 400],
    ["signed oddly", { ...own, "webhook-signature": "v1,%%% v1 ,," }, BODY, 400],
    ["genuine again", own, BODY, 204],
  ];
}

for (const [mark, need, write] of RECEIVERS) {
  testNeeding(need)(
    `the receiver in ${mark} verifies a delivery, and refuses an altered, an old and a foreign one`,
    async () => {
      const { cwd, command: [program, ...args] } = await write(programOf(mark));
      const port = freePort();
      const env = { PORT: `${port}`, WEBHOOK_SECRET: SECRET };
      const options = { args, cwd, env, stdout: "piped", stderr: "null" } as const;
      const process = new Deno.Command(program, options).spawn();
      const lines: string[] = [];
      const reading = readLines(process.stdout, (line) => lines.push(line));
      const request = { url: `http://127.0.0.1:${port}/`, allow: "127.0.0.1" };
      try {
        await until(async () => (await sendOnce(request)).status !== undefined);
        for (const [what, headers, body, expected] of deliveries()) {
          const { status } = await sendOnce({ ...request, headers, body });
          assertEquals(status, expected, what);
        }
      } finally {
        process.kill("SIGKILL");
        await process.status;
        await reading;
      }
      assertEquals(lines, Array(4).fill(`${ID} PetCreated`));
    },
  );
}
