import type { Service } from "../../src/service.ts";

/** Number of names in a commit. */
const BATCH = 200;

/** Names the categories 0, 1, 2 … "Category 0" and so on, without requests. */
export async function nameManyCategories(
  { appender, runtime }: Pick<Service, "appender" | "runtime">,
  count: number,
  actor = "01HZZZZZZZ0000000000000001",
): Promise<void> {
  const time = new Date(runtime.now()).toISOString();
  for (let first = 0; first < count; first += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
      const number = first + index;
      const data = { id: BigInt(number), name: `Category ${number}` };
      return { id: runtime.newId(), time, actor, type: "CategoryNamed", data } as const;
    });
    await appender.append({ prepare() {}, decide: () => events });
  }
}
