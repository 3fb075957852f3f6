import { reasonOf } from "eventstore-less/startup";
import { checkFile } from "eventstore-less/store";
import { commandName } from "../runtime/words.ts";
import type { Service } from "../service.ts";

/** Checks the file of a store next to the service, which is not ready any more if the file is damaged. Never rejects. */
export async function checkStoreFile(
  { noteDamage, report }: Pick<Service, "noteDamage" | "report">,
  path: string,
): Promise<void> {
  try {
    const damage = await checkFile(path);
    if (damage !== undefined) noteDamage(damage);
  } catch (error) {
    const remedy = `Run ${commandName("audit")}, which makes the same check`;
    report("warn", "store_file_not_checked", { reason: reasonOf(error), remedy });
  }
}
