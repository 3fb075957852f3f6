/** The list that the page has asked for before its scripts came (`../first_list.js`). */

interface FirstList {
  path: string;
  apiKey: string;
  response: Promise<Response>;
}

/** A later one, for example after a sign-in, may be old. */
const LIMIT_MS = 60_000;

/** Removes the response to a request, and returns it; `undefined` if it is not that of the first list. */
export function takeFirstList(path: string, apiKey: string): Promise<Response> | undefined {
  const page = globalThis as { firstList?: FirstList };
  const { firstList } = page;
  const isIt = firstList?.path === path && firstList.apiKey === apiKey;
  if (!isIt || performance.now() > LIMIT_MS) return undefined;
  page.firstList = undefined;
  return firstList.response;
}
