// How a frame and the page around it speak: the page hands over a port with its
// first message, and all that follows goes through it. A frame listens to the page
// that it is in, once, and to no other: not to frames beside it, to windows that
// opened it, or to what comes by another way later.

export interface Message {
  type: string;
  requestId?: string;
  value?: unknown;
  organizationId?: unknown;
  userId?: unknown;
  keyFormat?: unknown;
  address?: unknown;
}

export interface Reply {
  type: string;
  value: unknown;
}

// Refused is what the page is told; other errors may tell too much.
export class Refused extends Error {}

export type Handlers = Record<string, (message: Message) => Promise<Reply> | Reply>;

// Opening is how the page opened the channel.
export interface Opening {
  origin: string;
  keyLifetime?: number; // milliseconds
}

export const injected: Reply = { type: 'BUNDLE_INJECTED', value: true };

// text is a member that must be there.
export function text(message: Message, member: 'value' | 'organizationId' | 'userId'): string {
  const value = message[member];
  if (typeof value !== 'string' || value === '') throw new Refused(`${message.type} must have a text as its ${member}`);
  return value;
}

// optional is a member that may be missing.
export function optional(message: Message, member: 'keyFormat' | 'address'): string | undefined {
  const value = message[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Refused(`the ${member} of ${message.type} must be a text`);
  return value;
}

async function answer(frame: string, handlers: Handlers, message: Message): Promise<Reply> {
  try {
    if (!Object.hasOwn(handlers, message.type)) throw new Refused(`the ${frame} frame does not serve ${message.type}`);
    return await handlers[message.type](message);
  } catch (error) {
    return { type: 'ERROR', value: error instanceof Refused ? error.message : `${message.type} failed: the bundle or the key is not valid` };
  }
}

// serve answers the page around this one. open makes what the handlers need, and
// tells the public key that the page may have things sealed to; empty: none.
export function serve(frame: string, handlers: Handlers, open: (o: Opening) => Promise<string> | string): void {
  if (window.parent === window) {
    const note = document.createElement('p');
    note.className = 'alone';
    note.textContent = 'This page does its work inside the page of an application, and nothing by itself.';
    document.body.replaceChildren(note);
    return;
  }
  const listen = (event: MessageEvent) => {
    const first = event.data as { type?: unknown; dangerouslyOverrideIframeKeyTtl?: unknown } | null;
    const port = event.ports[0];
    if (event.source !== window.parent || first?.type !== 'TURNKEY_INIT_MESSAGE_CHANNEL' || !port) return;
    window.removeEventListener('message', listen);
    const lifetime = first.dangerouslyOverrideIframeKeyTtl;
    // One after the other: a request finds what the one before has done.
    let before: Promise<unknown> = (async () => {
      const publicKey = await open({ origin: event.origin, keyLifetime: typeof lifetime === 'number' && lifetime > 0 ? lifetime : undefined });
      port.postMessage({ type: 'PUBLIC_KEY_READY', value: publicKey });
    })();
    port.onmessage = ({ data }: MessageEvent) => {
      const message = data as Message | null;
      if (typeof message?.type !== 'string') return;
      before = before.then(async () => {
        const reply = await answer(frame, handlers, message);
        port.postMessage({ ...reply, requestId: message.requestId });
      });
    };
  };
  window.addEventListener('message', listen);
}
