import type { Latchkey } from './index.js';

/** The server of this worker, which is ready. It ends with the worker. */
export const latchkey: Latchkey;
