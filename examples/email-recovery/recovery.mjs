// Ada loses her phone, and comes back by mail.
import { verifyMessage } from 'viem';

import { App } from './app.mjs';
import { connect, forgetOthers, newTarget, open, recover, sign } from './device.mjs';
import { server } from './latchkey.mjs';
import { bundleFrom } from './mailbox.mjs';
import { Passkey } from './passkey.mjs';

const { env } = process;
const { apiBaseUrl, organizationId: parentId } = server;
const email = env.EMAIL ?? `ada.${Date.now()}@example.com`;

const show = (what, outcome) => console.log(`  ${what.padEnd(40)}${outcome}`);
const refused = (request) =>
  request.then(
    () => 'ALLOWED',
    (error) => `refused: ${error.details?.[0]?.turnkeyErrorCode ?? error.message}`,
  );

const app = new App(server);

console.log('Ada signs up.');
const oldPasskey = new Passkey();
const ada = await app.signUp({ name: 'Ada', email, authenticator: oldPasskey.register('old phone') });
const withOld = connect(apiBaseUrl, ada.organizationId, oldPasskey);
const check = async (client, message) => {
  const signature = await sign(client, ada, message);
  return (await verifyMessage({ address: ada.address, message, signature })) ? 'valid' : 'NOT VALID';
};
show('her wallet', ada.address);
show('her phone signs', await check(withOld, 'before'));

console.log('She loses the phone, and takes a new one.');
const target = newTarget();
await app.startRecovery({ email, targetPublicKey: target.publicKey });
const bundle = await bundleFrom(env.LATCHKEY_DATA, email);
show('a mail comes to', email);
show('another device opens it', await refused((async () => open(bundle, newTarget()))()));
const recoveryKey = open(bundle, target);
const { organizationId, userId, username } = await connect(apiBaseUrl, parentId, recoveryKey).getWhoami();
show('her new phone opens it; she is', username);
const withMail = connect(apiBaseUrl, organizationId, recoveryKey);
show('the key in it signs', await refused(sign(withMail, ada, 'with the mail')));
const newPasskey = new Passkey();
const newId = await recover(withMail, userId, newPasskey.register('new phone'));
show('the key in it adds her new passkey', 'done');
show('the key in it, once more', await refused(recover(withMail, userId, newPasskey.register('again'))));

console.log('The new phone is in charge.');
const withNew = connect(apiBaseUrl, organizationId, newPasskey);
show('it deletes the passkey of the', await forgetOthers(withNew, userId, newId));
show('the old phone signs', await refused(sign(withOld, ada, 'stolen')));
show('the new phone signs', await check(withNew, 'after'));
