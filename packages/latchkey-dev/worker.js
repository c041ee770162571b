// One server for each worker of a test runner, however many files of tests it runs:
// a worker is a process, or a thread with a process object of its own.
import { startLatchkey } from './index.js';

const place = Symbol.for('latchkey-dev worker');

// workerLatchkey gives the server of this worker. It ends with the worker.
export function workerLatchkey() {
  process[place] ??= startLatchkey(process.env.LATCHKEY_SEED ? { seed: process.env.LATCHKEY_SEED } : {});
  return process[place];
}
