import { clausesUpTo, judge } from "../../test/interface/conformance.ts";
import { patientSend } from "../../test/interface/patient_send.ts";
import type { Level } from "../../test/interface/sections.ts";
import { wrongFormError } from "../cli/flag_values.ts";
import { formatCounted } from "../cli/format.ts";
import { progressOf } from "../cli/progress.ts";
import { EXIT, operatorCommand, print, say } from "../cli/run_command.ts";
import { UsageError } from "../cli/table_entry.ts";
import {
  countOf,
  describeLeft,
  describeSummary,
  describeVerdict,
  reportInJson,
} from "./describe_judged.ts";
import { expectJudgeable } from "./expect_judgeable.ts";

interface Flags {
  "key"?: string;
  "read-only-key"?: string;
  "level"?: string;
  "json"?: boolean;
}

/** A wait for events may take 30 seconds. */
const RESPONSE_LIMIT_MS = 60_000;

/** After a signal, what was added is still removed, over a network that may be slow. */
const STOP_LIMIT_MS = 20_000;

const stop = new AbortController();
let remains = "Nothing was added.";

export const command = operatorCommand<Flags>({
  stop,
  stopLimitMs: STOP_LIMIT_MS,
  interrupt: () => `Interrupted. ${remains}`,
  async run({ json = false, ...flags }, [address]) {
    const base = baseOf(address);
    const level = levelOf(flags.level);
    const key = keyOf("--key", flags.key);
    if (key === undefined) throw new UsageError("--key is required: an API key that may write");
    const readOnlyKey = keyOf("--read-only-key", flags["read-only-key"]);
    const send = patientSend(sendInTime, stop.signal);
    const has = readOnlyKey === undefined ? [] : ["a read-only key"] as const;
    const listener = { base, key, readOnlyKey, has, send };
    await expectJudgeable(listener);

    const clauses = clausesUpTo(level);
    const counted = formatCounted(clauses.length, "clause");
    say(`Judges ${base} by ${counted} of level ${level}. ${EFFECT}`);
    remains = "What was added may not be removed: there was not enough time.";
    const showProgress = progressOf("Judging", "clauses");
    let done = 0;
    const judged = await judge(listener, {
      clauses,
      signal: stop.signal,
      onVerdict: async (verdict) => {
        done++;
        if (json) showProgress(done, clauses.length);
        else await print(describeVerdict(verdict));
      },
    });
    remains = describeLeft(judged);
    if (stop.signal.aborted) return;
    await print(json ? reportInJson({ base, level, ...judged }) : describeSummary(judged));
    return countOf(judged.verdicts, "broken") === 0 ? EXIT.done : EXIT.refused;
  },
});

const EFFECT = "It adds animals and names of categories, removes them again if the service can, " +
  "and changes nothing that was there before.";

/** The base address without a slash at its end. */
function baseOf(address: string | undefined): string {
  const form = "a base address like https://host/v1";
  if (address === undefined) throw new UsageError(`Name ${form}`);
  const url = URL.parse(address);
  const isBase = url !== null && /^https?:$/.test(url.protocol) && /\/v1\/?$/.test(url.pathname) &&
    url.search + url.hash + url.username + url.password === "";
  if (!isBase) throw wrongFormError("The command", form, address);
  return url.href.replace(/\/$/, "");
}

function levelOf(text = "2"): Level {
  if (text === "1") return 1;
  if (text === "2") return 2;
  throw wrongFormError("--level", "1 or 2", text);
}

/** Throws without a repetition of the key. */
function keyOf(flag: string, key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(`${flag} takes an API key: printable characters of ASCII without blanks`);
}

function sendInTime(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, signal: AbortSignal.timeout(RESPONSE_LIMIT_MS) });
}
