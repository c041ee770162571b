import type { Latchkey } from './index.js';

declare global {
  /** The server of this worker, which is ready. It ends with the worker. */
  var latchkey: Latchkey;
}

declare const environment: new (...given: any[]) => any;
export default environment;
