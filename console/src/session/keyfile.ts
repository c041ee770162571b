// The forms in which a private key comes: 64 hex digits, dev.json, the key file of
// keygen and of the published command line client (digits, colon, curve).
import { Refusal } from '../client/client';
import { t } from '../text';

export interface KeyText {
  digits: string;
  organizationId?: string;
}

const refuse = (message: string) => new Refusal(400, message, '', [{ path: 'key', text: message }]);

export function parseKey(text: string): KeyText {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    try {
      const file = JSON.parse(trimmed) as { apiPrivateKey?: string; organizationId?: string };
      if (typeof file.apiPrivateKey === 'string') return { digits: file.apiPrivateKey, organizationId: file.organizationId };
    } catch {
      // told below
    }
    throw refuse(t.signIn.badFile);
  }
  const [digits, curve = 'p256'] = trimmed.split(':');
  if (curve !== 'p256') throw refuse(t.signIn.otherCurve(curve));
  if (!/^[0-9a-f]{64}$/i.test(digits)) throw refuse(t.signIn.notAKey);
  return { digits };
}
