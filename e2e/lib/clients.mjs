// The two published clients, unmodified, behind the few verbs that the tests
// need, so that one scenario runs on both.
import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';

import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient, TurnkeyRequestError as HttpRequestError } from '@turnkey/http';
import { Turnkey, TurnkeyRequestError as ServerRequestError } from '@turnkey/sdk-server';

import { shape } from './shapes.mjs';

// newKey makes a P-256 API key pair in the text forms that the clients take.
export function newKey() {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  return {
    apiPublicKey: pair.getPublicKey('hex', 'compressed'),
    apiPrivateKey: pair.getPrivateKey('hex').padStart(64, '0'),
  };
}

// type and result key per method. @turnkey/http leaves the type to the caller;
// sdk-server knows its own, which must be the same: the tests compare.
export const activities = {
  createUserTag: ['ACTIVITY_TYPE_CREATE_USER_TAG', 'createUserTagResult', 'createUserTagIntent'],
  updateUserTag: ['ACTIVITY_TYPE_UPDATE_USER_TAG', 'updateUserTagResult', 'updateUserTagIntent'],
  createUsers: ['ACTIVITY_TYPE_CREATE_USERS_V4', 'createUsersResult', 'createUsersIntentV4'],
  createApiKeys: ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'createApiKeysResult', 'createApiKeysIntentV2'],
  deleteApiKeys: ['ACTIVITY_TYPE_DELETE_API_KEYS', 'deleteApiKeysResult', 'deleteApiKeysIntent'],
  createPrivateKeys: ['ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', 'createPrivateKeysResultV2', 'createPrivateKeysIntentV2'],
  signRawPayload: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', 'signRawPayloadResult', 'signRawPayloadIntentV2'],
  signTransaction: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'signTransactionResult', 'signTransactionIntentV2'],
};
// Those whose newest version is the first.
for (const method of [
  'createPrivateKeyTag',
  'createWallet',
  'createWalletAccounts',
  'deletePrivateKeyTags',
  'deletePrivateKeys',
  'deleteWalletAccounts',
  'deleteWallets',
  'exportPrivateKey',
  'exportWallet',
  'exportWalletAccount',
  'importPrivateKey',
  'importWallet',
  'initImportPrivateKey',
  'initImportWallet',
  'signRawPayloads',
  'updatePrivateKeyTag',
  'updateWallet',
]) {
  const type = method.replace(/[A-Z]/g, '_$&').toUpperCase();
  activities[method] = [`ACTIVITY_TYPE_${type}`, `${method}Result`, `${method}Intent`];
}

// What every completed activity shows, in both of its views.
export function completed(activity, method, dev) {
  shape.activity(activity);
  const [type, resultKey, intentKey] = activities[method];
  assert.equal(activity.organizationId, dev.organizationId);
  assert.equal(activity.type, type);
  assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
  assert.equal(activity.failure ?? null, null);
  assert.deepEqual(Object.keys(activity.intent), [intentKey]);
  // One client takes the first result key that it knows: there is only one.
  assert.deepEqual(Object.keys(activity.result).sort(), ['activity', resultKey].sort());
  const inner = activity.result.activity;
  assert.equal(inner.type, type);
  assert.deepEqual(inner.result[resultKey], activity.result[resultKey]);
  assert.equal(Object.keys(inner.intent).length, 1);
  assert.equal(activity.votes.length, 1);
  assert.equal(activity.votes[0].selection, 'VOTE_SELECTION_APPROVED');
  assert.equal(activity.votes[0].activityId, activity.id);
  return activity.result[resultKey];
}

function upper(method) {
  return method[0].toUpperCase() + method.slice(1);
}

// Each flavour's connect(dev, key) gives:
//   submit(method, parameters)  the activity, from a call of the client
//   query(method, body)         the reply, from a call of the client
//   sign(method, content)       {url, body, stamp}: the request that the client
//                               would send, to see its bytes and its status
const http = {
  name: '@turnkey/http',
  RequestError: HttpRequestError,
  connect(dev, key) {
    const client = new TurnkeyClient({ baseUrl: dev.baseUrl }, new ApiKeyStamper(key));
    const { organizationId } = dev;
    const envelope = (method, parameters) => ({
      type: activities[method][0],
      timestampMs: String(Date.now()),
      organizationId,
      parameters,
    });
    return {
      client,
      envelope,
      async submit(method, parameters) {
        const reply = await client[method](envelope(method, parameters));
        assert.deepEqual(Object.keys(reply), ['activity']);
        return reply.activity;
      },
      query: (method, body = {}) => client[method]({ organizationId, ...body }),
      sign: (method, content = {}) =>
        client[`stamp${upper(method)}`](activities[method] ? envelope(method, content) : { organizationId, ...content }),
    };
  },
};

const sdkServer = {
  name: '@turnkey/sdk-server',
  RequestError: ServerRequestError,
  connect(dev, key) {
    const client = new Turnkey({ apiBaseUrl: dev.baseUrl, defaultOrganizationId: dev.organizationId, ...key }).apiClient();
    return {
      client,
      async submit(method, parameters) {
        const { activity, ...result } = await client[method](parameters);
        // This client lifts the result out of the activity.
        assert.deepEqual(result, activity.result[activities[method][1]]);
        assert.equal(activity.type, activities[method][0]);
        return activity;
      },
      query: (method, body = {}) => client[method](body),
      sign: (method, content = {}) => client[`stamp${upper(method)}`](content),
    };
  },
};

export const flavours = [http, sdkServer];

// send posts what sign made, byte for byte, and shows what no client does.
export async function send({ url, body, stamp }) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { [stamp.stampHeaderName]: stamp.stampHeaderValue, 'Content-Type': 'application/json' },
    body,
  });
  // Not even a charset: one published client compares for equality.
  assert.equal(reply.headers.get('content-type'), 'application/json');
  return { status: reply.status, reply: await reply.json() };
}

// The three members of an X-Stamp header.
export function readStamp({ stampHeaderName, stampHeaderValue }) {
  assert.equal(stampHeaderName, 'X-Stamp');
  return JSON.parse(Buffer.from(stampHeaderValue, 'base64url').toString());
}
