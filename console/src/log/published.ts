// What the server publishes of its log.
import { read } from '../client/client';
import { type Checkpoint, type LogKeys, openCheckpoint } from './receipt';

export async function publishedKeys(): Promise<LogKeys[]> {
  const known = JSON.parse(await read('/.well-known/latchkey.json')) as { logOrigin: string; logVerifierKeys: string[] };
  return [{ origin: known.logOrigin, verifierKeys: known.logVerifierKeys }];
}

export async function newestCheckpoint(): Promise<Checkpoint & { keys: LogKeys[] }> {
  const [keys, note] = await Promise.all([publishedKeys(), read('/latchkey/v1/log/checkpoint')]);
  return { ...(await openCheckpoint(note, keys)), keys };
}
