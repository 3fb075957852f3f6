import { sendSignal } from "../launch/send_signal.ts";

/** Checks types next to the running service, which does not wait for the result. */
export class TypeCheck {
  #folders: string[];
  #process: Deno.ChildProcess | undefined;
  #hasFailed = false;

  constructor(folders: string[]) {
    this.#folders = folders;
  }

  /** Reports errors on standard error. Replaces a check that has not finished. */
  async start(): Promise<void> {
    this.stop();
    const args = ["check", "--quiet", ...this.#folders];
    const process = new Deno.Command(Deno.execPath(), { args, stderr: "piped" }).spawn();
    this.#process = process;
    const { success, stderr } = await process.output();
    if (process !== this.#process) return;
    this.#process = undefined;
    if (!success) {
      console.error(new TextDecoder().decode(stderr).trim());
      console.error("The type check failed; it runs again after the next change");
    } else if (this.#hasFailed) console.error("The type check passes again");
    this.#hasFailed = !success;
  }

  stop(): void {
    if (this.#process !== undefined) sendSignal(this.#process, "SIGTERM");
    this.#process = undefined;
  }
}
