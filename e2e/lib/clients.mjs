// The published clients, unmodified, behind the few verbs that the tests need,
// so that one scenario runs on all of them.
import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';

import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient as CoreClient, TurnkeyRequestError as CoreRequestError } from '@turnkey/core';
import { TurnkeyClient, TurnkeyRequestError as HttpRequestError } from '@turnkey/http';
import { Turnkey, TurnkeyRequestError as ServerRequestError, TurnkeyServerClient } from '@turnkey/sdk-server';

import { exchanged } from './record.mjs';
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

// The versions that the newest clients send: of the type and the intent, and of
// the result. @turnkey/http leaves the type to the caller; the others know their
// own, which must be the same: the tests compare. What is not here has one
// version.
const versions = {
  createApiKeys: ['V2', ''],
  createAuthenticators: ['V2', ''],
  createOauthProviders: ['V2', 'V2'],
  createPolicy: ['V3', ''],
  createPrivateKeys: ['V2', 'V2'],
  createReadWriteSession: ['V2', 'V2'],
  createSubOrganization: ['V8', 'V8'],
  createUsers: ['V4', ''],
  emailAuth: ['V3', ''],
  initOtp: ['V3', 'V2'],
  initOtpAuth: ['V3', 'V2'],
  initUserEmailRecovery: ['V2', ''],
  otpLogin: ['V2', ''],
  signRawPayload: ['V2', ''],
  signTransaction: ['V2', ''],
  updatePolicy: ['V2', 'V2'],
  verifyOtp: ['V2', ''],
};

// How a method is called on the wire.
export function names(method) {
  const [version, result] = versions[method] ?? ['', ''];
  const type = `ACTIVITY_TYPE_${method.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
  return {
    type: version ? `${type}_${version}` : type,
    result: `${method}Result${result}`,
    intent: `${method}Intent${version}`,
  };
}

// What every completed activity shows, in both of its views.
export function completed(activity, method, dev, votes = 1) {
  shape.activity(activity);
  const { type, result: resultKey, intent: intentKey } = names(method);
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
  assert.equal(activity.votes.length, votes);
  for (const vote of activity.votes) {
    assert.equal(vote.selection, 'VOTE_SELECTION_APPROVED');
    assert.equal(vote.activityId, activity.id);
  }
  return activity.result[resultKey];
}

function upper(method) {
  return method[0].toUpperCase() + method.slice(1);
}

// Clients that poll do not wait long for an activity that is left pending.
const activityPoller = { intervalMs: 1, numRetries: 1 };

// Each flavour's connect(dev, key) gives a client of one user in one
// organization. A key is a pair of texts, or anything with a method stamp.
//   submit(method, parameters)  the activity, from a call of the client
//   query(method, body)         the reply, from a call of the client
//   sign(method, content)       {url, body, stamp}: the request that the client
//                               would send, to see its bytes and its status
const http = {
  name: '@turnkey/http',
  RequestError: HttpRequestError,
  connect(dev, key) {
    const client = new TurnkeyClient({ baseUrl: dev.baseUrl }, key.stamp ? key : new ApiKeyStamper(key));
    const { organizationId } = dev;
    const envelope = (method, parameters, type = names(method).type) => ({
      type,
      timestampMs: String(Date.now()),
      organizationId,
      parameters,
    });
    return {
      client,
      envelope,
      async submit(method, parameters, type) {
        const request = envelope(method, parameters, type);
        const reply = await exchanged(request, () => client[method](request));
        assert.deepEqual(Object.keys(reply), ['activity']);
        return reply.activity;
      },
      query(method, body = {}) {
        const request = { organizationId, ...body };
        return exchanged(request, () => client[method](request));
      },
      sign: (method, content = {}) =>
        client[`stamp${upper(method)}`](isQuery(method) ? { organizationId, ...content } : envelope(method, content)),
    };
  },
};

// The other two lift the result out of the activity.
const lifting = (client) => ({
  client,
  async submit(method, parameters) {
    const { activity, ...result } = await client[method](parameters);
    if (method === 'approveActivity' || method === 'rejectActivity') {
      const { activity: inner, ...lifted } = activity.result;
      assert.deepEqual(result, lifted);
      return activity;
    }
    assert.deepEqual(result, activity.result[names(method).result] ?? {});
    return activity;
  },
  query: (method, body = {}) => client[method](body),
  sign: (method, content = {}) => client[`stamp${upper(method)}`](content),
});

const sdkServer = {
  name: '@turnkey/sdk-server',
  RequestError: ServerRequestError,
  connect(dev, key) {
    const config = { apiBaseUrl: dev.baseUrl, activityPoller };
    return lifting(
      key.stamp
        ? new TurnkeyServerClient({ ...config, organizationId: dev.organizationId, stamper: key })
        : new Turnkey({ ...config, defaultOrganizationId: dev.organizationId, ...key }).apiClient(),
    );
  },
};

// As it works in Node: the client that its application gets from it, with a
// stamper that is handed in. test/browser.test.mjs has the rest.
const core = {
  name: '@turnkey/core',
  RequestError: CoreRequestError,
  connect(dev, key) {
    const config = { apiBaseUrl: dev.baseUrl, organizationId: dev.organizationId, activityPoller };
    return lifting(new CoreClient(config, key.stamp ? key : new ApiKeyStamper(key)).createHttpClient());
  },
};

const isQuery = (method) => /^(get|list)/.test(method);

// Names are unique in an organization: each flavour has a label for its own.
export const flavours = [http, sdkServer, core].map((flavour) => ({
  ...flavour,
  label: flavour.name.replace(/\W+/g, ' ').trim(),
}));

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
