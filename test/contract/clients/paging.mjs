/** Follows the links to the next page with got and with Octokit, whose base address ends in /v1. */

import { Octokit } from "@octokit/core";
import { paginateRest } from "@octokit/plugin-paginate-rest";
import assert from "node:assert";
import process from "node:process";
import got from "got";

const [baseUrl, token] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}` };

const ofGot = await got.paginate.all(`${baseUrl}/pets?limit=100`, { headers });
expectAll(ofGot);

const octokit = new (Octokit.plugin(paginateRest))({ baseUrl });
expectAll(await octokit.paginate("GET /pets", { limit: 100, headers }));

function expectAll(pets) {
  assert(pets.length > 999);
  assert.deepEqual(pets.map(({ id }) => id), pets.map((_, index) => pets.length - index));
}
