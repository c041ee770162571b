// Frames in a page of lib/chromium.mjs, through the published stamper.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// frameAddresses are those of a server of lib/server.mjs.
export const frameAddresses = ({ place }) => JSON.parse(readFileSync(join(place.data, 'frames.json'), 'utf8'));

// openFrame has the page put the frame into itself under a name, by which call and
// inFrame know it; it gives the public key of the frame. lifetime is that of its key.
export const openFrame = (page, name, address, lifetime) =>
  page.run(
    (id, iframeUrl, ttl) => {
      window.stampers ??= {};
      const stamper = new IframeStamper({ iframeUrl, iframeElementId: id, iframeContainer: document.body });
      window.stampers[id] = stamper;
      return stamper.init(ttl);
    },
    name,
    `${address}#${name}`,
    lifetime,
  );

// callFrame calls a method of the stamper.
export const callFrame = (page, name, method, ...args) =>
  page.run((id, f, parameters) => window.stampers[id][f](...parameters), name, method, args);

export const closeFrame = (page, name) => page.run((id) => window.stampers[id].clear(), name);
