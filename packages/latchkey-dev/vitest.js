// import { latchkey } from 'latchkey-dev/vitest'
import { workerLatchkey } from './worker.js';

export const latchkey = await workerLatchkey();
