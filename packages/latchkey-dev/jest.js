// An environment for Jest: `testEnvironment: 'latchkey-dev/jest'`. Tests find the
// server of their worker as the global `latchkey`.
import { TestEnvironment } from 'jest-environment-node';

import { workerLatchkey } from './worker.js';

export default class LatchkeyEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.latchkey = await workerLatchkey();
  }
}
