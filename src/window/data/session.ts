/**
 * The API key: that of this tab, in `sessionStorage`, or, if the reader stays signed in on this computer, that of all tabs,
 * in `localStorage`, until somebody signs out.
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

/** The key of this tab; `undefined` if the page asks for one. */
export const apiKey = signal<string | undefined>(undefined);

/** The reason if the page asks for a key again. */
export const keyProblem = signal<string | undefined>(undefined);

/** The reason if the key in the address was ignored. */
export const addressProblem = signal<string | undefined>(undefined);

/** Resolves the requests that wait for a key. */
let waiting = Promise.withResolvers<string>();

/** Takes the key of the address, which disappears from there, of this tab, or of this computer, and follows that. */
export function beginSession(): void {
  const key = takeKeyFromAddress() ?? sessionStorage[STORED_KEY] ?? localStorage[STORED_KEY];
  if (key !== undefined) useKey(key);
  // Another tab has signed in or out.
  addEventListener("storage", ({ key, oldValue, newValue }) => {
    if (key !== STORED_KEY) return;
    const isAsked = apiKey.value === undefined || keyProblem.value !== undefined;
    if (newValue !== null && isAsked) useKey(newValue);
    if (newValue === null && oldValue === apiKey.value) endSession();
  });
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
  apiKey.value = key;
  waiting.resolve(key);
}

/** Resolves to the key, as soon as the reader has signed in. */
export async function keyForRequest(): Promise<string> {
  if (apiKey.value !== undefined && keyProblem.value === undefined) return apiKey.value;
  return await waiting.promise;
}

/** The service refuses a key. The page asks for another one, unless it has one already. */
export function refuseKey(refused: string, message: string): void {
  if (refused !== apiKey.value || keyProblem.value !== undefined) return;
  waiting = Promise.withResolvers();
  sessionStorage.removeItem(STORED_KEY);
  keyProblem.value = inPlainWords(message);
}

/** People know an API key as an access key. */
function inPlainWords(message: string): string {
  return message.replaceAll("API key", "access key");
}

/** Ends the session of this tab and, if the key is kept on this computer, of all tabs with it. */
export function signOut(): void {
  localStorage.removeItem(STORED_KEY);
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

/** A key is often pasted with its scheme. */
function cleanKey(text: string): string {
  return text.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
}
