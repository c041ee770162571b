// Users and organizations to begin a scenario with.
import assert from 'node:assert/strict';

import { completed, newKey, send } from './clients.mjs';
import { shape } from './shapes.mjs';

export const apiKey = (name, key, more) => ({
  apiKeyName: name,
  publicKey: key.apiPublicKey,
  curveType: 'API_KEY_CURVE_P256',
  ...more,
});

// A user with one API key, in the form of create_users.
export const newUser = (userName, key, more) => ({
  userName,
  apiKeys: [apiKey(`${userName} key`, key)],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...more,
});

// The same in the form of create_sub_organization.
export const rootUser = (userName, key, more) => {
  const { userTags, ...user } = newUser(userName, key);
  return { ...user, ...more };
};

// run is a function that submits and returns the result of what completes.
export const runner = (client, dev) => async (method, parameters) =>
  completed(await client.submit(method, parameters), method, dev);

// createOrganization creates a sub-organization of the server's organization,
// with a root user for each name. It returns the new organization as `dev`, one
// user for each name, {key, client, userId, run, query}, and the result.
export async function createOrganization({ flavour, dev, rootKey }, subOrganizationName, names, more) {
  const keys = names.map(() => newKey());
  const root = flavour.connect(dev, rootKey);
  const result = await runner(root, dev)('createSubOrganization', {
    subOrganizationName,
    rootUsers: names.map((name, i) => rootUser(name, keys[i])),
    rootQuorumThreshold: 1,
    ...more,
  });
  assert.equal(result.rootUserIds.length, names.length);
  const child = { ...dev, organizationId: result.subOrganizationId };
  return [child, ...keys.map((key, i) => connectUser(flavour, child, key, result.rootUserIds[i])), result];
}

export function connectUser(flavour, dev, key, userId) {
  const client = flavour.connect(dev, key);
  return { key, client, userId, run: runner(client, dev), query: client.query };
}

// createUsers creates ordinary users and returns one user for each name.
export async function createUsers(flavour, dev, root, ...names) {
  const keys = names.map(() => newKey());
  const { userIds } = await root.run('createUsers', { users: names.map((name, i) => newUser(name, keys[i])) });
  return keys.map((key, i) => connectUser(flavour, dev, key, userIds[i]));
}

const statuses = { 3: 400, 16: 401, 7: 403, 5: 404, 6: 409, 8: 429 };

// refuses checks a refusal: that the client shows it, and its status.
export async function refuses(flavour, { client }, code, method, parameters, pattern = /./) {
  await assert.rejects(client.submit(method, parameters), refusal(flavour, code, pattern));
  const { status, reply } = await send(await client.sign(method, parameters));
  assert.equal(status, statuses[code], JSON.stringify(reply));
  assert.equal(shape.error(reply).code, code);
  assert.match(reply.message, pattern);
  return reply;
}

// A refusal as the client shows it, for assert.rejects.
export const refusal =
  (flavour, code, pattern = /./) =>
  (error) => {
    assert.ok(error instanceof flavour.RequestError, `${error?.stack}`);
    assert.equal(error.code, code, error.message);
    assert.ok(Array.isArray(error.details), 'details must be an array');
    assert.match(error.message, pattern);
    return true;
  };
