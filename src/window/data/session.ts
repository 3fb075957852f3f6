/**
 * The API key, which all tabs of the browser share: in `localStorage`, with the time when somebody last used the page. It
 * ends if nobody uses the page for some hours, or, if the reader stays signed in, when somebody signs out.
 */

import { signal } from "@preact/signals";

/** A key in an address stays in the history of the browser, so it is only for development. */
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** The names in the storage. Stores at other paths of this host have names of their own. */
const STORED_KEY = `apiKey ${location.pathname}`;
const STORED_USE = `lastUse ${location.pathname}`;
const PROBE = `probe ${location.pathname}`;

/** A key ends if nobody has used the page for this time. */
export const UNUSED_HOURS = 4;
const HOUR_MS = 3_600_000;
/** How often the page looks whether the time is over, and notes that it is used. */
const LOOK_MS = 60_000;
const USES = ["pointerdown", "keydown", "wheel"];

const NOT_LOCAL =
  "This page takes no key from its address, because the history of the browser keeps it. Paste the key instead.";

export const UNAUTHORIZED = 401;
const WRONG_KEY = "This access key is not valid: it is mistyped, not complete, or has ended";
const SIGNED_OUT = "You signed out in another tab. What is not saved stays here";
const UNUSED = `Nobody has used this page for ${UNUSED_HOURS} hours`;

/** The key of this tab; `undefined` if the page asks for one. */
export const apiKey = signal<string | undefined>(undefined);

/** The reason if the page asks for a key again. */
export const keyProblem = signal<string | undefined>(undefined);

/** The reason if the key in the address was ignored. */
export const addressProblem = signal<string | undefined>(undefined);

/** The storage of the browser; `undefined` if the browser keeps nothing for this page. */
const storage = openStorage();

/** Whether the browser keeps the key for other tabs, and for a reload of this one. */
export const canKeep = storage !== undefined;

/** Resolves the requests that wait for a key. */
let keyAwaited = Promise.withResolvers<string>();

function openStorage(): Storage | undefined {
  try {
    // The reader may have told the browser to keep nothing, or its disk is full.
    localStorage.setItem(PROBE, "");
    localStorage.removeItem(PROBE);
    return localStorage;
  } catch {
    return undefined;
  }
}

/**
 * Takes the key of the address, which disappears from there, or that of the browser, and follows what other tabs do.
 * `hasUnsaved` says whether the reader would lose something by a new load of the page.
 */
export function beginSession(hasUnsaved: () => boolean): void {
  if (isUnused()) storage?.removeItem(STORED_KEY);
  const linked = takeKeyFromAddress();
  if (linked !== undefined) signIn(linked, { stays: false });
  else useStored();
  addEventListener("storage", ({ key, oldValue, newValue }) => {
    if (key !== STORED_KEY) return;
    if (newValue !== null && isAsked()) useStored();
    if (newValue === null && oldValue === apiKey.value) endWithOthers(hasUnsaved());
  });
  for (const use of USES) addEventListener(use, noteUse, { capture: true, passive: true });
  setInterval(endIfUnused, LOOK_MS);
  noteUse();
}

function takeKeyFromAddress(): string | undefined {
  const linked = new URLSearchParams(location.hash.slice(1)).get("key");
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  if (linked === null) return undefined;
  if (LOCAL_HOSTS.includes(location.hostname)) return linked;
  addressProblem.value = NOT_LOCAL;
  return undefined;
}

/** Whether the page asks for a key. */
function isAsked(): boolean {
  return apiKey.value === undefined || keyProblem.value !== undefined;
}

/** Another tab has removed the key: because somebody has signed out, or because nobody has used any tab. */
function endWithOthers(hasUnsaved: boolean): void {
  if (isUnused()) endIfUnused();
  else if (hasUnsaved) askAgain(SIGNED_OUT);
  else endSession();
}

/** Whether the key has ended because nobody uses the page. A time in the future is that of a wrong clock. */
function isUnused(): boolean {
  const lastUse = readLastUse();
  return lastUse !== undefined && Math.abs(Date.now() - lastUse) > UNUSED_HOURS * HOUR_MS;
}

/** `undefined` if the key stays until somebody signs out. */
function readLastUse(): number | undefined {
  const text = storage?.getItem(STORED_USE) ?? undefined;
  return text === undefined ? undefined : Number(text);
}

/** Asks for the key again if nobody has used the page for hours. Typed text stays. */
function endIfUnused(): void {
  if (!isUnused() || isAsked()) return;
  // The time stays, which tells the other tabs why the key is gone.
  if (isStored()) storage?.removeItem(STORED_KEY);
  askAgain(UNUSED);
}

function noteUse(): void {
  endIfUnused();
  const lastUse = readLastUse();
  if (isAsked() || lastUse === undefined || Date.now() - lastUse < LOOK_MS) return;
  storage?.setItem(STORED_USE, String(Date.now()));
}

/** Whether the browser keeps the key until somebody signs out. */
export function isKept(): boolean {
  return readStoredKey() !== undefined && readLastUse() === undefined;
}

/** The reason if the service refuses a key that the reader has typed, so that the text can be corrected. */
export async function faultOfKey(text: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${cleanKey(text)}` };
  const response = await fetch("v1/key", { headers }).catch(() => undefined);
  // While the service is away, the page tries again.
  return response?.status === UNAUTHORIZED ? WRONG_KEY : undefined;
}

/** Signs in with a key that the reader has typed: until somebody signs out, or also until nobody uses the page. */
export function signIn(text: string, { stays }: { stays: boolean }): void {
  const key = cleanKey(text);
  if (stays) storage?.removeItem(STORED_USE);
  else storage?.setItem(STORED_USE, String(Date.now()));
  storage?.setItem(STORED_KEY, key);
  useKey(key);
}

function readStoredKey(): string | undefined {
  return storage?.getItem(STORED_KEY) ?? undefined;
}

function useStored(): void {
  const key = readStoredKey();
  if (key !== undefined) useKey(key);
}

/** Takes a key. The requests that wait for one continue. */
function useKey(key: string): void {
  keyProblem.value = undefined;
  apiKey.value = key;
  keyAwaited.resolve(key);
}

/** Resolves to the key, as soon as the reader has signed in. */
export async function keyForRequest(): Promise<string> {
  if (apiKey.value !== undefined && keyProblem.value === undefined) return apiKey.value;
  return await keyAwaited.promise;
}

/** The service refuses a key. The page asks for another one, unless it has one already. Other tabs find out themselves. */
export function refuseKey(refused: string, message: string): void {
  if (refused !== apiKey.value || keyProblem.value !== undefined) return;
  askAgain(inPlainWords(message));
}

function askAgain(reason: string): void {
  keyAwaited = Promise.withResolvers();
  keyProblem.value = reason;
}

/** People know an API key as an access key. */
function inPlainWords(message: string): string {
  return message.replaceAll("API key", "access key");
}

/** Ends the session of all tabs that have this key. */
export function signOut(): void {
  if (isStored()) {
    storage?.removeItem(STORED_KEY);
    storage?.removeItem(STORED_USE);
  }
  endSession();
}

/** Whether the stored key is that of this tab. Another tab may have stored another one meanwhile. */
function isStored(): boolean {
  return readStoredKey() === apiKey.value;
}

/** Loads the page again, so that nothing of the store stays in it. */
function endSession(): void {
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
