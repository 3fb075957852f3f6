import { dataOf, defineApplication, defineCollection, openEventStore } from "eventstore-less";
import { z } from "zod";

const notes = defineCollection({
  name: "notes",
  events: {
    NoteTaken: {
      data: z.strictObject({ id: z.string(), text: z.string() }),
      project: ({ event, line }) => [{ key: ["note", event.data.id], content: dataOf(line) }],
    },
  },
  kinds: { note: { key: ["text"] } },
});
const application = defineApplication({ name: "Notes", collections: [notes] });
await using store = await openEventStore(application, ":memory:");

const data = { id: "milk", text: "Buy milk" };
const { events } = await store.append({ decide: () => [{ type: "NoteTaken", data }] });
console.log(events[0].position, (await store.read(["note", "milk"])).value);
