// Every screen, in light, dark and on a phone: it is there under its name, nothing
// that helps a screen reader is missing, and what it looks like is kept.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, addAuthenticator, consoleUrl, erc20, ethereum, furnish, picture, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';

const names = ['Inbox', 'Activities', 'Wallets', 'Private keys', 'Users', 'Policies', 'Limits', 'Sub-organizations', 'Webhooks', 'Organization', 'Audit'];

describe(`screens on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let transfer;

  before(async () => {
    org = await furnish(held, ['Ada', 'Bob', 'Cleo']);
    const { Ada } = org.people;
    await signTransaction(Ada, org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 1_500_000_000_000_000_000n }));
    await signTransaction(Ada, org.ethereum, ethereum({ nonce: 1, to: '0xdAC17F958D2ee523a2206206994597C13D831ec7', data: erc20('approve', '0x1111111254EEB25477B68fb85Ed929f73A960582', 2n ** 256n - 1n), gas: 60000 }));
    transfer = await signTransaction(Ada, org.ethereum, ethereum({ nonce: 2, to: '0xdAC17F958D2ee523a2206206994597C13D831ec7', data: erc20('transfer', org.ethereum, 2_500_000n), gas: 60000 }));
    await org.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: [{ privateKeyName: 'Deployer', curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'], privateKeyTags: [] }] });
    await org.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
      subOrganizationName: 'Customer 1', rootQuorumThreshold: 1,
      rootUsers: [{ userName: 'Dora', userEmail: 'dora@example.com', apiKeys: [{ apiKeyName: 'k', publicKey: org.people.Bob.key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }], authenticators: [], oauthProviders: [] }],
    });
  });

  for (const [look, options] of [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
  ]) {
    it(`shows every screen, ${look}`, async () => {
      const page = await browser.open(options);
      await page.goto(consoleUrl(held.dev));
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      assert.match(await page.title(), /^Latchkey/);
      await accessible(page, `sign-in, ${look}`);
      await picture(page, `signin-${look}`);
      await signIn(page, held.dev, org.people.Bob.key);
      await page.locator('li[data-activity]').nth(2).waitFor();
      await page.getByText('Unlimited approval').waitFor();
      for (const name of names) {
        if (look === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        assert.equal(await page.title(), `Latchkey (3) · ${name}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `${name} is wider than the ${look} screen`);
        await accessible(page, `${name}, ${look}`);
        await picture(page, `${name.toLowerCase().replaceAll(' ', '-')}-${look}`);
      }
      await page.goto(consoleUrl(held.dev, `activities/${transfer.id}`));
      await page.locator(`main[data-activity="${transfer.id}"]`).waitFor();
      await page.getByText('Two sign together').first().waitFor();
      await accessible(page, `activity, ${look}`);
      await picture(page, `activity-${look}`);
      await page.goto(consoleUrl(held.dev, 'policies/new?template=0'));
      await page.getByLabel('Policy name').waitFor();
      await page.getByRole('textbox', { name: 'Consensus' }).getByText('approvers').waitFor();
      await accessible(page, `editor, ${look}`);
      await picture(page, `policy-editor-${look}`);
      await page.goto(consoleUrl(held.dev, `wallets/${org.walletId}`));
      await page.getByText(org.ethereum).waitFor();
      await accessible(page, `wallet, ${look}`);
      await picture(page, `wallet-${look}`);
      await page.context().close();
    });
  }
});
