/** The API key as the interface describes it. */

import { computed, signal } from "@preact/signals";
import { request } from "./api.ts";

export interface KeyInfo {
  id: string;
  label: string;
  readOnly: boolean;
  expiresAt?: string;
}

/** `undefined` until it is read. */
export const keyInfo = signal<KeyInfo | undefined>(undefined);

export const mayWrite = computed(() => keyInfo.value?.readOnly === false);

export async function loadKeyInfo(): Promise<void> {
  const { body } = await request<KeyInfo>("key");
  keyInfo.value = body;
}
