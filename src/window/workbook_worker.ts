/** The worker that reads workbooks of Excel for the import. */

import type { WorkbookReply, WorkbookRequest } from "./csv/load_workbook.ts";
import { readWorkbook } from "./csv/read_workbook.ts";

addEventListener("message", async ({ data }: MessageEvent<WorkbookRequest>) => {
  postMessage(await replyTo(data));
});

async function replyTo({ bytes, sheet }: WorkbookRequest): Promise<WorkbookReply> {
  try {
    return { kind: "read", workbook: await readWorkbook(bytes, sheet) };
  } catch (error) {
    return { kind: "failed", fault: (error as Error).message };
  }
}
