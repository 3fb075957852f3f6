/**
 * Runs an attempt, and once more if it fails: on a busy machine, a test that drives a browser can be faster or slower than
 * its page. Says so in a line, which `.ci/run` repeats at its end, because such a test is to be repaired. A fault that is
 * there each time fails both attempts, and the second error is that of the test.
 */
export async function withSecondTry(name: string, attempt: () => Promise<void>): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    const [reason] = String(error).split("\n");
    console.log(`Second try of ${JSON.stringify(name)}: ${reason}`);
    await attempt();
  }
}
