import type { Runtime } from "eventstore-less";
import { readConsumersOf } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { ConsumerReport } from "eventstore-less/tools";
import { APPLICATION } from "../application.ts";
import type { Gauges } from "../runtime/instrumentation.ts";

/** The gauges of the consumers, by their names. All of a scrape share a read of the store. */
export function consumerGauges(store: Store, runtime: Runtime) {
  let reading: Promise<ConsumerReport[]> | undefined;
  const read = () => {
    reading ??= readConsumersOf(APPLICATION, store).finally(() => reading = undefined);
    return reading;
  };
  const gauge = (valueOf: (consumer: ConsumerReport) => number | undefined) => async () => {
    return (await read()).flatMap((consumer) => {
      const value = valueOf(consumer);
      return value === undefined ? [] : { labels: { consumer: consumer.name }, value };
    });
  };
  return {
    "consumer.position": gauge(({ position }) => position),
    "consumer.lag": gauge(({ lag }) => lag),
    "consumer.failing.seconds": gauge(({ failing }) => {
      if (failing === undefined) return 0;
      return Math.max(0, runtime.now() - Date.parse(failing.since)) / 1_000;
    }),
    "consumer.stopped": gauge(({ isStopped }) => Number(isStopped)),
  } satisfies Partial<Gauges>;
}
