/**
 * The API key of this tab, which `sessionStorage` has. Tabs of one browser share it: a new tab takes the key of the tab
 * that was used last, and signing out in one of them ends all. If the reader stays signed in on this computer,
 * `localStorage` has the key, too, until somebody signs out.
 */

import { signal } from "@preact/signals";

/** A key in an address stays in the history of the browser, so it is only for development. */
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** The name of the key in both storages. Stores at other paths of this host have names of their own. */
const STORED_KEY = `apiKey ${location.pathname}`;

const NOT_LOCAL =
  "This page takes no key from its address, because the history of the browser keeps it. Paste the key instead.";

const UNAUTHORIZED = 401;
const WRONG_KEY = "This access key is not valid: it is mistyped, not complete, or has ended";

/** How long a new tab waits for the key of another one. */
const OTHER_TABS_MS = 150;

/** The key of this tab; `undefined` if the page asks for one. */
export const apiKey = signal<string | undefined>(undefined);

/** Whether the page waits for other tabs before it asks for a key. */
export const isAskingTabs = signal(true);

/** The reason if the page asks for a key again. */
export const keyProblem = signal<string | undefined>(undefined);

/** The key in the address, if this browser already has another one: the reader chooses. */
export const keyFromAddress = signal<string | undefined>(undefined);

/** The reason if the key in the address was ignored. */
export const addressProblem = signal<string | undefined>(undefined);

type TabMessage =
  | { type: "ask"; asker: string }
  | { type: "answer"; asker: string; apiKey: string; usedAt: number }
  | { type: "signOut" };

/** Stores at other paths of this host have tabs of their own. */
const tabs = new BroadcastChannel(`animal-store ${location.pathname}`);

/** Names this tab in the question for a key. */
const asker = String(Math.random());

/** When the reader last used this tab, in milliseconds since the Unix epoch. */
let usedAt = 0;

/** Resolves the requests that wait for a key. */
let waiting = Promise.withResolvers<string>();

/** Takes the key of this tab, of the address, or of another tab. The key disappears from the address. */
export async function beginSession(): Promise<void> {
  tabs.addEventListener("message", ({ data }) => onMessage(data));
  for (const type of ["pointerdown", "keydown", "focus"]) {
    addEventListener(type, () => usedAt = Date.now(), { capture: true });
  }
  const linked = takeKeyFromAddress();
  let own: string | undefined = sessionStorage[STORED_KEY] ?? localStorage[STORED_KEY];
  // A key in the address needs no other tab.
  if (own === undefined && linked === undefined) own = await keyOfOtherTabs();
  isAskingTabs.value = false;
  if (own !== undefined && linked !== undefined && linked !== own) {
    // Requests wait for the choice, because a refused key would ask for another one.
    keyFromAddress.value = linked;
    apiKey.value = own;
    return;
  }
  const key = own ?? linked;
  if (key !== undefined) useKey(key);
}

function takeKeyFromAddress(): string | undefined {
  const linked = new URLSearchParams(location.hash.slice(1)).get("key");
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  if (linked === null) return undefined;
  if (LOCAL_HOSTS.includes(location.hostname)) return cleanKey(linked);
  addressProblem.value = NOT_LOCAL;
  return undefined;
}

/** Whether this computer keeps the key when the tabs are closed. */
export function isKept(): boolean {
  return localStorage[STORED_KEY] !== undefined;
}

/** The reason if the service refuses a key that the reader has typed, so that the text can be corrected. */
export async function faultOfKey(text: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${cleanKey(text)}` };
  const response = await fetch("v1/key", { headers }).catch(() => undefined);
  // While the service is away, the page tries again.
  return response?.status === UNAUTHORIZED ? WRONG_KEY : undefined;
}

/** Signs in with a key that the reader has typed, and keeps it on this computer or not. */
export function signIn(text: string, { stays }: { stays: boolean }): void {
  if (stays) localStorage[STORED_KEY] = cleanKey(text);
  else localStorage.removeItem(STORED_KEY);
  useKey(text);
}

/** Takes a key. The requests that wait for one continue. */
export function useKey(text: string): void {
  const key = cleanKey(text);
  sessionStorage[STORED_KEY] = key;
  keyProblem.value = undefined;
  keyFromAddress.value = undefined;
  apiKey.value = key;
  waiting.resolve(key);
}

/** Resolves to the key, as soon as the reader has signed in. */
export async function keyForRequest(): Promise<string> {
  const isUndecided = keyFromAddress.value !== undefined || keyProblem.value !== undefined;
  if (apiKey.value !== undefined && !isUndecided) return apiKey.value;
  return await waiting.promise;
}

/** The service refuses a key. The page asks for another one, unless it has one already. */
export function refuseKey(refused: string, message: string): void {
  if (refused !== apiKey.value || keyProblem.value !== undefined) return;
  waiting = Promise.withResolvers();
  sessionStorage.removeItem(STORED_KEY);
  if (localStorage[STORED_KEY] === refused) localStorage.removeItem(STORED_KEY);
  keyProblem.value = inPlainWords(message);
}

/** People know an API key as an access key. */
function inPlainWords(message: string): string {
  return message.replaceAll("API key", "access key");
}

/** Ends the session in all tabs. */
export function signOut(): void {
  localStorage.removeItem(STORED_KEY);
  tabs.postMessage({ type: "signOut" } satisfies TabMessage);
  endSession();
}

/** Loads the page again, so that nothing of the store stays in it. */
function endSession(): void {
  sessionStorage.removeItem(STORED_KEY);
  isLeaving = true;
  location.replace(location.pathname);
}

let isLeaving = false;

/** Whether the page is left without a question. */
export function isSignedOut(): boolean {
  return isLeaving;
}

function onMessage(message: TabMessage): void {
  switch (message.type) {
    case "ask":
      answer(message.asker);
      break;
    case "signOut":
      if (apiKey.value !== undefined) endSession();
      break;
    case "answer":
      // A tab that is busy, or that the browser has slowed down, answers late.
      if (message.asker === asker && !isAskingTabs.value && apiKey.value === undefined) {
        useKey(message.apiKey);
      }
  }
}

function answer(asker: string): void {
  const isRefused = keyProblem.value !== undefined;
  if (apiKey.value === undefined || isRefused || isLeaving) return;
  const message: TabMessage = { type: "answer", asker, apiKey: apiKey.value, usedAt };
  tabs.postMessage(message);
}

/** Resolves to the key of the tab that was used last; `undefined` if no other tab has one. */
async function keyOfOtherTabs(): Promise<string | undefined> {
  let newest: { apiKey: string; usedAt: number } | undefined;
  const collect = ({ data }: MessageEvent<TabMessage>) => {
    if (data.type !== "answer" || data.asker !== asker) return;
    if (newest === undefined || data.usedAt > newest.usedAt) newest = data;
  };
  tabs.addEventListener("message", collect);
  tabs.postMessage({ type: "ask", asker } satisfies TabMessage);
  await new Promise((resolve) => setTimeout(resolve, OTHER_TABS_MS));
  tabs.removeEventListener("message", collect);
  return newest?.apiKey;
}

/** A key is often pasted with its scheme. */
function cleanKey(text: string): string {
  return text.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
}
