// Waiting for something to happen.
import { setTimeout as sleep } from 'node:timers/promises';

// No test is about how fast a machine is. This is only long enough that what has
// not happened by then never will, so that the run ends and says what was missing.
export const patience = 300_000;

// until calls check until it gives something true, and gives that. what() names
// what did not happen.
export async function until(what, check) {
  for (const deadline = Date.now() + patience; ; await sleep(25)) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what()}`);
  }
}
