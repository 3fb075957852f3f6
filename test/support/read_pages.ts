import { assertEquals } from "@std/assert";
import type { Client } from "./test_service.ts";

export interface Page<Item> {
  items: Item[];
  headers: Headers;
  /** The path of the next page. */
  next: string | undefined;
}

export async function readPage<Item>(
  { send }: Pick<Client, "send">,
  path: string,
): Promise<Page<Item>> {
  const response = await send(path);
  assertEquals(response.status, 200, path);
  const { headers } = response;
  return { items: await response.json(), headers, next: nextPathOf(headers) };
}

/** Reads a page and all later ones, each when the one before it was used. */
export async function* readPages<Item>(
  client: Pick<Client, "send">,
  path: string,
): AsyncGenerator<Page<Item>> {
  for (let next: string | undefined = path; next !== undefined;) {
    const page: Page<Item> = await readPage(client, next);
    yield page;
    next = page.next;
  }
}

/** The path that the Link header of a page names. */
function nextPathOf(headers: Headers): string | undefined {
  const link = headers.get("link");
  return link === null ? undefined : /^<https?:..[^/]+(.+)>; rel="next"$/.exec(link)![1];
}
