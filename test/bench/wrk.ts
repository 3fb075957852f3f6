/** The load generator wrk (https://github.com/wg/wrk), which costs less than one in TypeScript. */

import type { Measured } from "./load.ts";

export interface WrkLoad {
  port: number;
  connections: number;
  ms: number;
  method: string;
  /** `{id}` in it is replaced by a random number from 1 to `ids`. */
  path: string;
  ids?: number;
  headers: Record<string, string>;
  body?: string;
}

/** Whether wrk is installed. */
export async function hasWrk(): Promise<boolean> {
  try {
    await new Deno.Command("wrk", { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return true;
  } catch {
    return false;
  }
}

/** Runs a load of requests with one thread of wrk. */
export async function runWrk(load: WrkLoad): Promise<Measured> {
  const script = await Deno.makeTempFile({ suffix: ".lua" });
  const headers = Object.entries(load.headers)
    .map(([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`);
  const body = load.body === undefined ? "" : `wrk.body = ${quote(load.body)}`;
  await Deno.writeTextFile(
    script,
    [`wrk.method = ${quote(load.method)}`, ...headers, body, requestsOf(load), REPORT].join("\n"),
  );
  try {
    const { stdout } = await new Deno.Command("wrk", {
      args: [
        ...["-t1", `-c${load.connections}`, `-d${Math.ceil(load.ms / 1_000)}s`],
        ...["-s", script, `http://127.0.0.1:${load.port}${load.path}`],
      ],
    }).output();
    const line = new TextDecoder().decode(stdout).split("\n").find((line) => line.startsWith("{"));
    if (line === undefined) throw new Error("wrk reported nothing");
    const { requests, seconds, p50Us, p99Us, failures } = JSON.parse(line);
    return {
      requests,
      perSecond: requests / seconds,
      p50Ms: p50Us / 1_000,
      p99Ms: p99Us / 1_000,
      failures,
      statuses: new Map(),
    };
  } finally {
    await Deno.remove(script);
  }
}

function requestsOf({ path, ids }: WrkLoad): string {
  if (ids === undefined) return "";
  const [before, after] = path.split("{id}").map(quote);
  return `request = function() return wrk.format(nil, ${before}..math.random(${ids})..${after}) end`;
}

/** wrk counts 3xx as a success, but the measured requests never get one. */
const REPORT = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"p50Us":%f,"p99Us":%f,"failures":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end`;

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
