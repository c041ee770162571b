// What the tests of the console share: a browser, people in it, and requests that
// are made beside it, as a program would.
import assert from 'node:assert/strict';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { spawnSync } from 'node:child_process';

import { chromium } from 'playwright-core';

export { initSealed, makeSeal, newPlace, startSealed, startServer, storeName, useServer } from '../../e2e/lib/server.mjs';
export { patience } from '../../e2e/lib/until.mjs';
import { patience } from '../../e2e/lib/until.mjs';

export function program() {
  const names = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
  for (const name of names) {
    const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (found.status === 0) return found.stdout.trim();
  }
  throw new Error(`no browser: ${names.join(', ')} cannot be run. Install Debian's package chromium, or set CHROMIUM to one.`);
}

export const programArguments = () => ['--disable-gpu', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];

// One browser serves all tests of the process: what people have in it is apart all the
// same. It is closed when no describe needs it any more.
let launched;
let users = 0;
const launch = () => (launched ??= chromium.launch({ executablePath: program(), args: programArguments() }));
async function leave() {
  if (--users > 0) return;
  const browser = await launched;
  launched = undefined;
  await browser?.close();
}

// useBrowser gives the tests of the describe around it a browser; open() makes a
// person's own: nothing is shared between two. What breaks the page's security
// policy, or throws in it, fails the test run at the end.
export function useBrowser() {
  const held = {};
  const problems = [];
  const contexts = new Set();
  users++;
  before(async () => {
    held.browser = await launch();
  });
  afterEach(async (test) => {
    if (!test.error) return;
    for (const page of [...contexts].flatMap((context) => context.pages())) console.log(await shown(page));
  });
  after(async () => {
    for (const context of contexts) await context.close();
    await leave();
    assert.deepEqual(problems, [], 'pages reported problems');
  });
  held.open = async (options = {}) => {
    const context = await held.browser.newContext({ viewport: { width: 1200, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce', ...options });
    contexts.add(context);
    context.setDefaultTimeout(Number(process.env.PATIENCE ?? patience));
    const page = await context.newPage();
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (e) => console.error(`CSP ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
    });
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.stack}`));
    page.on('console', (message) => {
      if (message.text().includes('CSP') || message.text().includes('Content Security Policy') || message.text().includes('TrustedHTML')) problems.push(message.text());
    });
    return page;
  };
  held.problems = problems;
  return held;
}

// shown is what a page shows, for a failure that is looked at later.
async function shown(page) {
  const seen = page.evaluate(() => {
    const text = (e) => e.innerText.replace(/\n{2,}/g, '\n').slice(0, 4000);
    const { activeElement: focused } = document;
    return [...document.querySelectorAll('dialog')].map((d) => `--- ${d.open ? 'an open' : 'a closed'} dialog:\n${text(d)}`)
      .concat(`--- the page:\n${text(document.body)}`, `--- the focus: ${focused?.outerHTML.slice(0, 200)}`).join('\n');
  });
  const silence = new Promise((resolve) => setTimeout(resolve, 30_000, 'it does not answer').unref());
  return `=== ${page.url()}\n${await Promise.race([seen, silence]).catch((error) => error.message)}\n===`;
}

// closed waits until a dialog is gone, and has given the focus back, which is after the
// next frame: a key that is pressed before goes elsewhere.
export async function closed(page) {
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.evaluate(() => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return frame().then(frame);
  });
}

// addAuthenticator plugs a virtual passkey device into a page.
export async function addAuthenticator(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
}

export const consoleUrl = (dev, path = '') => `http://localhost:${new URL(dev.baseUrl).port}/console/${path}`;

export async function signIn(page, dev, key, path = '') {
  await page.goto(consoleUrl(dev, path));
  await page.getByLabel('Organization ID').fill(dev.organizationId);
  await page.getByLabel('API private key').fill(key.apiPrivateKey);
  await page.getByRole('button', { name: 'Sign in with an API key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

// usePasskey gives a person who came with an API key a passkey, and lets them come
// in again with it. The page has an authenticator.
export async function usePasskey(page, dev, person) {
  await signIn(page, dev, person.key, `users/${person.userId}`);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('My passkey').waitFor();
  await closed(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Organization ID').fill(dev.organizationId);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export function newKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { d, x, y } = privateKey.export({ format: 'jwk' });
  const bytes = (text) => Buffer.from(text, 'base64url');
  return {
    apiPrivateKey: bytes(d).toString('hex').padStart(64, '0'),
    apiPublicKey: (bytes(y).at(-1) & 1 ? '03' : '02') + bytes(x).toString('hex').padStart(64, '0'),
    jwk: { kty: 'EC', crv: 'P-256', d, x, y },
  };
}

// keyOf completes a key of dev.json.
export function keyOf({ apiPrivateKey, apiPublicKey }) {
  const scalar = Buffer.from(apiPrivateKey, 'hex');
  const pkcs8 = Buffer.concat([Buffer.from('3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420', 'hex'), scalar]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const { x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { apiPrivateKey, apiPublicKey, jwk: { kty: 'EC', crv: 'P-256', d: scalar.toString('base64url'), x, y } };
}

// caller makes requests with a key, without a browser.
export function caller(dev, key) {
  const post = async (path, body) => {
    const text = JSON.stringify(body);
    const signature = sign('sha256', Buffer.from(text), createPrivateKey({ key: key.jwk, format: 'jwk' })).toString('hex');
    const stamp = Buffer.from(JSON.stringify({ publicKey: key.apiPublicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature })).toString('base64url');
    const reply = await fetch(dev.baseUrl + path, { method: 'POST', body: text, headers: { 'X-Stamp': stamp } });
    const answer = await reply.json();
    if (!reply.ok) throw Object.assign(new Error(`${path}: ${reply.status} ${answer.message}`), { answer });
    return answer;
  };
  return {
    query: (name, more = {}) => post(`/public/v1/query/${name}`, { organizationId: dev.organizationId, ...more }),
    submit: async (name, type, parameters) =>
      (await post(`/public/v1/submit/${name}`, { type: `ACTIVITY_TYPE_${type}`, timestampMs: String(Date.now()), organizationId: dev.organizationId, parameters })).activity,
  };
}

export const result = (activity) => Object.entries(activity.result).find(([name]) => name !== 'activity')?.[1];

// An organization for a test: a root user, members with an API key each, a wallet,
// and a policy by which two of the members' approvals sign.
export async function furnish(held, names = ['Ada', 'Bob']) {
  const root = caller(held.dev, keyOf(held.rootKey));
  const people = {};
  for (const name of names) {
    const key = newKey();
    const made = await root.submit('create_users', 'CREATE_USERS_V3', {
      users: [{ userName: name, userTags: [], authenticators: [], oauthProviders: [], apiKeys: [{ apiKeyName: `key of ${name}`.slice(0, 40), publicKey: key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }] }],
    });
    people[name] = { key, userId: result(made).userIds[0], ...caller(held.dev, key) };
  }
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [
      { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
      { curve: 'CURVE_ED25519', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/501'/0'/0'", addressFormat: 'ADDRESS_FORMAT_SOLANA' },
      { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/84'/0'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' },
      { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/195'/0'", addressFormat: 'ADDRESS_FORMAT_TRON' },
    ],
  });
  const ids = Object.values(people).map((p) => `'${p.userId}'`).join(', ');
  await root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'Two sign together', effect: 'EFFECT_ALLOW', notes: '',
    condition: "activity.action == 'SIGN'",
    consensus: `approvers.filter(user, user.id in [${ids}]).count() >= 2`,
  });
  const [ethereum, solana, bitcoin, tron] = result(wallet).addresses;
  return { root, people, walletId: result(wallet).walletId, ethereum, solana, bitcoin, tron };
}

// --- Transactions, written by hand --------------------------------------------

function rlp(item) {
  const head = (size, short) => {
    if (size < 56) return Buffer.from([short + size]);
    const digits = Buffer.from(size.toString(16).padStart(size > 255 ? 4 : 2, '0'), 'hex');
    return Buffer.concat([Buffer.from([short + 55 + digits.length]), digits]);
  };
  if (Array.isArray(item)) {
    const all = Buffer.concat(item.map(rlp));
    return Buffer.concat([head(all.length, 0xc0), all]);
  }
  const bytes = typeof item === 'string' ? Buffer.from(item.replace(/^0x/, ''), 'hex') : number(item);
  return bytes.length === 1 && bytes[0] < 0x80 ? bytes : Buffer.concat([head(bytes.length, 0x80), bytes]);
}

function number(value) {
  if (value === 0n || value === 0) return Buffer.alloc(0);
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

// ethereum is an unsigned transaction of EIP-1559.
export const ethereum = ({ chainId = 1, nonce = 0, to, value = 0n, data = '0x', gas = 21000, price = 30_000_000_000n }) =>
  '02' + rlp([chainId, nonce, 1_000_000_000n, price, gas, to, value, data, []]).toString('hex');

const word = (text) => text.replace(/^0x/, '').toLowerCase().padStart(64, '0');
export const erc20 = (method, to, amount) => ({ transfer: '0xa9059cbb', approve: '0x095ea7b3' })[method] + word(to) + word(amount.toString(16));

export const signTransaction = (who, signWith, unsignedTransaction, type = 'ETHEREUM') =>
  who.submit('sign_transaction', 'SIGN_TRANSACTION_V2', { signWith, unsignedTransaction, type: `TRANSACTION_TYPE_${type}` });

export const sha256 = (data) => createHash('sha256').update(data).digest();

// --- Looking at pages -----------------------------------------------------------

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// accessible fails if axe finds anything. It is put into the page from outside, once
// for each load: the page's own policy stays as it is. The session is not detached,
// because that would also unplug a virtual passkey device of the page.
export async function accessible(page, what) {
  const cdp = await page.context().newCDPSession(page);
  const evaluate = async (expression) => {
    const { result: found, exceptionDetails } = await cdp.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    return found.value;
  };
  if (!(await evaluate('typeof axe === "object"'))) await evaluate(`${axe};undefined`);
  const found = await evaluate(`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then((r) => r.violations.map((v) => v.id + ': ' + v.help + ' at ' + v.nodes.map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 120)).join(' | ')))`);
  assert.deepEqual(found, [], `axe on ${what}`);
}

// picture keeps what a screen looks like, if PICTURES names a folder: the whole of it,
// or what is in the window.
export async function picture(page, name, fullPage = true) {
  const folder = process.env.PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  if (fullPage) await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
