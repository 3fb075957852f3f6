import { assert, assertEquals } from "@std/assert";
import {
  BUFFER_BYTES,
  LineBuffer,
  REQUEST_BUFFER_BYTES,
  WRITE_BYTES,
} from "../../src/runtime/line_buffer.ts";
import { FakeRuntime } from "eventstore-less/testing";

/** A line buffer, what its reader has read, and a reader that can stop. */
function open() {
  const runtime = new FakeRuntime();
  const reader = {
    text: "",
    writes: [] as number[],
    /** How many bytes a write takes at most. */
    takes: Infinity,
    fault: undefined as { code: string } | undefined,
    resumed: Promise.resolve(),
  };
  const write = async (bytes: Uint8Array) => {
    await reader.resumed;
    if (reader.fault !== undefined) throw reader.fault;
    const taken = bytes.subarray(0, reader.takes);
    reader.text += new TextDecoder().decode(taken);
    reader.writes.push(taken.length);
    return taken.length;
  };
  const stop = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    reader.resumed = promise;
    return resolve;
  };
  const droppedLine = (lost: object) => JSON.stringify(lost);
  const buffer = new LineBuffer({ write, droppedLine, runtime });
  return { runtime, reader, stop, buffer };
}

/** A line with a number, which takes 100 bytes with its line feed. */
function lineOf(number: number): string {
  return `${String(number).padStart(98)}.`;
}

const REQUEST_LINES = Math.floor(REQUEST_BUFFER_BYTES / 100);
const LINES = Math.floor(BUFFER_BYTES / 100);

Deno.test("LineBuffer writes lines in order, several small ones together and a long one whole", async () => {
  const { runtime, reader, buffer } = open();
  const numbers = Array.from({ length: 200 }, (_, number) => number);
  const lines = numbers.map((number) => number === 50 ? "x".repeat(10_000) : lineOf(number));
  for (const line of lines) buffer.add(line);
  await runtime.advance(0);
  assertEquals(reader.text, lines.map((line) => `${line}\n`).join(""));
  assertEquals(reader.writes.filter((bytes) => bytes > WRITE_BYTES), [10_001]);
  assert(reader.writes.length < 10, "Each line has a write of its own");
});

Deno.test("LineBuffer drops lines of requests first while its reader has stopped, and says how many when it is back", async () => {
  const { runtime, reader, stop, buffer } = open();
  const resume = stop();
  for (let number = 0; number < REQUEST_LINES + 7; number++) buffer.add(lineOf(number), true);
  for (let number = 0; number < LINES - REQUEST_LINES + 2; number++) buffer.add(lineOf(number));
  resume();
  await runtime.advance(0);
  const lines = reader.text.trimEnd().split("\n");
  assertEquals(lines.length, LINES + 1);
  assertEquals(lines[REQUEST_LINES - 1], lineOf(REQUEST_LINES - 1));
  assertEquals(lines[REQUEST_LINES], lineOf(0));
  assertEquals(lines.at(-1), JSON.stringify({ dropped: 9, requests: 7 }));
  reader.text = "";
  buffer.add(lineOf(1), true);
  await runtime.advance(0);
  assertEquals(reader.text, `${lineOf(1)}\n`, "There is room again, and nothing new to say");
});

Deno.test("LineBuffer repeats what a pipe that does not block did not take", async () => {
  const { runtime, reader, buffer } = open();
  reader.takes = 30;
  reader.fault = { code: "EAGAIN" };
  for (let number = 0; number < 3; number++) buffer.add(lineOf(number));
  await runtime.advance(1_000);
  assertEquals(reader.text, "");
  reader.fault = undefined;
  await runtime.advance(1_000);
  assertEquals(reader.text, [0, 1, 2].map((number) => `${lineOf(number)}\n`).join(""));
});

Deno.test("LineBuffer continues after a write that failed", async () => {
  const { runtime, reader, buffer } = open();
  reader.fault = { code: "EPIPE" };
  for (let number = 0; number < 2 * LINES; number++) buffer.add(lineOf(number));
  await runtime.advance(0);
  reader.fault = undefined;
  buffer.add(lineOf(1));
  await runtime.advance(0);
  assertEquals(reader.text, `${lineOf(1)}\n`);
});

Deno.test("end() resolves when all is written, or after its limit", async () => {
  const empty = open();
  await empty.buffer.end(1_000);
  const { reader, buffer } = open();
  buffer.add(lineOf(1));
  await buffer.end(1_000);
  assertEquals(reader.text, `${lineOf(1)}\n`);
  const late = open();
  late.stop();
  late.buffer.add(lineOf(2));
  let isOver = false;
  late.buffer.end(1_000).then(() => isOver = true);
  await late.runtime.advance(999);
  assertEquals(isOver, false);
  await late.runtime.advance(1);
  assertEquals(isOver, true);
});
