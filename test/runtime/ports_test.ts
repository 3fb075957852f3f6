/** Each module of a runtime has the same exports, with the same types. `deno check` proves this file. */

import { assertEquals } from "@std/assert";
import * as denoCommandPrefix from "../../src/runtime/deno/command_prefix.ts";
import * as denoFileLock from "../../src/eventstore_less/runtime/deno/file_lock.ts";
import * as denoHttpServer from "../../src/runtime/deno/http_server.ts";
import * as denoKv from "../../src/eventstore_less/runtime/deno/kv.ts";
import type * as denoKvConnect from "../../src/eventstore_less/runtime/deno/kv_connect.ts";
import * as denoServiceCommand from "../../src/runtime/deno/service_command.ts";
import * as denoStartWorker from "../../src/eventstore_less/runtime/deno/start_worker.ts";
import * as denoTempFile from "../../src/runtime/deno/temp_file.ts";
import * as nodeCommandPrefix from "../../src/runtime/node/command_prefix.ts";
import * as nodeFileLock from "../../src/eventstore_less/runtime/node/file_lock.ts";
import * as nodeHttpServer from "../../src/runtime/node/http_server.ts";
import * as nodeKv from "../../src/eventstore_less/runtime/node/kv.ts";
import type * as nodeKvConnect from "../../src/eventstore_less/runtime/node/kv_connect.ts";
import * as nodeServiceCommand from "../../src/runtime/node/service_command.ts";
import * as nodeStartWorker from "../../src/eventstore_less/runtime/node/start_worker.ts";
import * as nodeTempFile from "../../src/runtime/node/temp_file.ts";

const commandPrefix: typeof denoCommandPrefix[] = [denoCommandPrefix, nodeCommandPrefix];
const fileLock: typeof denoFileLock[] = [denoFileLock, nodeFileLock];
const httpServer: typeof denoHttpServer[] = [denoHttpServer, nodeHttpServer];
const kv: typeof denoKv[] = [denoKv, nodeKv];
const serviceCommand: typeof denoServiceCommand[] = [denoServiceCommand, nodeServiceCommand];
const startWorker: typeof denoStartWorker[] = [denoStartWorker, nodeStartWorker];
const tempFile: typeof denoTempFile[] = [denoTempFile, nodeTempFile];
/** The type is `never`, and an error of the compiler, if the modules differ. */
type SameKvConnect = typeof nodeKvConnect extends typeof denoKvConnect ? true : never;
const kvConnect: SameKvConnect = true;

Deno.test("The modules of Deno and Node have the same exports", () => {
  const ports = [commandPrefix, fileLock, httpServer, kv, serviceCommand];
  for (const modules of [...ports, startWorker, tempFile]) {
    const [ofDeno, ofNode] = modules.map((module) => Object.keys(module).sort());
    assertEquals(ofNode, ofDeno);
  }
  assertEquals(kvConnect, true);
});
