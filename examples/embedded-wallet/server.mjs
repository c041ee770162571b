// Runs the application until Ctrl-C.
import { startApp } from './app.mjs';
import { server } from './latchkey.mjs';

const app = await startApp({ ...server, port: Number(process.env.PORT ?? 3000) });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, app.stop);
console.log(`Open ${app.url} in a browser. Stop with Ctrl-C.`);
