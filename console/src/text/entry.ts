// Coming in and going out.
import { shown } from './forms';

export const entry = {
  session: {
    ended: 'Your session has ended. Sign in again.',
    account: 'Account',
    signOut: 'Sign out',
    signedInAs: (name: string) => `Signed in as ${name}`,
    other: 'Other organizations',
    add: 'Add an organization',
    switchTo: (name: string) => `Switch to ${name}`,
  },

  passkey: {
    refused: (host: string) => `The passkey was not used. Either it was cancelled, or this device has no passkey for ${host}: a passkey made for another address does not work here.`,
    impossible: 'Passkeys need a page with a name and https (or localhost). Open this page by its name to use one.',
  },

  signIn: {
    title: 'Sign in',
    locked: 'The page was locked because it was not used, or your session ended. Sign in to go on where you were.',
    organization: 'Organization ID',
    organizationHint: 'A UUID. Ask an administrator of your organization for it.',
    organizationMissing: 'Enter the organization’s ID, a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057.',
    passkey: 'Sign in with a passkey',
    or: 'or',
    key: 'API private key',
    keyHint: '64 hex digits of a P-256 key, or drop a key file here. It is kept so that no script can read it, and deleted when you sign out.',
    withKey: 'Sign in with an API key',
    file: 'Choose a key file',
    fileRead: (name: string) => `Read from ${name}.`,
    notAKey: 'An API private key is 64 hex digits of the curve P-256.',
    otherCurve: (curve: string) => `This is a key of the curve ${curve}. The console signs with P-256 keys; use a passkey, or a P-256 key.`,
    badFile: 'This file holds no key. Use dev.json, a key file of latchkey keygen, or a private key of the command line client.',
    factorTitle: 'One more factor',
    factorAbout: 'A multi-factor policy asks for another credential for this sign-in. Codes by mail or SMS and logins at an issuer cannot be given here; sign in with an API key if the policy asks for one of those.',
    factorHint: '64 hex digits of a P-256 key. It is used once and not kept.',
    otherPasskey: 'Confirm with another passkey',
    withOtherKey: 'Confirm with an API key',
    moreFactors: 'This credential did not meet all that the policy asks for. Give another one.',
    codeUsed: 'The address that was opened can be used once only.',
  },

  enrol: {
    title: 'Register your passkey',
    welcome: (name: string) => `Welcome, ${shown(name)}.`,
    about: 'This link lets you in once. Register a passkey on this device now; from then on you sign in with it, and the link is void.',
    passkeyName: 'Name of the passkey',
    defaultName: 'My passkey',
    register: 'Register a passkey',
    expired: 'This link is no longer valid. It was used, or it has expired; ask for another one.',
  },
};
