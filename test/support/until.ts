/** Long enough for a machine with much else to do: it only ends a test that hangs. */
export const HANG_LIMIT_MS = 180_000;

/** Repeats an attempt while it throws or resolves to `false`, and resolves to its result. */
export async function until<T>(attempt: () => T | Promise<T>, message?: string): Promise<T> {
  const deadline = Date.now() + HANG_LIMIT_MS;
  for (;;) {
    try {
      const result = await attempt();
      if (result === false) throw new Error("It is still false");
      return result;
    } catch (cause) {
      if (Date.now() > deadline) throw new Error(message ?? "Waited too long", { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
