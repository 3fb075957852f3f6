import { assertGreater } from "@std/assert";
import { RUNTIME } from "../support/programs.ts";
import { LINUX, PROCESSES, testNeeding } from "../support/test_needing.ts";
import { fuzzHttp } from "./fuzz_http.ts";

const test = testNeeding(LINUX, PROCESSES);

/** Connections that once ended the process, or lost the response to a sound request. */
const FAILED_SEEDS = [1, 7, 18, 1068, 1396, 2455, 2668, 2964, 3279, 3477, 3763, 5104, 507987];

const OTHER_SEEDS = Array.from({ length: 1_500 }, (_, index) => 1_000_000 + index);

test("nothing that a client sends ends a process, or loses the response to a sound request", async () => {
  const { responses } = await fuzzHttp({
    runtime: RUNTIME,
    seeds: [...FAILED_SEEDS, ...OTHER_SEEDS],
  });
  assertGreater(responses, 300);
});
