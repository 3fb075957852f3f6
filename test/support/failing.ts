import { type Instrumentation, NO_INSTRUMENTATION } from "../../src/runtime/instrumentation.ts";

/** A function that throws before or after it did its work, if `whenFailing` says so. */
export function failing<Args extends unknown[], T>(
  call: (...args: Args) => T,
  whenFailing: (...args: Args) => "before" | "after" | undefined,
): (...args: Args) => T {
  return (...args) => {
    const when = whenFailing(...args);
    if (when === "before") throw new Error("a defect");
    const result = call(...args);
    if (when === "after") throw new Error("a defect");
    return result;
  };
}

export function failingInstrumentation(whenFailing: () => "before" | "after" | undefined) {
  const calls = Object.entries({ ...NO_INSTRUMENTATION, onResponse() {} }).map(([name, call]) => [
    name,
    failing(call as () => unknown, whenFailing),
  ]);
  return Object.fromEntries(calls) as Instrumentation;
}
