/** Runs samples of the reference as a reader would. */

import { assert } from "@std/assert";
import type { RequestHandler } from "../../../src/http/handler.ts";
import { permitted } from "../../support/permitted.ts";

/** The languages of the samples, each with the command that runs a file, and one that succeeds if it can. */
const COMMANDS = {
  curl: { file: "sample.sh", run: ["bash"], check: ["curl", "--version"] },
  JavaScript: {
    file: "sample.mjs",
    run: [Deno.execPath(), "run", "--allow-env", "--allow-net"],
    check: [Deno.execPath(), "--version"],
  },
  Python: { file: "sample.py", run: ["python3"], check: ["python3", "-c", "import requests"] },
  Go: { file: "sample.go", run: ["go", "run"], check: ["go", "version"] },
};

export type Language = keyof typeof COMMANDS;

export const LANGUAGES = Object.keys(COMMANDS) as Language[];

export function canRun(language: Language): boolean {
  const [program, ...args] = COMMANDS[language].check;
  try {
    return permitted("run", "read", "write") &&
      new Deno.Command(program, { args }).outputSync().success;
  } catch {
    return false;
  }
}

/** The same handler, but its streams end after some events. So a program that reads a stream ends. */
export function endingStreams(handler: RequestHandler): RequestHandler {
  return async (request, connection) => {
    const response = await handler(request, connection);
    if (response.headers.get("content-type") !== "text/event-stream") return response;
    const ending = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        if (new TextDecoder().decode(chunk).includes("\ndata: ")) controller.terminate();
      },
    });
    return new Response(response.body!.pipeThrough(ending), response);
  };
}

/** Runs the code with the API key in `KEY`, asserts that it succeeds or how it fails, and returns what it prints. */
export async function runSample(
  language: Language,
  code: string,
  key: string,
  failure?: RegExp,
): Promise<string> {
  const { file, run: [program, ...args] } = COMMANDS[language];
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/${file}`, code);
    const command = new Deno.Command(program, {
      args: [...args, file],
      cwd: folder,
      env: { KEY: key, NO_COLOR: "1" },
    });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    const errors = decoder.decode(stderr);
    assert(success ? failure === undefined : failure?.test(errors), errors);
    return decoder.decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
