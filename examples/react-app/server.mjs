// Runs the application until Ctrl-C.
import './latchkey.mjs'; // says at once what is missing

import { startApp } from './app.mjs';

const app = await startApp({ port: Number(process.env.PORT ?? 3000) });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.stop().then(() => process.exit(0)));
console.log(`Open ${app.url} in a browser. Stop with Ctrl-C.`);
