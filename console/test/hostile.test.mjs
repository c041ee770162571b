// Names that are markup, or that turn text around, or are as long as the server
// allows, stay text; and a server that is away is said to be, and found again.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, consoleUrl, ethereum, furnish, newPlace, picture, signIn, signTransaction, startServer, storeName, useBrowser, useServer } from './lib.mjs';

const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const turned = '\u202Egnp.exe\u202C';
const long = 'W'.repeat(256);

describe(`hostile content on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  before(async () => {
    org = await furnish(held, [markup, turned, 'Bob']);
    for (const walletName of [markup.slice(0, 200), turned, long]) await org.root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] });
    await org.root.submit('create_policy', 'CREATE_POLICY_V3', { policyName: markup + '!', effect: 'EFFECT_DENY', condition: "activity.type == '<b>x</b>'", notes: `${markup} ${'long '.repeat(400)}` });
    await org.root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: markup, userIds: [org.people.Bob.userId] });
    await signTransaction(org.people[markup], org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 1n }));
  });

  for (const [look, options] of [['wide', {}], ['phone', { viewport: { width: 360, height: 740 } }]]) {
    it(`shows it as text, ${look}`, async () => {
      const page = await browser.open(options);
      await signIn(page, held.dev, org.people.Bob.key);
      await page.getByText(`${markup} asks to`).waitFor();
      for (const [path, seen] of [['', markup], ['wallets', long], ['users', markup], ['policies', '<b>x</b>'], ['activities', markup], [`users/${org.people.Bob.userId}`, markup]]) {
        await page.goto(consoleUrl(held.dev, path));
        await page.getByText(seen).filter({ visible: true }).first().waitFor();
        const found = await page.evaluate(() => ({ images: document.querySelectorAll('img').length, scripts: document.querySelectorAll('main script').length, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth }));
        assert.deepEqual(found, { images: 0, scripts: 0, wide: 0 }, path);
        assert.match(await page.title(), /^Latchkey/);
        await accessible(page, path);
        await picture(page, `hostile-${path.split('/')[0] || 'inbox'}-${look}`);
      }
      await page.goto(consoleUrl(held.dev));
      await page.getByText('\ufffdgnp.exe\ufffd').waitFor(); // in a sentence it is shown, not obeyed
      await page.goto(consoleUrl(held.dev, 'policies'));
      await page.getByText('\ufffdgnp.exe\ufffd').waitFor(); // and in an expression that names users
      // What turns the text around does so within its own element only.
      await page.goto(consoleUrl(held.dev, 'users'));
      assert.equal(await page.getByText(turned).evaluate((e) => e.tagName), 'BDI');
      await page.context().close();
    });
  }
});

describe(`a server that is away, on ${storeName}`, () => {
  const browser = useBrowser();
  it('says that it is not reachable, and goes on when it is back', async () => {
    const place = newPlace();
    let server = await startServer(place);
    const port = new URL(server.baseUrl).port;
    const held = { dev: server.dev, rootKey: server.dev };
    const page = await browser.open();
    await signIn(page, held.dev, held.rootKey, 'wallets');
    await page.getByText('No wallet yet').waitFor();
    await server.crash();
    await page.getByRole('status').filter({ hasText: 'not reachable' }).waitFor();
    await picture(page, 'away');
    // What is written while it is away is not lost.
    await page.getByRole('button', { name: 'Create wallet' }).click();
    await page.getByLabel('Wallet name').fill('Written while away');
    await page.getByRole('dialog').getByRole('button', { name: 'Create wallet' }).click();
    server = await startServer({ ...place, args: [...place.args, '--listen', `127.0.0.1:${port}`] });
    await page.getByRole('status').filter({ hasText: 'not reachable' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Written while away' }).waitFor();
    await page.context().close();
    await server.end();
    place.remove();
  });
});
