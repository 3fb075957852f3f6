/** Reads requests as a JSON array, sends one after the other, and prints the attempts. Node runs it without its types. */

import process from "node:process";
import { text } from "node:stream/consumers";
import { sendOnce } from "./send_once.ts";

const attempts = [];
for (const input of JSON.parse(await text(process.stdin))) attempts.push(await sendOnce(input));
process.stdout.write(JSON.stringify(attempts));
